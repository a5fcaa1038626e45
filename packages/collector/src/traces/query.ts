// Query: traces for lists and trees, out of SQLite (rows → query → reply).
// Invariants:
//   query.1. Search values are bound parameters, never part of the SQL text.
//   query.2. A page begins at the end of the previous one, also while traces arrive.
import type { SQLInputValue } from "node:sqlite";
import type { TraceItem, TraceStatus } from "@holdpoint/api/traces/traces.ts";
import type { Database, Row } from "./database.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { finalOutputRun } from "./final-output.ts";
import { hashTag } from "./merged-run.ts";
import { FIELDS } from "./run-change.ts";
import { formatRun, formatTrace, toTraceItem, TRACE_COLUMNS } from "./replies.ts";
import { readFileSizes, readIfOpened, type SealedCells } from "./sealed-cells.ts";
import { buildWordConditions, countUpToFew, FEW_MAX } from "./word-conditions.ts";
import { FILE_SIZE, readStory } from "./write-run.ts";

export interface TraceSearch {
  readonly project: string | null;
  /** Part of the name, case-insensitive. */
  readonly name: string | null;
  readonly status: TraceStatus | null;
  /** Words that must all occur in names, inputs, outputs or errors of its runs (api/text/search-words.ts). */
  readonly words: readonly string[];
  readonly model: string | null;
  /** Name of a tool call in any of its runs. */
  readonly tool: string | null;
  readonly threadId: string | null;
  readonly tag: string | null;
  readonly metadata: readonly (readonly [key: string, value: string])[];
  /** Microseconds, without the waits for people; a trace with a running root has no latency. */
  readonly latencyMin: number | null;
  readonly latencyMax: number | null;
  /** Microseconds since 1970, of the start. */
  readonly from: number | null;
  readonly to: number | null;
  readonly limit: number;
  readonly cursor: Cursor | null;
}

export const EVERY_TRACE: TraceSearch = {
  project: null,
  name: null,
  status: null,
  words: [],
  model: null,
  tool: null,
  threadId: null,
  tag: null,
  metadata: [],
  latencyMin: null,
  latencyMax: null,
  from: null,
  to: null,
  limit: 100,
  cursor: null,
};

/** The end of a page: newest first, and by id among equal start times. */
export interface Cursor {
  readonly started: number;
  readonly traceId: string;
}

export interface TracePage {
  readonly items: readonly TraceItem[];
  readonly next: Cursor | null;
}

export interface TraceFile {
  readonly type: string;
  readonly bytes: Uint8Array;
}

export interface TraceProject {
  readonly name: string;
  readonly traces: number;
}

/** As the port of store.ts. */
export interface TraceQueries {
  search(search: TraceSearch): TracePage;
  trace(traceId: string): string | null;
  run(runId: string): string | null;
  attachment(runId: string, name: string): TraceFile | null;
  projects(): readonly TraceProject[];
}

/** With the models in the same statement: one for each trace of a page takes longer than the page. */
const ITEM = `${TRACE_COLUMNS}, (SELECT json_group_array(value ORDER BY value) FROM tags
  WHERE tags.trace_id = traces.trace_id AND kind = 'model') AS models`;

export function createTraceQueries(
  db: Database,
  { cells, isSearched }: { readonly cells: SealedCells; readonly isSearched: boolean },
): TraceQueries {
  const readItem = (row: Row): TraceItem => toTraceItem(openItem(cells, row));
  return {
    search(search) {
      checkSearch(search, isSearched);
      const { where, parameters } = buildConditions(db, search, cells.ring !== null);
      const rows = db.all(
        `SELECT ${ITEM} FROM traces ${where} ORDER BY started DESC, trace_id DESC LIMIT ?`,
        ...parameters,
        search.limit + 1,
      );
      return cutPage(rows.map(readItem), search.limit);
    },
    trace(traceId) {
      const row = db.get(`SELECT ${ITEM} FROM traces WHERE trace_id = ?`, traceId);
      if (row === null) return null;
      const runs = db.all(
        "SELECT run_id, trace_id, summary FROM runs WHERE trace_id = ? ORDER BY dotted_order",
        traceId,
      );
      return formatTrace(
        readItem(row),
        runs.map((one) => cells.open("runs", one)),
      );
    },
    run(runId) {
      const row = db.get(
        `SELECT run_id, trace_id, dotted_order, summary, ${FIELDS.join(", ")} FROM runs WHERE run_id = ?`,
        runId,
      );
      if (row === null) return null;
      const [order, traceId] = [String(row["dotted_order"]), String(row["trace_id"])];
      return formatRun({
        row: cells.open("runs", row),
        files: readFileSizes(cells, db.all(`SELECT name, type, ${FILE_SIZE} FROM attachments WHERE run_id = ?`, runId)),
        costs: db.all(COSTS_BELOW, traceId, order, order.length + 1, `${order}.`),
        final: order.includes(".") ? null : findFinal(db, cells, traceId),
      });
    },
    attachment(runId, name) {
      const row = db.get(
        "SELECT run_id, name, type, bytes FROM attachments WHERE run_id = ? AND name = ?",
        runId,
        name,
      );
      if (row === null) return null;
      return { type: String(row["type"]), bytes: cells.open("attachments", row)["bytes"] as Uint8Array };
    },
    projects: () =>
      db
        .all("SELECT name, traces FROM projects ORDER BY name")
        .map((row) => ({ name: String(row["name"]), traces: Number(row["traces"]) })),
  };
}

/** @param found one more than the page has room for, if there are more */
export function cutPage(found: readonly TraceItem[], limit: number): TracePage {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const more = found.length > limit && last !== undefined;
  return { items, next: more ? { started: last.start_us, traceId: last.trace_id } : null }; // query.2
}

const COSTS_BELOW =
  "SELECT dotted_order, cost FROM costs WHERE trace_id = ? AND (dotted_order = ? OR substr(dotted_order, 1, ?) = ?)";

function findFinal(db: Database, cells: SealedCells, traceId: string): Row | null {
  const id = finalOutputRun(readStory(db, cells, traceId));
  const row = id === null ? null : db.get("SELECT run_id, trace_id, main, outputs FROM runs WHERE run_id = ?", id);
  return row === null ? null : readNamed(cells.open("runs", row));
}

/** @param row with `main` */
export function readNamed(row: Row): Row {
  return { ...row, name: (JSON.parse(String(row["main"])) as Row)["name"] };
}

/** @param row of TRACE_COLUMNS @returns without what does not open */
export function openItem(cells: SealedCells, row: Row): Row {
  return readIfOpened(() => cells.open("traces", row)) ?? { ...row, error: null, input: null, output: null };
}

/** @throws {ApiError} `search_off` for words in a store that keeps none */
export function checkSearch({ words }: TraceSearch, isSearched: boolean): void {
  if (words.length > 0 && !isSearched)
    throw new ApiError("search_off", "The trace store keeps no words (HOLDPOINT_SEARCH): use filters.");
}

function buildConditions(
  db: Database,
  search: TraceSearch,
  isSealed: boolean,
): {
  readonly where: string;
  readonly parameters: readonly SQLInputValue[];
} {
  const conditions: string[] = [];
  const parameters: SQLInputValue[] = [];
  const add = (condition: string, ...values: SQLInputValue[]): void => {
    conditions.push(condition);
    parameters.push(...values);
  };
  const addTag = (kind: string, key: string, value: string): void =>
    add(
      "EXISTS (SELECT 1 FROM tags WHERE tags.trace_id = traces.trace_id AND kind = ? AND key = ? AND value = ?)",
      kind,
      key,
      value,
    );
  /** A list of the few traces that have it, or a look at each of the newest until the page is full. */
  const addFound = (kind: "metadata" | "tag", key: string, value: string): void => {
    const one = "SELECT trace_id FROM tags WHERE kind = ? AND key = ? AND value = ?";
    const found = isSealed ? `${one} UNION ALL ${one}` : one;
    const values = [kind, key, value, ...(isSealed ? [kind, "", hashTag([kind, key, value])] : [])];
    const isFew = countUpToFew(db, found, values) <= FEW_MAX;
    const each = "SELECT 1 FROM tags WHERE tags.trace_id = traces.trace_id AND kind = ? AND key = ? AND value = ?";
    const condition = isSealed ? `(EXISTS (${each}) OR EXISTS (${each}))` : `EXISTS (${each})`;
    add(isFew ? `trace_id IN (${found})` : condition, ...values);
  };
  if (search.project !== null) add("project = ?", search.project);
  if (search.threadId !== null) add("thread_id = ?", search.threadId);
  if (search.status !== null) add("status = ?", search.status);
  if (search.name !== null) add("instr(lower(name), ?) > 0", search.name.toLowerCase());
  if (search.latencyMin !== null) add("latency - waited >= ?", search.latencyMin);
  if (search.latencyMax !== null) add("latency - waited <= ?", search.latencyMax);
  if (search.from !== null) add("started >= ?", search.from);
  if (search.to !== null) add("started < ?", search.to);
  if (search.model !== null) addTag("model", "", search.model);
  if (search.tool !== null) addTag("tool", "", search.tool);
  if (search.tag !== null) addFound("tag", "", search.tag);
  for (const [key, value] of search.metadata) addFound("metadata", key, value);
  for (const { sql, values } of buildWordConditions(db, search)) add(sql, ...values);
  if (search.cursor !== null) add("(started, trace_id) < (?, ?)", search.cursor.started, search.cursor.traceId);
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, parameters };
}
