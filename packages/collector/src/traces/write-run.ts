// Write run: one run change → the rows of its run, and the sums of its trace; then what the runs of a trace say of the
// whole.
import type { WordBag } from "@holdpoint/api/text/search-words.ts";
import { computeTraceCosts } from "@holdpoint/api/traces/trace-costs.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Database } from "./database.ts";
import { OUTPUT_SIZE } from "./final-output.ts";
import {
  addWords,
  hashTag,
  isAgentSpan,
  listTags,
  mergeRun,
  placeRun,
  readNames,
  toStoredRun,
  toStoryRun,
  type MergedRun,
  type PlacedRun,
  type StoredRun,
  type Tag,
} from "./merged-run.ts";
import { formatPreview } from "./preview.ts";
import { FIELDS, type RunChange } from "./run-change.ts";
import { clipped, type Share } from "./run-share.ts";
import { HEAD_BYTES, readFileSizes, readIfOpened, readOpened, type SealedCells } from "./sealed-cells.ts";
import { tellStory, type StoryRun } from "./story.ts";

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
  readonly cells: SealedCells;
  /** It keeps the words of traces. */
  readonly isSearched: boolean;
  readonly bounds: TraceBounds;
  totals: Totals;
  /** Number of the newest change: traces with lower ones are older. */
  touched: number;
  /** Traces of the open transaction. */
  readonly changed: Map<string, ChangedTrace>;
}

interface ChangedTrace {
  /** Some of its runs got another cost. */
  isRecosted: boolean;
  /** Its story may be another one. */
  isRetold: boolean;
  readonly words: WordBag;
}

/** Share of the limits for one trace. */
const TRACE_SHARE_MAX = 0.5;

const PUT_RUN = `
  INSERT OR REPLACE INTO runs (run_id, trace_id, dotted_order, bytes, facts, summary, main, type, ${FIELDS.join(", ")})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${FIELDS.map(() => "?").join(", ")})`;

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
  const { db, cells } = state;
  const stored = readIfOpened(() => ({ run: readRun(state, change.runId) }));
  if (stored === null) return false; // sealed-cells.2
  const before = stored.run;
  const placed = placeRun(before, change);
  if (placed === null) return false;
  const run = mergeRun(placed, before, change, keepFiles(state, placed.traceId, change, before !== null));
  if (before === null && isFull(state, run.traceId, run.share.bytes)) {
    db.run("DELETE FROM attachments WHERE run_id = ?", run.runId);
    return false;
  }
  const { runId, traceId, dottedOrder, share, summary, main, fields } = run;
  const seal = <T extends string | null>(column: string, cell: T): T =>
    cells.seal("runs", column, [runId, traceId], cell);
  const row = [runId, traceId, dottedOrder, share.bytes, seal("facts", JSON.stringify(share))] as const;
  const type = typeof main["run_type"] === "string" ? main["run_type"] : null;
  const rest = [seal("summary", summary), seal("main", JSON.stringify(main)), type] as const;
  db.run(PUT_RUN, ...row, ...rest, ...FIELDS.map((field) => seal(field, fields[field] ?? null)));
  for (const tag of listTags(run))
    db.run(
      "INSERT OR IGNORE INTO tags (trace_id, kind, key, value) VALUES (?, ?, ?, ?)",
      traceId,
      ...storeTag(cells, tag),
    );
  addToTrace(state, run, before?.share ?? null, now);
  const known = state.changed.get(traceId);
  const isRoot = main["parent_run_id"] === undefined;
  state.changed.set(traceId, {
    isRecosted: putCost(db, run, before?.share.facts.cost ?? null, share.facts.cost) || known?.isRecosted === true,
    isRetold: isRoot || isAgentSpan(share) || known?.isRetold === true,
    words: addWords(known?.words, change),
  });
  return true;
}

/** What senders write is stored as its hash where cells are sealed; names of models and tools are plain. */
function storeTag({ ring }: SealedCells, tag: Tag): Tag {
  const [kind] = tag;
  return ring === null || kind === "model" || kind === "tool" ? tag : [kind, "", hashTag(tag)];
}

/** True if a new run of this size is more than its trace may have. */
function isFull({ db, bounds }: WriterState, traceId: string, bytes: number): boolean {
  const trace = db.get("SELECT runs, bytes FROM traces WHERE trace_id = ?", traceId);
  const grown = Number(trace?.["bytes"] ?? 0) + bytes;
  return grown > bounds.bytesMax * TRACE_SHARE_MAX || Number(trace?.["runs"] ?? 0) >= bounds.runsMax;
}

/** write.2: the difference between the run's former and present share. */
function addToTrace(state: WriterState, run: MergedRun, before: Share | null, now: number): void {
  const { traceId, main, share: after } = run;
  const errors = Number(after.status === "error") - Number(before?.status === "error");
  const tokens = (side: "inputTokens" | "outputTokens"): number => after.facts[side] - (before?.facts[side] ?? 0);
  const bytes = after.bytes - (before?.bytes ?? 0);
  const isNew = before === null ? 1 : 0;
  const { project, name } = readNames(main);
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
  if (main["parent_run_id"] !== undefined) return;
  const sql = "UPDATE traces SET project = ?, name = ?, started = ? WHERE trace_id = ?";
  state.db.run(sql, project, name, after.start, traceId);
}

/** @returns true if the cost is another one */
function putCost(
  db: Database,
  { runId, traceId, dottedOrder }: PlacedRun,
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

/** Once a transaction, because a trace may have thousands of runs: costs, the story and the words of changed traces. */
export function finishTraces(state: WriterState): void {
  const { db, changed } = state;
  for (const [traceId, { isRecosted, isRetold, words }] of changed) {
    if (isRecosted) sumCosts(db, traceId);
    if (isRetold || lacksResult(db, traceId)) retell(state, traceId);
    if (state.isSearched) putWords(db, traceId, words.words());
  }
  changed.clear();
}

function sumCosts(db: Database, traceId: string): void {
  const rows = db.all("SELECT dotted_order, cost FROM costs WHERE trace_id = ?", traceId);
  const runs = rows.map((row) => ({ dotted_order: String(row["dotted_order"]), cost: Number(row["cost"]) }));
  db.run("UPDATE traces SET cost = ? WHERE trace_id = ?", computeTraceCosts(runs).total, traceId);
}

/** A run that came after its root may be the result. Bounded: the story reads all runs of the trace. */
const LATE_RUNS_MAX = 1000;

function lacksResult(db: Database, traceId: string): boolean {
  const sql = "SELECT 1 FROM traces WHERE trace_id = ? AND status = 'success' AND output IS NULL AND runs <= ?";
  return db.get(sql, traceId, LATE_RUNS_MAX) !== null;
}

function retell({ db, cells }: WriterState, traceId: string): void {
  const story = tellStory(readStory(db, cells, traceId));
  if (story === null) return;
  const read = (field: "inputs" | "outputs" | "error", runId: string | null): string | null => {
    const row = runId === null ? null : db.get(`SELECT run_id, trace_id, ${field} FROM runs WHERE run_id = ?`, runId);
    const text = row === null ? null : readIfOpened(() => cells.open("runs", row)[field]);
    return typeof text === "string" ? text : null;
  };
  const seal = (column: string, cell: string | null): string | null => cells.seal("traces", column, [traceId], cell);
  const [error, inputs, outputs] = [
    read("error", story.newest),
    read("inputs", story.root),
    read("outputs", story.result),
  ];
  db.run(
    `UPDATE traces SET status = ?, error = ?, latency = ?, waited = ?, waiting_since = ?, input = ?, output = ?
      WHERE trace_id = ?`,
    story.status,
    seal("error", error === null ? null : clipped(JSON.parse(error) as Json)),
    story.latency,
    story.waited,
    story.waitingSince,
    seal("input", inputs === null ? null : formatPreview(inputs)),
    seal("output", outputs === null ? null : formatPreview(outputs)),
    traceId,
  );
}

const STORY_RUNS = `SELECT run_id, trace_id, dotted_order, facts, type, ${OUTPUT_SIZE} FROM runs`;

/** The runs of a trace in tree order, but for those that do not open. */
export function readStory(db: Database, cells: SealedCells, traceId: string): readonly StoryRun[] {
  const rows = db.all(`${STORY_RUNS} WHERE trace_id = ? ORDER BY dotted_order`, traceId);
  return readOpened(rows, (row) => toStoryRun(cells.open("runs", row)));
}

const WORDS_MAX = 10_000;

/** Words of all runs are one document, so that a search finds words of different runs. */
function putWords(db: Database, traceId: string, added: readonly string[]): void {
  const row = db.get("SELECT doc, words FROM words WHERE trace_id = ?", traceId);
  const known = row === null ? [] : String(row["words"]).split(" ");
  const all = [...new Set([...known, ...added])].slice(0, WORDS_MAX);
  if (all.length === known.length || all.length === 0) return;
  const text = all.join(" ");
  const put =
    "INSERT INTO words (trace_id, words) VALUES (?, ?) ON CONFLICT (trace_id) DO UPDATE SET words = excluded.words";
  db.run(put, traceId, text);
  const doc = row?.["doc"] ?? db.get("SELECT doc FROM words WHERE trace_id = ?", traceId)?.["doc"];
  db.run("INSERT OR REPLACE INTO words_index (rowid, words) VALUES (?, ?)", Number(doc), text);
}

/** @throws {SealedValueError} */
function readRun({ db, cells }: WriterState, runId: string): StoredRun | null {
  const row = db.get("SELECT * FROM runs WHERE run_id = ?", runId);
  return row === null ? null : toStoredRun(cells.open("runs", row));
}

/** For readFileSizes(). */
export const FILE_SIZE = `length(bytes) AS bytes, substr(bytes, 1, ${HEAD_BYTES}) AS head`;

/** @returns the bytes of all files of the run */
function keepFiles(
  { db, cells }: WriterState,
  traceId: string,
  { runId, attachments }: RunChange,
  known: boolean,
): number {
  for (const { name, type, bytes } of attachments) {
    const sql = "INSERT OR REPLACE INTO attachments (run_id, trace_id, name, type, bytes) VALUES (?, ?, ?, ?, ?)";
    db.run(sql, runId, traceId, name, type, cells.seal("attachments", "bytes", [runId, name], bytes));
  }
  if (attachments.length === 0 && !known) return 0;
  const stored = db.all(`SELECT ${FILE_SIZE} FROM attachments WHERE run_id = ?`, runId);
  return readFileSizes(cells, stored).reduce((sum, { bytes }) => sum + Number(bytes), 0);
}
