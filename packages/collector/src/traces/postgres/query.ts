// Query: traces for lists and trees, out of PostgreSQL. A trace is in one partition: its day is looked up first.
// Invariants:
//   - Search values are bound parameters, never part of the SQL text.
//   - Counts of projects end at COUNTED_MAX, so that a list costs the same in a large store.
//   - A search by words looks at NEWEST_MAX traces: the page of words that many have is among them. Then it collects what
//     the index of words finds, up to FEW_MAX, and only then walks from the newest: PostgreSQL cannot tell how many traces
//     have a beginning of a word, and would walk for each.
//   postgres/query.4. Of several words, the index finds the rarest. For a common one it would read all its entries: such
//        a word is looked up in the traces that the others have found.
//   postgres/query.5. A page of a tag is read from the newest days that have enough of it, and from those before only where
//        they have traces that started later than its end: the index finds all traces of a tag, each in another block.
import { isPrefix } from "@holdpoint/api/text/search-words.ts";
import type { TraceItem } from "@holdpoint/api/traces/traces.ts";
import { finalOutputRun, OUTPUT_SIZE } from "../final-output.ts";
import { hashTag, toStoryRun, type Row, type Tag } from "../merged-run.ts";
import { checkSearch, cutPage, openItem, readNamed, type TraceSearch } from "../query.ts";
import { formatRun, formatTrace, toTraceItem, TRACE_COLUMNS } from "../replies.ts";
import { FIELDS } from "../run-change.ts";
import { HEAD_BYTES, readFileSizes, readOpened, type SealedCells } from "../sealed-cells.ts";
import type { TraceStore } from "../store.ts";
import type { StoryRun } from "../story.ts";
import type { Parameter, Sql } from "./sql.ts";

type Queries = Pick<TraceStore, "search" | "trace" | "run" | "attachment" | "projects">;

/** Models as JSON, for the rows of a page only: those of all that match would take longer than the search. */
const ITEM = `${TRACE_COLUMNS}, array_to_json(models)::text AS models`;
const COUNTED_MAX = 1000;
const NEWEST_MAX = 500;
const FEW_MAX = 5000;
const COLUMNS = `${TRACE_COLUMNS}, models`;
const ORDER = "ORDER BY started DESC, trace_id DESC";

/** @param of how the store keeps contents */
export function createQueries(sql: Sql, of: { readonly cells: SealedCells; readonly isSearched: boolean }): Queries {
  const { cells, isSearched } = of;
  const readItem = (row: Row): TraceItem => toTraceItem(openItem(cells, row));
  return {
    async search(search) {
      checkSearch(search, isSearched);
      const rows = await findTraces(sql, search);
      return cutPage(rows.map(readItem), search.limit);
    },
    async trace(traceId) {
      const [row] = await sql.all(`SELECT ${ITEM}, ${DAY} FROM holdpoint_traces.traces WHERE trace_id = $1`, traceId);
      if (row === undefined) return null;
      const tree = `SELECT run_id, trace_id, summary FROM holdpoint_traces.runs
        WHERE trace_id = $1 AND day = $2 ORDER BY dotted_order`;
      const runs = await sql.all(tree, traceId, String(row["day"]));
      return formatTrace(
        readItem(row),
        runs.map((one) => cells.open("runs", one)),
      );
    },
    async run(runId) {
      const columns = `run_id, trace_id, dotted_order, summary, ${FIELDS.join(", ")}, ${DAY}`;
      const [row] = await sql.all(`SELECT ${columns} FROM holdpoint_traces.runs WHERE run_id = $1`, runId);
      if (row === undefined) return null;
      const [order, traceId, day] = [String(row["dotted_order"]), String(row["trace_id"]), String(row["day"])];
      const costs = `SELECT dotted_order, cost FROM holdpoint_traces.runs
        WHERE trace_id = $1 AND day = $2 AND cost IS NOT NULL AND (dotted_order = $3 OR starts_with(dotted_order, $4))`;
      const files = `SELECT name, type, ${FILE_SIZE} FROM holdpoint_traces.attachments
        WHERE run_id = $1 AND day = $2 ORDER BY name`;
      return formatRun({
        row: cells.open("runs", row),
        files: readFileSizes(cells, await sql.all(files, runId, day)),
        costs: await sql.all(costs, traceId, day, order, `${order}.`),
        final: order.includes(".") ? null : await findFinal(sql, cells, { traceId, day }),
      });
    },
    async attachment(runId, name) {
      const [row] = await sql.all(
        "SELECT run_id, name, type, bytes FROM holdpoint_traces.attachments WHERE run_id = $1 AND name = $2",
        runId,
        name,
      );
      if (row === undefined) return null;
      return { type: String(row["type"]), bytes: cells.open("attachments", row)["bytes"] as Uint8Array };
    },
    async projects() {
      const rows = await sql.all(PROJECTS);
      return rows.map((row) => ({ name: String(row["name"]), traces: Number(row["traces"]) }));
    },
  };
}

type Read = (from: string, parameters: readonly Parameter[], more?: string) => Promise<readonly Row[]>;

/** The rows of a page, and one more if there are more. */
async function findTraces(sql: Sql, search: TraceSearch): Promise<readonly Row[]> {
  const read: Read = (from, parameters, more = "") =>
    sql.all(`SELECT ${ITEM}${more} FROM (${from} ${ORDER} LIMIT ${search.limit + 1}) AS page ${ORDER}`, ...parameters);
  const conditions = buildConditions(search, search.words);
  const { where, before, parameters, isTagged } = conditions;
  if (search.words.length === 0 && isTagged) return readTagged(sql, read, conditions, search.limit);
  if (search.words.length === 0) return read(`SELECT ${COLUMNS} FROM holdpoint_traces.traces ${where}`, parameters);
  const newest = `SELECT * FROM holdpoint_traces.traces ${before} ${ORDER} LIMIT ${NEWEST_MAX}`;
  const near = await read(`SELECT ${COLUMNS} FROM (${newest}) AS newest ${where}`, parameters);
  if (near.length > search.limit) return near;
  const rare = buildConditions(search, await chooseRare(sql, search.words));
  const traces = `SELECT ${COLUMNS} FROM holdpoint_traces.traces ${rare.where}`;
  const few = `SELECT *, count(*) OVER () AS found FROM (${traces} LIMIT ${FEW_MAX + 1}) AS matches`;
  const found = await read(few, rare.parameters, ", found");
  return Number(found[0]?.["found"] ?? 0) <= FEW_MAX ? found : read(traces, rare.parameters);
}

/** Estimates are rough: days must have this many pages. */
const PAGES = 2;

/** postgres/query.5 */
async function readTagged(sql: Sql, read: Read, tagged: Conditions, limit: number): Promise<readonly Row[]> {
  const { where, parameters } = tagged;
  const traces = (more = ""): string => `SELECT ${COLUMNS} FROM holdpoint_traces.traces ${where} ${more}`;
  const next = `$${parameters.length + 1}`;
  const day = await chooseDay(sql, tagged, limit);
  if (day === null) return read(traces(), parameters);
  const [page, [before]] = await Promise.all([
    read(traces(`AND day >= ${next}::date`), [...parameters, day]),
    sql.all("SELECT max(started) AS newest FROM holdpoint_traces.traces WHERE day < $1::date", day),
  ]);
  const end = page[limit];
  if (end === undefined) return read(traces(), parameters);
  const started = Number(end["started"]);
  if (Number(before?.["newest"] ?? 0) < started) return page;
  return read(traces(`AND started >= ${next}`), [...parameters, started]);
}

/** @returns the day from which on there are enough; null where that is most of the days */
async function chooseDay(sql: Sql, { where, parameters }: Conditions, limit: number): Promise<string | null> {
  const days = await estimateDays(sql, where, parameters);
  let found = 0;
  const at = days.findIndex(({ traces }) => (found += traces) > PAGES * limit);
  return 2 * (at + 1) <= days.length ? (days[at]?.day ?? null) : null;
}

/** One partition of the traces: 20261128. */
interface DayEstimate {
  readonly day: string;
  readonly traces: number;
}

interface Plan {
  readonly "Relation Name"?: string;
  readonly "Plan Rows": number;
  readonly Plans?: readonly Plan[];
}

/** How many traces match on each day, as the statistics of the tables have it; newest first. */
async function estimateDays(
  sql: Sql,
  where: string,
  parameters: readonly Parameter[],
): Promise<readonly DayEstimate[]> {
  const text = `EXPLAIN (FORMAT JSON) SELECT 1 FROM holdpoint_traces.traces ${where}`;
  const [row] = await sql.all(text, ...parameters);
  const found: unknown = row?.["QUERY PLAN"];
  const [{ Plan }] = (typeof found === "string" ? JSON.parse(found) : found) as readonly [{ readonly Plan: Plan }];
  return listDays(Plan).toSorted((one, other) => (one.day < other.day ? 1 : -1));
}

const listDays = ({ "Relation Name": name, "Plan Rows": traces, Plans = [] }: Plan): readonly DayEstimate[] =>
  name === undefined ? Plans.flatMap(listDays) : [{ day: name.slice(-8), traces }];

/** A word is common beside one that this many times fewer traces have. */
const TIMES_RARER = 10;

/** postgres/query.4 */
async function chooseRare(sql: Sql, words: readonly string[]): Promise<readonly string[]> {
  if (words.length < 2) return words;
  const counts = await Promise.all(words.map((word) => estimateTraces(sql, word)));
  const most = TIMES_RARER * Math.min(...counts);
  return words.filter((_word, at) => (counts[at] ?? 0) <= most);
}

/** The word whole, too: of beginnings PostgreSQL tells nothing while fewer than 100 words are common. */
async function estimateTraces(sql: Sql, word: string): Promise<number> {
  const days = await estimateDays(sql, "WHERE words @@ $1::tsquery", [`${formatQuery([word])} | '${word}'`]);
  return days.reduce((sum, { traces }) => sum + traces, 0);
}

/** search-words.1 */
const formatQuery = (words: readonly string[]): string =>
  words.map((word) => `'${word}'${isPrefix(word) ? ":*" : ""}`).join(" & ");

/** The type of dates is no text for the driver. */
export const DAY = "day::text AS day";

/** From one name to the next, over the index. */
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

/** For readFileSizes(). */
export const FILE_SIZE = `octet_length(bytes) AS bytes, substring(bytes FROM 1 FOR ${HEAD_BYTES}) AS head`;

const STORY_RUNS = `SELECT run_id, trace_id, dotted_order, facts, type, ${OUTPUT_SIZE}
  FROM holdpoint_traces.runs`;

interface TraceDay {
  readonly traceId: string;
  readonly day: string;
}

/** The runs of a trace in tree order, but for those that do not open. */
export async function readStory(sql: Sql, cells: SealedCells, at: TraceDay): Promise<readonly StoryRun[]> {
  const text = `${STORY_RUNS} WHERE trace_id = $1 AND day = $2 ORDER BY dotted_order`;
  const rows = await sql.all(text, at.traceId, at.day);
  return readOpened(rows, (row) => toStoryRun(cells.open("runs", row)));
}

async function findFinal(sql: Sql, cells: SealedCells, at: TraceDay): Promise<Row | null> {
  const id = finalOutputRun(await readStory(sql, cells, at));
  if (id === null) return null;
  const read = "SELECT run_id, trace_id, main, outputs FROM holdpoint_traces.runs WHERE run_id = $1 AND day = $2";
  const [row] = await sql.all(read, id, at.day);
  return row === undefined ? null : readNamed(cells.open("runs", row));
}

interface Conditions {
  readonly where: string;
  /** The condition of the cursor alone. */
  readonly before: string;
  readonly parameters: readonly Parameter[];
  readonly isTagged: boolean;
}

/** @param rare those of the words that the index finds */
function buildConditions(search: TraceSearch, rare: readonly string[]): Conditions {
  const conditions: string[] = [];
  const parameters: Parameter[] = [];
  if (search.cursor !== null) {
    conditions.push("(started, trace_id) < ($1, $2)");
    parameters.push(search.cursor.started, search.cursor.traceId);
  }
  const before = toWhere(conditions);
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
  const common = search.words.filter((word) => !rare.includes(word));
  if (rare.length > 0) add("words @@ ?::tsquery", formatQuery(rare));
  if (common.length > 0) add("(words @@ ?::tsquery) IS TRUE", formatQuery(common)); // no index takes this form
  return { where: toWhere(conditions), before, parameters, isTagged: tags.length > 0 };
}

const toWhere = (conditions: readonly string[]): string =>
  conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
