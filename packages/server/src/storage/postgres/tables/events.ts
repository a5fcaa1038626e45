// Events in PostgreSQL, row by row in order of arrival, until they expire; tickets of their readers.
// Invariants:
//   - `seq` is never reused, even after the newest row expires: a reader's position in a thread stays valid.
//   - Rows of one thread come in `seq` order, because all writers hold the thread's lock.
import type { EventTx, StoredEvents } from "../../../ports/ports.ts";
import { storedEventVerbs } from "../../cold/stored-events.ts";
import { EVENT_COLUMNS } from "../../shared/columns.ts";
import { createColdSql } from "../client/cold-sql.ts";
import { threadKey } from "../client/lock-key.ts";
import { table } from "./shared/rows.ts";
import type { Sql } from "../client/transaction.ts";

const EVENTS = table<StoredEvents>("events", EVENT_COLUMNS);

export function eventVerbs(db: Sql): EventTx {
  return {
    ...storedEventVerbs(createColdSql(db)),
    async events(threadId, { runId, afterSeq, fromId, limit, bytesMax }) {
      db.follow(threadKey(threadId));
      const ofRun = runId === null ? "" : "AND run_id = $5";
      const found = `FROM holdpoint.events WHERE thread_id = $1 AND seq > $2 AND last >= $3 ${ofRun} ORDER BY seq LIMIT $4`;
      const given = [threadId, afterSeq, fromId, limit, ...(runId === null ? [] : [runId])] as const;
      const before = "sum(octet_length(lines)) OVER (ORDER BY seq) - octet_length(lines) AS bytes_before";
      const rows = await (bytesMax === undefined
        ? db.all(`SELECT ${EVENTS.columns} ${found}`, ...given)
        : db.all(
            `SELECT ${EVENTS.columns} FROM (SELECT ${EVENTS.columns}, ${before} ${found}) AS page
             WHERE bytes_before < $${given.length + 1} ORDER BY seq`,
            ...given,
            bytesMax,
          ));
      return rows.map((row) => EVENTS.read(db, row));
    },
    appendEvents(rows) {
      for (const { threadId, runId, first, last, goneAt, storedAt, lines } of rows) {
        const place = { thread_id: threadId, run_id: runId, first };
        db.hold(threadKey(threadId));
        db.run(
          `INSERT INTO holdpoint.events (thread_id, run_id, first, last, gone_at, stored_at, lines)
           VALUES ($1, $2, $3, $4, $5, $6, $7)`,
          threadId,
          runId,
          first,
          last,
          goneAt,
          storedAt,
          db.sealing.seal("events", "lines", place, lines),
        );
      }
    },
    raiseEventSeq(least) {
      // Without the lock, another process could take numbers between the look and setval, and setval would reissue them.
      db.run(
        `DO $$ BEGIN
           LOCK TABLE holdpoint.events IN SHARE ROW EXCLUSIVE MODE;
           PERFORM setval('holdpoint.event_seq', ${Math.trunc(least)})
             FROM holdpoint.event_seq WHERE last_value < ${Math.trunc(least)};
         END $$`,
      );
    },
  };
}
