// Write: run changes → rows (ingest → write → rows). One upload is one transaction.
// Invariants:
//   write.1. A second upload of a run changes the same run: later fields replace earlier ones, in any order of arrival.
//   write.2. After every transaction a trace's sums (runs, errors, tokens, cost, bytes) are those of its runs.
//   write.3. Runs and bytes never exceed the limits: the least recently changed traces are deleted first.
import { isJsonObject, type Json, type JsonObject } from "../base/json/json.ts";
import type { Database, Row } from "./database.ts";
import { factsOf, microseconds, type Facts } from "./facts.ts";
import { FIELDS, type Field, type RunChange } from "./run-change.ts";

export interface TraceBounds {
  readonly runsMax: number;
  readonly bytesMax: number;
}

export interface Written {
  readonly stored: number;
  /** Dropped runs: of a trace too large for the store, and patches of unknown runs. */
  readonly dropped: number;
  readonly evictedTraces: number;
}

/** A run's share in its trace's sums. */
interface Share {
  readonly start: number;
  readonly end: number | null;
  readonly status: "pending" | "success" | "error";
  readonly facts: Facts;
  readonly bytes: number;
}

interface StoredRun {
  readonly main: JsonObject;
  readonly fields: Readonly<Partial<Record<Field, string>>>;
  readonly share: Share;
}

export interface TraceWriter {
  write(changes: readonly RunChange[], now: number): Written;
  /** Deletes traces without a change since `before` (milliseconds since 1970). @returns their number */
  expire(before: number): number;
  deleteTrace(traceId: string): boolean;
  readonly totals: () => { readonly runs: number; readonly bytes: number };
}

const EVICTED_AT_ONCE_MAX = 1000;
/** Share of the limits for one trace. */
const TRACE_SHARE_MAX = 0.5;
const ERROR_UNITS_IN_LISTS = 300;
const NAME_UNITS_IN_TAGS = 500;

export function createTraceWriter(db: Database, bounds: TraceBounds): TraceWriter {
  const sums = db.get(
    "SELECT coalesce(sum(runs), 0) AS runs, coalesce(sum(bytes), 0) AS bytes, coalesce(max(touched), 0) AS touched FROM traces",
  );
  let totals = { runs: Number(sums?.["runs"]), bytes: Number(sums?.["bytes"]) };
  let touched = Number(sums?.["touched"]);

  const read = (runId: string): StoredRun | null => {
    const row = db.get("SELECT * FROM runs WHERE run_id = ?", runId);
    return row === null ? null : storedRun(row);
  };

  /** @returns false for a dropped run */
  const writeRun = (change: RunChange, now: number): boolean => {
    const { runId } = change;
    const before = read(runId);
    const main: JsonObject = { ...before?.main, ...change.main, id: runId };
    const { trace_id: traceId, dotted_order: dottedOrder } = main;
    if (typeof traceId !== "string" || typeof dottedOrder !== "string") return false; // a patch of an unknown run
    const fields = { ...before?.fields, ...change.fields }; // write.1
    const files = keepFiles(db, traceId, change, before !== null);
    const share = shareOf(main, fields, files);
    const trace = db.get("SELECT runs, bytes FROM traces WHERE trace_id = ?", traceId);
    const grown = Number(trace?.["bytes"] ?? 0) + share.bytes - (before?.share.bytes ?? 0);
    const full = grown > bounds.bytesMax * TRACE_SHARE_MAX || Number(trace?.["runs"] ?? 0) >= bounds.runsMax;
    if (full && before === null) {
      db.run("DELETE FROM attachments WHERE run_id = ?", runId);
      return false;
    }
    db.run(
      `INSERT OR REPLACE INTO runs (run_id, trace_id, dotted_order, bytes, facts, summary, main, ${FIELDS.join(", ")})
       VALUES (?, ?, ?, ?, ?, ?, ?, ${FIELDS.map(() => "?").join(", ")})`,
      runId,
      traceId,
      dottedOrder,
      share.bytes,
      JSON.stringify(share),
      summaryOf(main, fields, share),
      JSON.stringify(main),
      ...FIELDS.map((field) => fields[field] ?? null),
    );
    tagTrace(db, traceId, share.facts, main);
    addToTrace(traceId, main, fields.error ?? null, before?.share ?? null, share, now);
    return true;
  };

  /** write.2: the difference between the run's former and present share. */
  const addToTrace = (
    traceId: string,
    main: JsonObject,
    errorText: string | null,
    before: Share | null,
    after: Share,
    now: number,
  ): void => {
    const root = main["parent_run_id"] === undefined;
    const errors = Number(after.status === "error") - Number(before?.status === "error");
    const tokens = (side: "inputTokens" | "outputTokens"): number => after.facts[side] - (before?.facts[side] ?? 0);
    const cost = after.facts.cost === null ? null : after.facts.cost - (before?.facts.cost ?? 0);
    const bytes = after.bytes - (before?.bytes ?? 0);
    const project = typeof main["session_name"] === "string" ? main["session_name"] : "default";
    const name = typeof main["name"] === "string" ? main["name"] : "";
    touched++;
    totals = { runs: totals.runs + (before === null ? 1 : 0), bytes: totals.bytes + bytes };
    db.run(
      `INSERT INTO traces (trace_id, project, name, status, error, started, ended, latency, runs, errors, input_tokens,
         output_tokens, cost, bytes, thread_id, touched, received_at)
       VALUES (?1, ?2, ?3, 'incomplete', NULL, ?4, ?5, NULL, 1, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
       ON CONFLICT (trace_id) DO UPDATE SET
         started = min(started, excluded.started), ended = max(coalesce(ended, excluded.ended), excluded.ended),
         runs = runs + ?14, errors = errors + excluded.errors, input_tokens = input_tokens + excluded.input_tokens,
         output_tokens = output_tokens + excluded.output_tokens,
         cost = CASE WHEN excluded.cost IS NULL THEN cost ELSE coalesce(cost, 0) + excluded.cost END,
         bytes = bytes + excluded.bytes, thread_id = coalesce(thread_id, excluded.thread_id),
         touched = excluded.touched, received_at = excluded.received_at`,
      traceId,
      project,
      name,
      after.start,
      after.end,
      errors,
      tokens("inputTokens"),
      tokens("outputTokens"),
      cost,
      bytes,
      after.facts.threadId,
      touched,
      now,
      before === null ? 1 : 0,
    );
    if (!root) return;
    const latency = after.end === null ? null : Math.max(0, after.end - after.start);
    const error = errorText === null ? null : clipped(JSON.parse(errorText) as Json);
    const sql =
      "UPDATE traces SET project = ?, name = ?, status = ?, error = ?, started = ?, latency = ? WHERE trace_id = ?";
    db.run(sql, project, name, after.status, error, after.start, latency, traceId);
  };

  const remove = (traceIds: readonly string[]): void => {
    const ids = JSON.stringify(traceIds);
    const gone = db.get(
      "SELECT sum(runs) AS runs, sum(bytes) AS bytes FROM traces WHERE trace_id IN (SELECT value FROM json_each(?))",
      ids,
    );
    for (const name of ["runs", "attachments", "tags", "traces"])
      db.run(`DELETE FROM ${name} WHERE trace_id IN (SELECT value FROM json_each(?))`, ids);
    totals = { runs: totals.runs - Number(gone?.["runs"]), bytes: totals.bytes - Number(gone?.["bytes"]) };
  };

  const evict = (): number => {
    let evicted = 0;
    while (totals.runs > bounds.runsMax || totals.bytes > bounds.bytesMax) {
      const oldest = db.get("SELECT trace_id FROM traces ORDER BY touched LIMIT 1")?.["trace_id"];
      if (typeof oldest !== "string") break;
      remove([oldest]); // write.3
      evicted++;
    }
    return evicted;
  };

  /** Restores the counters if the transaction fails. */
  const counted = <T>(work: () => T): T => {
    const before = totals;
    try {
      return db.transaction(work);
    } catch (error) {
      totals = before;
      throw error;
    }
  };

  return {
    totals: () => totals,
    write: (changes, now) =>
      counted(() => {
        const stored = changes.filter((change) => writeRun(change, now)).length;
        return { stored, dropped: changes.length - stored, evictedTraces: evict() };
      }),
    expire: (before) =>
      counted(() => {
        const sql = "SELECT trace_id FROM traces WHERE received_at < ? ORDER BY received_at LIMIT ?";
        const ids = db.all(sql, before, EVICTED_AT_ONCE_MAX).map((row) => String(row["trace_id"]));
        if (ids.length > 0) remove(ids);
        return ids.length;
      }),
    deleteTrace: (traceId) =>
      counted(() => {
        const known = db.get("SELECT 1 FROM traces WHERE trace_id = ?", traceId) !== null;
        if (known) remove([traceId]);
        return known;
      }),
  };
}

function storedRun(row: Row): StoredRun {
  const fields: Partial<Record<Field, string>> = {};
  for (const field of FIELDS) {
    const value = row[field];
    if (typeof value === "string") fields[field] = value;
  }
  return {
    main: JSON.parse(String(row["main"])) as JsonObject,
    share: JSON.parse(String(row["facts"])) as Share,
    fields,
  };
}

/** @returns the bytes of all files of the run */
function keepFiles(db: Database, traceId: string, { runId, attachments }: RunChange, known: boolean): number {
  for (const { name, type, bytes } of attachments) {
    const sql = "INSERT OR REPLACE INTO attachments (run_id, trace_id, name, type, bytes) VALUES (?, ?, ?, ?, ?)";
    db.run(sql, runId, traceId, name, type, bytes);
  }
  if (attachments.length === 0 && !known) return 0;
  return Number(db.get("SELECT total(length(bytes)) AS n FROM attachments WHERE run_id = ?", runId)?.["n"]);
}

function shareOf(main: JsonObject, fields: Readonly<Partial<Record<Field, string>>>, files: number): Share {
  const value = (field: Field): Json | undefined =>
    fields[field] === undefined ? undefined : (JSON.parse(fields[field]) as Json);
  const texts = Object.values(fields).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const end = microseconds(main["end_time"]);
  const failed = main["status"] === "error" || (fields.error !== undefined && fields.error !== '""');
  return {
    start: microseconds(main["start_time"]) ?? 0,
    end,
    status: failed ? "error" : end === null ? "pending" : "success",
    facts: factsOf(value("extra"), value("outputs"), value("events")),
    bytes: Buffer.byteLength(JSON.stringify(main)) + texts + files,
  };
}

/** The run for trees and lists: all but its large fields. */
function summaryOf(main: JsonObject, fields: Readonly<Partial<Record<Field, string>>>, share: Share): string {
  const { model, inputTokens, outputTokens, cost, firstTokenAt } = share.facts;
  return JSON.stringify({
    ...main,
    status: share.status,
    ...(fields.error === undefined ? {} : { error: clipped(JSON.parse(fields.error) as Json) }),
    start_us: share.start,
    end_us: share.end,
    ...(model === null ? {} : { model }),
    ...(inputTokens + outputTokens === 0 ? {} : { input_tokens: inputTokens, output_tokens: outputTokens }),
    ...(cost === null ? {} : { cost }),
    ...(firstTokenAt === null ? {} : { first_token_us: firstTokenAt }),
  });
}

function clipped(error: Json): string {
  return (typeof error === "string" ? error : JSON.stringify(error)).slice(0, ERROR_UNITS_IN_LISTS);
}

function tagTrace(db: Database, traceId: string, facts: Facts, main: JsonObject): void {
  const add = (kind: string, key: string, value: string): void => {
    db.run("INSERT OR IGNORE INTO tags (trace_id, kind, key, value) VALUES (?, ?, ?, ?)", traceId, kind, key, value);
  };
  if (facts.model !== null) add("model", "", facts.model);
  if (main["run_type"] === "tool" && typeof main["name"] === "string")
    add("tool", "", main["name"].slice(0, NAME_UNITS_IN_TAGS));
  for (const [key, value] of facts.metadata) add("metadata", key, value);
  const { tags } = main;
  if (Array.isArray(tags)) for (const tag of tags) if (!isJsonObject(tag)) add("tag", "", String(tag));
}
