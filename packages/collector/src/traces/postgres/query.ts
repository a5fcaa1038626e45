// Query: traces for lists and trees, out of PostgreSQL. A trace is in one partition: its day is looked up first.
// Invariants:
//   postgres/query.1. Search values are bound parameters, never part of the SQL text.
//   postgres/query.2. Counts of projects end at COUNTED_MAX, so that a list costs the same in a large store.
import { hash } from "node:crypto";
import { isPrefix } from "@holdpoint/api/text/search-words.ts";
import type { TraceItem } from "@holdpoint/api/traces/traces.ts";
import { finalOutputRun, OUTPUT_SIZE } from "../final-output.ts";
import { toStoryRun, type Row, type Tag } from "../merged-run.ts";
import { cutPage, type TraceSearch } from "../query.ts";
import { formatRun, formatTrace, toTraceItem, TRACE_COLUMNS } from "../replies.ts";
import { FIELDS } from "../run-change.ts";
import type { TraceStore } from "../store.ts";
import type { Parameter, Sql } from "./sql.ts";

type Queries = Pick<TraceStore, "search" | "trace" | "run" | "attachment" | "projects">;

const ITEM = `${TRACE_COLUMNS}, array_to_json(models)::text AS models`;
const COUNTED_MAX = 1000;

export function createQueries(sql: Sql): Queries {
  const readItem = (row: Row): TraceItem => toTraceItem(row, JSON.parse(String(row["models"])) as readonly string[]);
  return {
    async search(search) {
      const { where, parameters } = buildConditions(search);
      const rows = await sql.all(
        `SELECT ${ITEM} FROM holdpoint_traces.traces ${where} ORDER BY started DESC, trace_id DESC LIMIT ${search.limit + 1}`,
        ...parameters,
      );
      return cutPage(rows.map(readItem), search.limit);
    },
    async trace(traceId) {
      const [row] = await sql.all(`SELECT ${ITEM}, ${DAY} FROM holdpoint_traces.traces WHERE trace_id = $1`, traceId);
      if (row === undefined) return null;
      const tree = "SELECT summary FROM holdpoint_traces.runs WHERE trace_id = $1 AND day = $2 ORDER BY dotted_order";
      return formatTrace(readItem(row), await sql.all(tree, traceId, String(row["day"])));
    },
    async run(runId) {
      const columns = `trace_id, dotted_order, summary, ${FIELDS.join(", ")}, ${DAY}`;
      const [row] = await sql.all(`SELECT ${columns} FROM holdpoint_traces.runs WHERE run_id = $1`, runId);
      if (row === undefined) return null;
      const [order, traceId, day] = [String(row["dotted_order"]), String(row["trace_id"]), String(row["day"])];
      const costs = `SELECT dotted_order, cost FROM holdpoint_traces.runs
        WHERE trace_id = $1 AND day = $2 AND cost IS NOT NULL AND (dotted_order = $3 OR starts_with(dotted_order, $4))`;
      const files = `SELECT name, type, octet_length(bytes) AS bytes FROM holdpoint_traces.attachments
        WHERE run_id = $1 AND day = $2 ORDER BY name`;
      return formatRun({
        row,
        files: await sql.all(files, runId, day),
        costs: await sql.all(costs, traceId, day, order, `${order}.`),
        final: order.includes(".") ? null : await findFinal(sql, traceId, day),
      });
    },
    async attachment(runId, name) {
      const [row] = await sql.all(
        "SELECT type, bytes FROM holdpoint_traces.attachments WHERE run_id = $1 AND name = $2",
        runId,
        name,
      );
      return row === undefined ? null : { type: String(row["type"]), bytes: row["bytes"] as Uint8Array };
    },
    async projects() {
      const rows = await sql.all(PROJECTS);
      return rows.map((row) => ({ name: String(row["name"]), traces: Number(row["traces"]) }));
    },
  };
}

/** The type of dates is no text for the driver. */
export const DAY = "day::text AS day";

/** From one name to the next, over the index; postgres/query.2. */
const PROJECTS = `
  WITH RECURSIVE projects (found) AS (
    (SELECT project FROM holdpoint_traces.traces ORDER BY project LIMIT 1)
    UNION ALL
    SELECT (SELECT project FROM holdpoint_traces.traces WHERE project > found ORDER BY project LIMIT 1)
      FROM projects WHERE found IS NOT NULL
  )
  SELECT found AS name, (SELECT count(*) FROM (
      SELECT 1 FROM holdpoint_traces.traces WHERE project = found LIMIT ${COUNTED_MAX}) AS counted) AS traces
    FROM projects WHERE found IS NOT NULL LIMIT 1000`;

/** For toStoryRun(). */
export const STORY_RUNS = `SELECT run_id, trace_id, dotted_order, facts, type, ${OUTPUT_SIZE}
  FROM holdpoint_traces.runs`;

async function findFinal(sql: Sql, traceId: string, day: string): Promise<Row | null> {
  const rows = await sql.all(`${STORY_RUNS} WHERE trace_id = $1 AND day = $2 ORDER BY dotted_order`, traceId, day);
  const id = finalOutputRun(rows.map(toStoryRun));
  if (id === null) return null;
  const read = "SELECT run_id, main, outputs FROM holdpoint_traces.runs WHERE run_id = $1 AND day = $2";
  const [row] = await sql.all(read, id, day);
  return row === undefined ? null : { ...row, name: (JSON.parse(String(row["main"])) as Row)["name"] };
}

/** Of any length of key and value. */
export function hashTag(tag: Tag): string {
  return hash("sha256", JSON.stringify(tag), "base64url").slice(0, 22);
}

function buildConditions(search: TraceSearch): {
  readonly where: string;
  readonly parameters: readonly Parameter[];
} {
  const conditions: string[] = [];
  const parameters: Parameter[] = [];
  const add = (condition: string, ...values: Parameter[]): void => {
    let at = parameters.length;
    conditions.push(condition.replace(/\?/g, () => `$${++at}`));
    parameters.push(...values);
  };
  if (search.project !== null) add("project = ?", search.project);
  if (search.threadId !== null) add("thread_id = ?", search.threadId);
  if (search.status !== null) add("status = ?", search.status);
  if (search.name !== null) add("strpos(lower(name), ?) > 0", search.name.toLowerCase());
  if (search.latencyMin !== null) add("latency - waited >= ?", Math.ceil(search.latencyMin));
  if (search.latencyMax !== null) add("latency - waited <= ?", Math.floor(search.latencyMax));
  if (search.from !== null) add("started >= ?", search.from);
  if (search.to !== null) add("started < ?", search.to);
  const tags: Tag[] = search.metadata.map(([key, value]) => ["metadata", key, value]);
  for (const kind of ["model", "tool", "tag"] as const) if (search[kind] !== null) tags.push([kind, "", search[kind]]);
  if (tags.length > 0) add("labels @> ?::text[]", tags.map(hashTag));
  if (search.words.length > 0) {
    const text = search.words.map((word) => `'${word}'${isPrefix(word) ? ":*" : ""}`).join(" & "); // search-words.1
    add("words @@ ?::tsquery", text);
  }
  if (search.cursor !== null) add("(started, trace_id) < (?, ?)", search.cursor.started, search.cursor.traceId);
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, parameters };
}
