// Stored events of a run and of a thread: their extent, their replacement by an erasure, and what goes by number, size
// or age. Appending and reading them stands in events.ts of each database.
import type { EventTx } from "../../ports/ports.ts";
import { type ColdSql, readNumber } from "./cold-sql.ts";

export type StoredEventVerbs = Pick<
  EventTx,
  "newestEvents" | "eventExtent" | "replaceLines" | "trimEvents" | "deleteGoneEvents"
>;

export function storedEventVerbs(sql: ColdSql): StoredEventVerbs {
  const table = `${sql.schema}events`;
  const ofRun = `FROM ${table} WHERE thread_id = ? AND run_id = ?`;
  return {
    newestEvents(threadId) {
      sql.followThread(threadId);
      return readNumber(sql, `SELECT max(seq) AS n FROM ${table} WHERE thread_id = ?`, threadId);
    },
    async eventExtent(threadId, runId) {
      sql.followThread(threadId);
      const row = await sql.get(
        `SELECT min(first) AS first, max(last) AS last, sum(last - first + 1) AS events,
           sum(octet_length(lines)) AS bytes ${ofRun}`,
        threadId,
        runId,
      );
      if (row === null || row["first"] === null) return null;
      const { first, last, events, bytes } = row;
      return { first: Number(first), last: Number(last), events: Number(events), bytes: Number(bytes) };
    },
    replaceLines({ threadId, runId, first, seq }, lines) {
      const cell = sql.sealing.seal("events", "lines", { thread_id: threadId, run_id: runId, first }, lines);
      sql.holdThread(threadId);
      sql.run(`UPDATE ${table} SET lines = ? WHERE seq = ? AND thread_id = ?`, cell, seq, threadId);
    },
    trimEvents(threadId, runId, eventsMax, bytesMax) {
      sql.run(
        `DELETE FROM ${table} WHERE seq IN (
           SELECT seq FROM (
             SELECT seq, sum(last - first + 1) OVER newer AS events, sum(octet_length(lines)) OVER newer AS bytes
             ${ofRun} WINDOW newer AS (ORDER BY seq DESC)
           ) AS counted WHERE events > ? OR bytes > ?)`,
        threadId,
        runId,
        eventsMax,
        bytesMax,
      );
    },
    async deleteGoneEvents(at, runsMax) {
      const gone = `SELECT thread_id, run_id FROM ${table} WHERE gone_at <= ? ORDER BY gone_at LIMIT ?`;
      const runs = await sql.all(gone, at, runsMax);
      for (const run of runs) sql.run(`DELETE ${ofRun}`, String(run["thread_id"]), String(run["run_id"]));
      return runs.length;
    },
  };
}
