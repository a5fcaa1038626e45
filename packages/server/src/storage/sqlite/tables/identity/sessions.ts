// Sessions in SQLite.
import type { Session } from "../../../../model/model.ts";
import type { SessionTx } from "../../../../ports/ports.ts";
import { SESSION_COLUMNS } from "../../../shared/columns.ts";
import type { Database } from "../../client/database.ts";
import { table } from "../shared/rows.ts";

const SESSIONS = table<Session>("sessions", SESSION_COLUMNS);

export function sessionVerbs(db: Database): SessionTx {
  return {
    insertSession: (session) => void SESSIONS.insert(db, [session]),
    sessionByToken(hash) {
      const row =
        db.get(`SELECT ${SESSIONS.columns} FROM sessions WHERE token_hash = ?`, hash) ??
        db.get(`SELECT ${SESSIONS.columns} FROM sessions WHERE previous_hash = ?`, hash);
      return row === null ? null : SESSIONS.read(row);
    },
    rotateSession: ({ sessionId, from, to, sealedIdToken, at }) =>
      db.run(
        `UPDATE sessions SET previous_hash = token_hash, token_hash = ?, id_token = ?, previous_until = NULL,
           rotated_at = ?
         WHERE session_id = ? AND token_hash = ?`,
        to,
        sealedIdToken,
        at,
        sessionId,
        from,
      ) === 1,
    limitPrevious(sessionId, until) {
      db.run(
        "UPDATE sessions SET previous_until = ? WHERE session_id = ? AND previous_until IS NULL",
        until,
        sessionId,
      );
    },
    markSessionUsed(sessionId, at) {
      db.run("UPDATE sessions SET used_at = max(used_at, ?) WHERE session_id = ?", at, sessionId);
    },
    deleteSession: (sessionId) => db.run("DELETE FROM sessions WHERE session_id = ?", sessionId) === 1,
    deleteSessionsOf: (person, providerSession) =>
      providerSession === null
        ? db.run("DELETE FROM sessions WHERE person = ?", person)
        : db.run("DELETE FROM sessions WHERE person = ? AND provider_session = ?", person, providerSession),
    deleteSessionsAt: (providerSession) =>
      db
        .all("DELETE FROM sessions WHERE provider_session = ? RETURNING person", providerSession)
        .map(({ person }) => person as string),
    deleteOldSessions: (now, usedBefore) =>
      db.run("DELETE FROM sessions WHERE expires_at < ? OR used_at < ?", now, usedBefore),
  };
}
