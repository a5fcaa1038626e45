// Calls that were made once: idempotency keys, and tickets of sockets.
import type { IdempotencyRecord, IdempotencyTx, SocketTicket, SocketTicketTx } from "../../ports/ports.ts";
import { IDEMPOTENCY_COLUMNS, SOCKET_TICKET_COLUMNS } from "../shared/columns.ts";
import { type ColdSql, coldTable, readNumber } from "./cold-sql.ts";

export function callVerbs(sql: ColdSql): IdempotencyTx & SocketTicketTx {
  const { schema } = sql;
  const calls = coldTable<IdempotencyRecord>(sql, "idempotency", IDEMPOTENCY_COLUMNS);
  const tickets = coldTable<SocketTicket>(sql, "socket_tickets", SOCKET_TICKET_COLUMNS);
  return {
    async idempotency(key) {
      sql.hold(`call ${key}`); // of two calls with one key, the second finds the row of the first
      return calls.readOrNull(await sql.get(`${calls.select} WHERE key = ?`, key));
    },
    putIdempotency: (record) => calls.insert(record),
    deleteIdempotencyBefore: (at) => sql.run(`DELETE FROM ${schema}idempotency WHERE created_at < ?`, at),
    putSocketTicket: (ticket) => tickets.insert(ticket),
    takeSocketTicket: async (digest) => (await tickets.remove("digest = ?", digest))[0] ?? null,
    countSocketTickets(caller) {
      sql.hold(`tickets ${caller}`);
      return readNumber(sql, `SELECT count(*) AS n FROM ${schema}socket_tickets WHERE caller = ?`, caller);
    },
    deleteSocketTicketsBefore: (at) => sql.run(`DELETE FROM ${schema}socket_tickets WHERE expires_at <= ?`, at),
  };
}
