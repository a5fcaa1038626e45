// Events in PostgreSQL, row by row in order of arrival, until they expire; tickets of their readers.
// Invariants:
//   - `seq` is never reused, even after the newest row expires: a reader's position in a thread stays
//     valid.
//   postgres/events.2. Rows of one thread come in `seq` order, because all writers hold the thread's lock.
import type { EventTx, StoredEvents } from "../../../ports/ports.ts";
import { EVENT_COLUMNS } from "../../shared/columns.ts";
import { threadKey } from "../client/lock-key.ts";
import { table } from "./shared/rows.ts";
import type { Sql } from "../client/transaction.ts";

const EVENTS = table<StoredEvents>("events", EVENT_COLUMNS);

export function eventVerbs(db: Sql): EventTx {
  return { ...readVerbs(db), ...writeVerbs(db) };
}

function readVerbs(db: Sql): Pick<EventTx, "events" | "newestEvents" | "eventExtent"> {
  return {
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
    async newestEvents(threadId) {
      db.follow(threadKey(threadId));
      const row = await db.get("SELECT max(seq) AS seq FROM holdpoint.events WHERE thread_id = $1", threadId);
      return Number(row?.["seq"] ?? 0);
    },
    async eventExtent(threadId, runId) {
      db.follow(threadKey(threadId));
      const row = await db.get(
        `SELECT min(first) AS first, max(last) AS last, sum(last - first + 1) AS events, sum(octet_length(lines)) AS bytes
         FROM holdpoint.events WHERE thread_id = $1 AND run_id = $2`,
        threadId,
        runId,
      );
      if (row === null || row["first"] === null) return null;
      const { first, last, events, bytes } = row;
      return { first: Number(first), last: Number(last), events: Number(events), bytes: Number(bytes) };
    },
  };
}

function writeVerbs(
  db: Sql,
): Pick<EventTx, "appendEvents" | "raiseEventSeq" | "replaceLines" | "trimEvents" | "deleteGoneEvents"> {
  return {
    appendEvents(rows) {
      for (const { threadId, runId, first, last, goneAt, storedAt, lines } of rows) {
        const place = { thread_id: threadId, run_id: runId, first };
        db.hold(threadKey(threadId)); // postgres/events.2
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
    replaceLines({ threadId, runId, first, seq }, lines) {
      const cell = db.sealing.seal("events", "lines", { thread_id: threadId, run_id: runId, first }, lines);
      db.hold(threadKey(threadId));
      db.run("UPDATE holdpoint.events SET lines = $1 WHERE seq = $2 AND thread_id = $3", cell, seq, threadId);
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
    trimEvents(threadId, runId, eventsMax, bytesMax) {
      db.run(
        `DELETE FROM holdpoint.events WHERE seq IN (
           SELECT seq FROM (
             SELECT seq, sum(last - first + 1) OVER newer AS events, sum(octet_length(lines)) OVER newer AS bytes
             FROM holdpoint.events WHERE thread_id = $1 AND run_id = $2 WINDOW newer AS (ORDER BY seq DESC)
           ) AS counted WHERE events > $3 OR bytes > $4)`,
        threadId,
        runId,
        eventsMax,
        bytesMax,
      );
    },
    deleteGoneEvents: async (at, runsMax) => {
      const rows = await db.all(
        "SELECT thread_id, run_id FROM holdpoint.events WHERE gone_at <= $1 ORDER BY gone_at LIMIT $2",
        at,
        runsMax,
      );
      for (const row of rows) {
        const sql = "DELETE FROM holdpoint.events WHERE thread_id = $1 AND run_id = $2";
        db.run(sql, String(row["thread_id"]), String(row["run_id"]));
      }
      return rows.length;
    },
  };
}
