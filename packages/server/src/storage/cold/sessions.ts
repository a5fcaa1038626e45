// Sessions of browsers.
import type { Session } from "../../model/model.ts";
import type { SessionTx } from "../../ports/ports.ts";
import { SESSION_COLUMNS } from "../shared/columns.ts";
import { type ColdSql, coldTable } from "./cold-sql.ts";

export function sessionVerbs(sql: ColdSql): SessionTx {
  const { schema } = sql;
  const sessions = coldTable<Session>(sql, "sessions", SESSION_COLUMNS);
  const remove = (where: string, ...values: readonly (string | number)[]) =>
    sql.count(`DELETE FROM ${schema}sessions WHERE ${where}`, ...values);
  return {
    insertSession: (session) => sessions.insert(session),
    sessionByToken: async (hash) =>
      sessions.readOrNull(await sql.get(`${sessions.select} WHERE token_hash = ?`, hash)) ??
      sessions.readOrNull(await sql.get(`${sessions.select} WHERE previous_hash = ?`, hash)),
    async rotateSession({ sessionId, from, to, sealedIdToken, at }) {
      const rotated = await sql.count(
        `UPDATE ${schema}sessions SET previous_hash = token_hash, token_hash = ?, id_token = ?, previous_until = NULL,
           rotated_at = ?
         WHERE session_id = ? AND token_hash = ?`,
        to,
        sealedIdToken,
        at,
        sessionId,
        from,
      );
      return rotated === 1;
    },
    limitPrevious(sessionId, until) {
      const open = "WHERE session_id = ? AND previous_until IS NULL";
      sql.run(`UPDATE ${schema}sessions SET previous_until = ? ${open}`, until, sessionId);
    },
    markSessionUsed(sessionId, at) {
      const later = "WHERE session_id = ? AND used_at < ?";
      sql.run(`UPDATE ${schema}sessions SET used_at = ? ${later}`, at, sessionId, at);
    },
    deleteSession: async (sessionId) => (await remove("session_id = ?", sessionId)) === 1,
    deletePersonSessions: (person, providerSession) =>
      providerSession === null
        ? remove("person = ?", person)
        : remove("person = ? AND provider_session = ?", person, providerSession),
    deleteSessionsAt: async (providerSession) =>
      (await sessions.remove("provider_session = ?", providerSession)).map(({ person }) => person),
    deleteOldSessions: (now, usedBefore) => remove("expires_at < ? OR used_at < ?", now, usedBefore),
  };
}
