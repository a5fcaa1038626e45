// Sessions in PostgreSQL.
import type { Session } from "../../../../model/model.ts";
import type { SessionTx } from "../../../../ports/ports.ts";
import { SESSION_COLUMNS } from "../../../shared/columns.ts";
import type { Sql } from "../../client/transaction.ts";
import { table } from "../shared/rows.ts";

const SESSIONS = table<Session>("sessions", SESSION_COLUMNS);

export function sessionVerbs(db: Sql): SessionTx {
  return {
    insertSession: (session) => SESSIONS.insert(db, [session]),
    async sessionByToken(hash) {
      const row = await db.get(
        `SELECT ${SESSIONS.columns} FROM holdpoint.sessions WHERE token_hash = $1 OR previous_hash = $1
         ORDER BY token_hash = $1 DESC LIMIT 1`,
        hash,
      );
      return row === null ? null : SESSIONS.read(row);
    },
    rotateSession: async ({ sessionId, from, to, sealedIdToken, at }) =>
      (await db.count(
        `UPDATE holdpoint.sessions
         SET previous_hash = token_hash, token_hash = $1, previous_until = NULL, rotated_at = $2, id_token = $5
         WHERE session_id = $3 AND token_hash = $4`,
        to,
        at,
        sessionId,
        from,
        sealedIdToken,
      )) === 1,
    limitPrevious(sessionId, until) {
      const sql = "UPDATE holdpoint.sessions SET previous_until = $1 WHERE session_id = $2 AND previous_until IS NULL";
      db.run(sql, until, sessionId);
    },
    markSessionUsed(sessionId, at) {
      db.run("UPDATE holdpoint.sessions SET used_at = greatest(used_at, $1) WHERE session_id = $2", at, sessionId);
    },
    deleteSession: async (sessionId) =>
      (await db.count("DELETE FROM holdpoint.sessions WHERE session_id = $1", sessionId)) === 1,
    deleteSessionsOf: async (person, providerSession) =>
      db.count(
        `DELETE FROM holdpoint.sessions WHERE person = $1 AND ($2::text IS NULL OR provider_session = $2)`,
        person,
        providerSession,
      ),
    async deleteSessionsAt(providerSession) {
      const sql = "DELETE FROM holdpoint.sessions WHERE provider_session = $1 RETURNING person";
      return (await db.all(sql, providerSession)).map(({ person }) => person as string);
    },
    deleteOldSessions: async (now, usedBefore) =>
      db.count("DELETE FROM holdpoint.sessions WHERE expires_at < $1 OR used_at < $2", now, usedBefore),
  };
}
