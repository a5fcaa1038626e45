// Events in SQLite, row by row in order of arrival, until they expire; tickets of their readers.
// Invariants:
//   sqlite/events.1. `seq` is never reused, even after the newest row expires: a reader's position in a thread stays
//        valid.
//   - `lines` is the last column, so a search for a position does not read it.
import type { EventTx, StoredEvents } from "../../../ports/ports.ts";
import { EVENT_COLUMNS } from "../../shared/columns.ts";
import type { Database } from "../client/database.ts";
import { createEventSeqs } from "./event-seqs.ts";
import { table } from "./shared/rows.ts";

const EVENTS = table<StoredEvents>("events", EVENT_COLUMNS);

export function eventVerbs(db: Database): EventTx {
  const ofRun = "thread_id = ? AND run_id = ?";
  const seqs = createEventSeqs(db);
  return {
    appendEvents(rows) {
      EVENTS.insert(
        db,
        rows.map((row) => ({ ...row, seq: seqs.take() })), // sqlite/events.1
      );
    },
    events(threadId, query) {
      const select = (columns: string, limit: number): ReturnType<Database["all"]> =>
        db.all(
          `SELECT ${columns} FROM events WHERE thread_id = ? AND seq > ? AND (? IS NULL OR run_id = ?) AND last >= ?
           ORDER BY seq LIMIT ?`,
          threadId,
          query.afterSeq,
          query.runId,
          query.runId,
          query.fromId,
          limit,
        );
      const { limit, bytesMax } = query;
      const count =
        bytesMax === undefined ? limit : pageLength(select("octet_length(lines) AS bytes", limit), bytesMax);
      return select(EVENTS.columns, count).map((row) => EVENTS.read(db, row));
    },
    newestEvents: (threadId) =>
      Number(db.get("SELECT max(seq) AS seq FROM events WHERE thread_id = ?", threadId)?.["seq"] ?? 0),
    eventExtent(threadId, runId) {
      const row = db.get(
        `SELECT min(first) AS first, max(last) AS last, sum(last - first + 1) AS events, sum(octet_length(lines)) AS bytes
         FROM events WHERE ${ofRun}`,
        threadId,
        runId,
      );
      if (row === null || row["first"] === null) return null;
      const { first, last, events, bytes } = row;
      return { first: Number(first), last: Number(last), events: Number(events), bytes: Number(bytes) };
    },
    replaceLines({ threadId, runId, first, seq }, lines) {
      const cell = db.sealing.seal("events", "lines", { thread_id: threadId, run_id: runId, first }, lines);
      db.run("UPDATE events SET lines = ? WHERE seq = ? AND thread_id = ?", cell, seq, threadId);
    },
    raiseEventSeq: (least) => seqs.raise(least),
    trimEvents(threadId, runId, eventsMax, bytesMax) {
      db.run(
        `DELETE FROM events WHERE seq IN (
           SELECT seq FROM (
             SELECT seq, sum(last - first + 1) OVER newer AS events, sum(octet_length(lines)) OVER newer AS bytes
             FROM events WHERE ${ofRun} WINDOW newer AS (ORDER BY seq DESC)
           ) WHERE events > ? OR bytes > ?)`,
        threadId,
        runId,
        eventsMax,
        bytesMax,
      );
    },
    deleteGoneEvents(at, runsMax) {
      const runs = db.all("SELECT thread_id, run_id FROM events WHERE gone_at <= ? LIMIT ?", at, runsMax);
      for (const run of runs)
        db.run(`DELETE FROM events WHERE ${ofRun}`, String(run["thread_id"]), String(run["run_id"]));
      return runs.length;
    },
  };
}

/** The number of rows up to the one that reaches the size. */
function pageLength(rows: ReturnType<Database["all"]>, bytesMax: number): number {
  let bytes = 0;
  const last = rows.findIndex((row) => (bytes += Number(row["bytes"])) >= bytesMax);
  return last < 0 ? rows.length : last + 1;
}
