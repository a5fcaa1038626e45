// Write run: one run change → the rows of its run, and the sums of its trace.
import { computeTraceCosts } from "@holdpoint/api/traces/trace-costs.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Database, Row } from "./database.ts";
import type { Facts } from "./facts.ts";
import { FIELDS, type Field, type RunChange } from "./run-change.ts";
import { type FieldTexts, type Share, clipped, buildShare, formatSummary } from "./run-share.ts";

export interface TraceBounds {
  readonly runsMax: number;
  readonly bytesMax: number;
}

export interface Totals {
  readonly runs: number;
  readonly bytes: number;
}

export interface WriterState {
  readonly db: Database;
  readonly bounds: TraceBounds;
  totals: Totals;
  /** Number of the newest change: traces with lower ones are older. */
  touched: number;
  /** Traces of the open transaction whose runs got another cost. */
  readonly recosted: Set<string>;
}

interface StoredRun {
  readonly main: JsonObject;
  readonly fields: FieldTexts;
  readonly share: Share;
}

/** The change of one run in its trace. */
interface RunInTrace {
  readonly traceId: string;
  readonly main: JsonObject;
  readonly errorText: string | null;
  readonly before: Share | null;
  readonly after: Share;
}

/** Share of the limits for one trace. */
const TRACE_SHARE_MAX = 0.5;
const NAME_UNITS_IN_TAGS = 500;

const PUT_RUN = `
  INSERT OR REPLACE INTO runs (run_id, trace_id, dotted_order, bytes, facts, summary, main, ${FIELDS.join(", ")})
  VALUES (?, ?, ?, ?, ?, ?, ?, ${FIELDS.map(() => "?").join(", ")})`;

const ADD_TO_TRACE = `
  INSERT INTO traces (trace_id, project, name, status, error, started, ended, latency, runs, errors, input_tokens,
         output_tokens, bytes, thread_id, touched, received_at)
       VALUES (?, ?, ?, 'incomplete', NULL, ?, ?, NULL, 1, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (trace_id) DO UPDATE SET
         started = min(started, excluded.started), ended = max(coalesce(ended, excluded.ended), excluded.ended),
         runs = runs + ?, errors = errors + excluded.errors, input_tokens = input_tokens + excluded.input_tokens,
         output_tokens = output_tokens + excluded.output_tokens,
         bytes = bytes + excluded.bytes, thread_id = coalesce(thread_id, excluded.thread_id),
         touched = excluded.touched, received_at = excluded.received_at`;

/** @returns false for a dropped run */
export function writeRun(state: WriterState, change: RunChange, now: number): boolean {
  const { db } = state;
  const { runId } = change;
  const before = readRun(db, runId);
  const main: JsonObject = { ...before?.main, ...change.main, id: runId };
  const { trace_id: traceId, dotted_order: dottedOrder } = main;
  if (typeof traceId !== "string" || typeof dottedOrder !== "string") return false; // a patch of an unknown run
  const fields = { ...before?.fields, ...change.fields }; // write.1
  const share = buildShare(main, fields, keepFiles(db, traceId, change, before !== null));
  if (before === null && isFull(state, traceId, share.bytes)) {
    db.run("DELETE FROM attachments WHERE run_id = ?", runId);
    return false;
  }
  const summary = formatSummary(main, fields, share);
  const row = [runId, traceId, dottedOrder, share.bytes, JSON.stringify(share), summary, JSON.stringify(main)] as const;
  db.run(PUT_RUN, ...row, ...FIELDS.map((field) => fields[field] ?? null));
  tagTrace(db, traceId, share.facts, main);
  if (putCost(db, { runId, traceId, dottedOrder }, before?.share.facts.cost ?? null, share.facts.cost))
    state.recosted.add(traceId);
  const errorText = fields.error ?? null;
  addToTrace(state, { traceId, main, errorText, before: before?.share ?? null, after: share }, now);
  return true;
}

/** True if a new run of this size is more than its trace may have. */
function isFull({ db, bounds }: WriterState, traceId: string, bytes: number): boolean {
  const trace = db.get("SELECT runs, bytes FROM traces WHERE trace_id = ?", traceId);
  const grown = Number(trace?.["bytes"] ?? 0) + bytes;
  return grown > bounds.bytesMax * TRACE_SHARE_MAX || Number(trace?.["runs"] ?? 0) >= bounds.runsMax;
}

/** write.2: the difference between the run's former and present share. */
function addToTrace(state: WriterState, run: RunInTrace, now: number): void {
  const { traceId, main, before, after } = run;
  const errors = Number(after.status === "error") - Number(before?.status === "error");
  const tokens = (side: "inputTokens" | "outputTokens"): number => after.facts[side] - (before?.facts[side] ?? 0);
  const bytes = after.bytes - (before?.bytes ?? 0);
  const isNew = before === null ? 1 : 0;
  const project = typeof main["session_name"] === "string" ? main["session_name"] : "default";
  const name = typeof main["name"] === "string" ? main["name"] : "";
  state.touched++;
  state.totals = { runs: state.totals.runs + isNew, bytes: state.totals.bytes + bytes };
  state.db.run(
    ADD_TO_TRACE,
    traceId,
    project,
    name,
    after.start,
    after.end,
    errors,
    tokens("inputTokens"),
    tokens("outputTokens"),
    bytes,
    after.facts.threadId,
    state.touched,
    now,
    isNew,
  );
  if (main["parent_run_id"] === undefined) nameTrace(state.db, run, project, name);
}

/** The root run gives the trace its name, its status and its times. */
function nameTrace(db: Database, { traceId, errorText, after }: RunInTrace, project: string, name: string): void {
  const latency = after.end === null ? null : Math.max(0, after.end - after.start);
  const error = errorText === null ? null : clipped(JSON.parse(errorText) as Json);
  const sql =
    "UPDATE traces SET project = ?, name = ?, status = ?, error = ?, started = ?, latency = ? WHERE trace_id = ?";
  db.run(sql, project, name, after.status, error, after.start, latency, traceId);
}

/** @returns true if the cost is another one */
function putCost(
  db: Database,
  { runId, traceId, dottedOrder }: Readonly<Record<"runId" | "traceId" | "dottedOrder", string>>,
  before: number | null,
  cost: number | null,
): boolean {
  if (cost === before) return false;
  const key = [traceId, runId] as const;
  if (cost === null) db.run("DELETE FROM costs WHERE trace_id = ? AND run_id = ?", ...key);
  else
    db.run(
      "INSERT OR REPLACE INTO costs (trace_id, run_id, dotted_order, cost) VALUES (?, ?, ?, ?)",
      ...key,
      dottedOrder,
      cost,
    );
  return true;
}

/** Sums of the traces whose runs got another cost, once a transaction: a trace may have thousands of model calls. */
export function sumCosts({ db, recosted }: WriterState): void {
  for (const traceId of recosted) {
    const rows = db.all("SELECT dotted_order, cost FROM costs WHERE trace_id = ?", traceId);
    const runs = rows.map((row) => ({ dotted_order: String(row["dotted_order"]), cost: Number(row["cost"]) }));
    db.run("UPDATE traces SET cost = ? WHERE trace_id = ?", computeTraceCosts(runs).total, traceId);
  }
  recosted.clear();
}

function readRun(db: Database, runId: string): StoredRun | null {
  const row = db.get("SELECT * FROM runs WHERE run_id = ?", runId);
  return row === null ? null : storedRun(row);
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
