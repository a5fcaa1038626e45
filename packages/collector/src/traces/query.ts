// Query: traces for lists and trees (rows → query → reply).
// Invariants:
//   query.1. Search values are bound parameters, never part of the SQL text.
//   query.2. A page begins at the end of the previous one, also while traces arrive.
//   query.3. A trace's reply consists of texts stored with its runs: a read parses nothing.
//   query.4. A root without an output of its own shows the final one with the run that it comes from: uploaded fields
//        stay as uploaded.
import type { SQLInputValue } from "node:sqlite";
import type { TraceItem, TraceStatus } from "@holdpoint/api/traces/traces.ts";
import type { Database, Row } from "./database.ts";
import { computeTraceCosts } from "@holdpoint/api/traces/trace-costs.ts";
import { isPrefix } from "@holdpoint/api/text/search-words.ts";
import { finalOutputRun } from "./final-output.ts";
import { toStoryRun } from "./merged-run.ts";
import { FIELDS } from "./run-change.ts";
import { STORY_RUNS } from "./write-run.ts";

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

/** The end of a page: newest first, and by id among equal start times. */
export interface Cursor {
  readonly started: number;
  readonly traceId: string;
}

export interface TracePage {
  readonly items: readonly TraceItem[];
  readonly next: Cursor | null;
}

export interface TraceQueries {
  search(search: TraceSearch): TracePage;
  /** JSON text `{"trace": …, "runs": […]}`, runs in tree order; null for an unknown trace. */
  trace(traceId: string): string | null;
  /** JSON text of one run with all its fields; null for an unknown run. */
  run(runId: string): string | null;
  attachment(runId: string, name: string): { readonly type: string; readonly bytes: Uint8Array } | null;
  projects(): readonly { readonly name: string; readonly traces: number }[];
}

const TRACE_COLUMNS =
  "trace_id, project, name, status, error, started, latency, runs, errors, input_tokens, output_tokens, cost, thread_id, waited, waiting_since, input, output";

export function createTraceQueries(db: Database): TraceQueries {
  const toTraceItem = (row: Row): TraceItem => ({
    trace_id: String(row["trace_id"]),
    project: String(row["project"]),
    name: String(row["name"]),
    status: String(row["status"]) as TraceStatus,
    error: textOrNull(row["error"]),
    start_us: Number(row["started"]),
    latency_us: row["latency"] === null ? null : Number(row["latency"]),
    wait_us: Number(row["waited"]),
    waiting_since_us: row["waiting_since"] === null ? null : Number(row["waiting_since"]),
    input: textOrNull(row["input"]),
    output: textOrNull(row["output"]),
    runs: Number(row["runs"]),
    errors: Number(row["errors"]),
    input_tokens: Number(row["input_tokens"]),
    output_tokens: Number(row["output_tokens"]),
    cost: row["cost"] === null ? null : Number(row["cost"]),
    thread_id: textOrNull(row["thread_id"]),
    models: db
      .all("SELECT value FROM tags WHERE trace_id = ? AND kind = 'model' ORDER BY value", String(row["trace_id"]))
      .map(({ value }) => String(value)),
  });
  return {
    search(search) {
      const { where, parameters } = buildConditions(search);
      const rows = db.all(
        `SELECT ${TRACE_COLUMNS} FROM traces ${where} ORDER BY started DESC, trace_id DESC LIMIT ?`,
        ...parameters,
        search.limit + 1,
      );
      const items = rows.slice(0, search.limit).map(toTraceItem);
      const last = items.at(-1);
      const more = rows.length > search.limit && last !== undefined;
      return { items, next: more ? { started: last.start_us, traceId: last.trace_id } : null }; // query.2
    },
    trace(traceId) {
      const row = db.get(`SELECT ${TRACE_COLUMNS} FROM traces WHERE trace_id = ?`, traceId);
      if (row === null) return null;
      const runs = db.all("SELECT summary FROM runs WHERE trace_id = ? ORDER BY dotted_order", traceId);
      const texts = runs.map(({ summary }) => String(summary)).join(","); // query.3
      return `{"trace":${JSON.stringify(toTraceItem(row))},"runs":[${texts}]}`;
    },
    run(runId) {
      const row = db.get(
        `SELECT trace_id, dotted_order, summary, ${FIELDS.join(", ")} FROM runs WHERE run_id = ?`,
        runId,
      );
      if (row === null) return null;
      const { error: _short, ...summary } = JSON.parse(String(row["summary"])) as Record<string, unknown>;
      const files = db.all("SELECT name, type, length(bytes) AS bytes FROM attachments WHERE run_id = ?", runId);
      const fields = FIELDS.map((field) => [field, textOrNull(row[field])] as const).filter(
        ([, text]) => text !== null,
      );
      const [order, traceId] = [String(row["dotted_order"]), String(row["trace_id"])];
      const total = costBelow(db, traceId, order);
      const head = JSON.stringify({
        ...summary,
        ...(total === null ? {} : { total_cost: total }),
        ...(files.length === 0 ? {} : { attachments: files }),
      });
      const result = order.includes(".") ? "" : finalOutputText(db, traceId);
      return `${head.slice(0, -1)}${fields.map(([field, text]) => `,"${field}":${text}`).join("")}${result}}`;
    },
    attachment(runId, name) {
      const row = db.get("SELECT type, bytes FROM attachments WHERE run_id = ? AND name = ?", runId, name);
      return row === null ? null : { type: String(row["type"]), bytes: row["bytes"] as Uint8Array };
    },
    projects: () =>
      db
        .all("SELECT project AS name, count(*) AS traces FROM traces GROUP BY project ORDER BY project")
        .map((row) => ({ name: String(row["name"]), traces: Number(row["traces"]) })),
  };
}

/** Cost of a run with everything below it; null if none has a cost. */
function costBelow(db: Database, traceId: string, order: string): number | null {
  const sql =
    "SELECT dotted_order, cost FROM costs WHERE trace_id = ? AND (dotted_order = ? OR substr(dotted_order, 1, ?) = ?)";
  const rows = db.all(sql, traceId, order, order.length + 1, `${order}.`);
  const runs = rows.map((row) => ({ dotted_order: String(row["dotted_order"]), cost: Number(row["cost"]) }));
  return computeTraceCosts(runs).below.get(order) ?? null;
}

/** query.4. */
function finalOutputText(db: Database, traceId: string): string {
  const rows = db.all(`${STORY_RUNS} WHERE trace_id = ? ORDER BY dotted_order`, traceId);
  const id = finalOutputRun(rows.map(toStoryRun));
  const row = id === null ? null : db.get("SELECT main ->> '$.name' AS name, outputs FROM runs WHERE run_id = ?", id);
  if (row === null) return "";
  return `,"final_output":{"run_id":${JSON.stringify(id)},"name":${JSON.stringify(row["name"])},"outputs":${textOrNull(row["outputs"])}}`;
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

function buildConditions(search: TraceSearch): {
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
  if (search.tag !== null) addTag("tag", "", search.tag);
  for (const [key, value] of search.metadata) addTag("metadata", key, value);
  if (search.words.length > 0) {
    const text = search.words.map((word) => `"${word}"${isPrefix(word) ? " *" : ""}`).join(" AND "); // search-words.1
    add(
      "trace_id IN (SELECT trace_id FROM words WHERE doc IN (SELECT rowid FROM words_index WHERE words_index MATCH ?))",
      text,
    );
  }
  if (search.cursor !== null) add("(started, trace_id) < (?, ?)", search.cursor.started, search.cursor.traceId);
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, parameters };
}
