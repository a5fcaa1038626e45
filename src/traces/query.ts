// Query: traces for lists and trees (rows → query → reply).
// Invariants:
//   query.1. Search values are bound parameters, never part of the SQL text.
//   query.2. A page begins at the end of the previous one, also while traces arrive.
//   query.3. A trace's reply consists of texts stored with its runs: a read parses nothing.
import type { SQLInputValue } from "node:sqlite";
import type { TraceItem } from "../api/traces.ts";
import type { Database, Row } from "./database.ts";
import { FIELDS } from "./run-change.ts";

export interface TraceSearch {
  readonly project: string | null;
  /** Part of the name, case-insensitive. */
  readonly name: string | null;
  readonly status: "success" | "error" | "pending" | "incomplete" | null;
  readonly model: string | null;
  /** Name of a tool call in any of its runs. */
  readonly tool: string | null;
  readonly threadId: string | null;
  readonly tag: string | null;
  readonly metadata: readonly (readonly [key: string, value: string])[];
  /** Microseconds; a trace with a running root has no latency. */
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
  "trace_id, project, name, status, error, started, latency, runs, errors, input_tokens, output_tokens, cost, thread_id";

export function createTraceQueries(db: Database): TraceQueries {
  const itemOf = (row: Row): TraceItem => ({
    trace_id: String(row["trace_id"]),
    project: String(row["project"]),
    name: String(row["name"]),
    status: String(row["status"]),
    error: textOf(row["error"]),
    start_us: Number(row["started"]),
    latency_us: row["latency"] === null ? null : Number(row["latency"]),
    runs: Number(row["runs"]),
    errors: Number(row["errors"]),
    input_tokens: Number(row["input_tokens"]),
    output_tokens: Number(row["output_tokens"]),
    cost: row["cost"] === null ? null : Number(row["cost"]),
    thread_id: textOf(row["thread_id"]),
    models: db
      .all("SELECT value FROM tags WHERE trace_id = ? AND kind = 'model' ORDER BY value", String(row["trace_id"]))
      .map(({ value }) => String(value)),
  });
  return {
    search(search) {
      const { where, parameters } = conditionsOf(search);
      const rows = db.all(
        `SELECT ${TRACE_COLUMNS} FROM traces ${where} ORDER BY started DESC, trace_id DESC LIMIT ?`,
        ...parameters,
        search.limit + 1,
      );
      const items = rows.slice(0, search.limit).map(itemOf);
      const last = items.at(-1);
      const more = rows.length > search.limit && last !== undefined;
      return { items, next: more ? { started: last.start_us, traceId: last.trace_id } : null }; // query.2
    },
    trace(traceId) {
      const row = db.get(`SELECT ${TRACE_COLUMNS} FROM traces WHERE trace_id = ?`, traceId);
      if (row === null) return null;
      const runs = db.all("SELECT summary FROM runs WHERE trace_id = ? ORDER BY dotted_order", traceId);
      const texts = runs.map(({ summary }) => String(summary)).join(","); // query.3
      return `{"trace":${JSON.stringify(itemOf(row))},"runs":[${texts}]}`;
    },
    run(runId) {
      const row = db.get(`SELECT summary, ${FIELDS.join(", ")} FROM runs WHERE run_id = ?`, runId);
      if (row === null) return null;
      const { error: _short, ...summary } = JSON.parse(String(row["summary"])) as Record<string, unknown>;
      const files = db.all("SELECT name, type, length(bytes) AS bytes FROM attachments WHERE run_id = ?", runId);
      const fields = FIELDS.map((field) => [field, textOf(row[field])] as const).filter(([, text]) => text !== null);
      const head = JSON.stringify({ ...summary, ...(files.length === 0 ? {} : { attachments: files }) });
      return `${head.slice(0, -1)}${fields.map(([field, text]) => `,"${field}":${text}`).join("")}}`;
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

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

function conditionsOf(search: TraceSearch): { readonly where: string; readonly parameters: readonly SQLInputValue[] } {
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
  if (search.latencyMin !== null) add("latency >= ?", search.latencyMin);
  if (search.latencyMax !== null) add("latency <= ?", search.latencyMax);
  if (search.from !== null) add("started >= ?", search.from);
  if (search.to !== null) add("started < ?", search.to);
  if (search.model !== null) addTag("model", "", search.model);
  if (search.tool !== null) addTag("tool", "", search.tool);
  if (search.tag !== null) addTag("tag", "", search.tag);
  for (const [key, value] of search.metadata) addTag("metadata", key, value);
  if (search.cursor !== null) add("(started, trace_id) < (?, ?)", search.cursor.started, search.cursor.traceId);
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, parameters };
}
