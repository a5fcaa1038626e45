// Write: run changes → rows (ingest → write → rows). One upload is one transaction.
// The pieces:
//   merged-run.ts a change on top of the stored run
//   story.ts      status, times and result of a whole trace
//   run-share.ts  the part of a run that its trace sums up
//   write-run.ts  one run change as rows
//   write.ts      one upload as a transaction, and the deletion of old traces
// Invariants:
//   write.1. A second upload of a run changes the same run: later fields replace earlier ones, in any order of arrival.
//   write.2. After every transaction a trace's sums (runs, errors, tokens, bytes, and the cost as in trace-costs.ts) are
//        those of its runs.
//   write.3. Runs and bytes never exceed the limits: the least recently changed traces are deleted first.
//   write.4. The sums of the whole store are stored with every change, so that no start counts traces.
import type { Database } from "./database.ts";
import type { RunChange } from "./run-change.ts";
import { type Totals, type TraceBounds, type WriterState, finishTraces, writeRun } from "./write-run.ts";

export interface Written {
  readonly stored: number;
  /** Dropped runs: of a trace too large for the store, and patches of unknown runs. */
  readonly dropped: number;
  readonly evictedTraces: number;
}

export interface TraceWriter {
  write(changes: readonly RunChange[], now: number): Written;
  /** Deletes traces without a change since `before` (milliseconds since 1970). @returns their number */
  expire(before: number): number;
  deleteTrace(traceId: string): boolean;
  readonly totals: () => Totals;
}

const EVICTED_AT_ONCE_MAX = 1000;

/** @param of how the store keeps contents */
export function createTraceWriter(
  db: Database,
  bounds: TraceBounds,
  of: Pick<WriterState, "cells" | "isSearched">,
): TraceWriter {
  const sums = db.get("SELECT runs, bytes FROM totals"); // write.4
  const totals: Totals = { runs: Number(sums?.["runs"]), bytes: Number(sums?.["bytes"]) };
  const touched = Number(db.get("SELECT coalesce(max(touched), 0) AS touched FROM traces")?.["touched"]);
  const state: WriterState = { ...of, db, bounds, totals, touched, changed: new Map() };
  return {
    totals: () => state.totals,
    write: (changes, now) =>
      counted(state, () => {
        const stored = changes.filter((change) => writeRun(state, change, now)).length;
        finishTraces(state);
        return { stored, dropped: changes.length - stored, evictedTraces: evict(state) };
      }),
    expire: (before) =>
      counted(state, () => {
        const sql = "SELECT trace_id FROM traces WHERE received_at < ? ORDER BY received_at LIMIT ?";
        const ids = db.all(sql, before, EVICTED_AT_ONCE_MAX).map((row) => String(row["trace_id"]));
        if (ids.length > 0) remove(state, ids);
        return ids.length;
      }),
    deleteTrace: (traceId) =>
      counted(state, () => {
        const known = db.get("SELECT 1 FROM traces WHERE trace_id = ?", traceId) !== null;
        if (known) remove(state, [traceId]);
        return known;
      }),
  };
}

/** Restores the counters if the transaction fails. */
function counted<T>(state: WriterState, work: () => T): T {
  const before = state.totals;
  try {
    return state.db.transaction(() => {
      const result = work();
      const { runs, bytes } = state.totals;
      if (state.totals !== before) state.db.run("UPDATE totals SET runs = ?, bytes = ?", runs, bytes);
      return result;
    });
  } catch (error) {
    state.totals = before;
    state.changed.clear();
    throw error;
  }
}

function evict(state: WriterState): number {
  const { db, bounds } = state;
  let evicted = 0;
  while (state.totals.runs > bounds.runsMax || state.totals.bytes > bounds.bytesMax) {
    const oldest = db.get("SELECT trace_id FROM traces ORDER BY touched LIMIT 1")?.["trace_id"];
    if (typeof oldest !== "string") break;
    remove(state, [oldest]); // write.3
    evicted++;
  }
  return evicted;
}

function remove(state: WriterState, traceIds: readonly string[]): void {
  const { db, totals } = state;
  const ids = JSON.stringify(traceIds);
  const gone = db.get(
    "SELECT sum(runs) AS runs, sum(bytes) AS bytes FROM traces WHERE trace_id IN (SELECT value FROM json_each(?))",
    ids,
  );
  db.run(
    "DELETE FROM words_index WHERE rowid IN (SELECT doc FROM words WHERE trace_id IN (SELECT value FROM json_each(?)))",
    ids,
  );
  for (const name of ["words", "runs", "attachments", "costs", "tags", "traces"])
    db.run(`DELETE FROM ${name} WHERE trace_id IN (SELECT value FROM json_each(?))`, ids);
  state.totals = { runs: totals.runs - Number(gone?.["runs"]), bytes: totals.bytes - Number(gone?.["bytes"]) };
}
