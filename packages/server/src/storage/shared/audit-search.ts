// Audit search: the SQL of a page of the audit trail over all threads, with a `?` for each value.
// Invariants:
//   audit-search.1. A page reads at most `scanMax` entries in order of time, so a rare word delays no other call. It ends
//        there, and the next one continues.
//   audit-search.2. The order is total: time, thread, number; newest first.
import type { EndedBy, InterruptKind, RunStatus } from "../../model/model.ts";
import type { AuditPlace, AuditQuery, AuditRecord, AuditRows } from "../../ports/ports.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { metadataConditions } from "./metadata-filter.ts";

type Value = string | number;

export interface SqlPart {
  readonly sql: string;
  readonly values: readonly Value[];
}

export interface AuditDialect {
  readonly schema: "" | "holdpoint.";
  /** Whether JSON of the metadata contains a part. */
  readonly contains: (part: string) => SqlPart;
  /** Whether a member has one of several index texts. */
  readonly oneOf: (texts: readonly string[]) => SqlPart;
  /** Whether the words of a search occur in the item of an entry. */
  readonly matches: (words: readonly string[]) => SqlPart;
  /** The right side of a LEFT JOIN that is looked up for each entry. */
  readonly oneRow: (joined: Joined) => string;
}

/** The last entry that a page may read; no row if it may read all. */
export function windowEnd(query: AuditQuery, { schema }: AuditDialect): SqlPart {
  const { sql, values } = buildRange(query);
  return {
    sql: `SELECT at, thread_id, seq FROM ${schema}audit AS a WHERE ${sql}
      ORDER BY at DESC, thread_id DESC, seq DESC LIMIT 1 OFFSET ?`,
    values: [...values, query.scanMax - 1],
  };
}

const ITEM_UNITS_MAX = 100_000;

/** A table of which an entry has at most one row. */
export interface Joined {
  readonly table: string;
  readonly alias: string;
  readonly columns: string;
  readonly key: string;
}

const INTERRUPT: Joined = {
  table: "interrupts",
  alias: "i",
  columns: "graph_id, assistant_id, node, kind, response_schema, value",
  key: "i.thread_id = a.thread_id AND i.interrupt_id = a.interrupt_id",
};
const RUN: Joined = { table: "runs", alias: "r", columns: "status, ended_by", key: "r.run_id = a.run_id" };

/** @param columns of the table `a` @param end audit-search.1 @param first threads `f` to begin with, in place of the time */
export function searchPage(
  query: AuditQuery,
  {
    columns,
    end,
    first = null,
  }: { readonly columns: string; readonly end: AuditPlace | null; readonly first?: SqlPart | null },
  dialect: AuditDialect,
): SqlPart {
  const { schema } = dialect;
  const parts = [buildRange(query), ...buildFilters(query, dialect)];
  if (first !== null) parts.push({ sql: "a.thread_id = f.thread_id", values: [] });
  if (end !== null) parts.push({ sql: `${PLACE} >= (?, ?, ?)`, values: listPlaceValues(end) });
  return {
    sql: `SELECT ${columns}, i.graph_id, i.assistant_id, i.node, i.kind, i.response_schema,
        CASE WHEN octet_length(i.value) <= ${ITEM_UNITS_MAX} THEN i.value END AS item_value,
        r.status AS run_status, r.ended_by
      FROM ${first?.sql ?? ""} ${schema}audit AS a JOIN ${schema}threads AS t ON t.thread_id = a.thread_id
      LEFT JOIN ${dialect.oneRow(INTERRUPT)} LEFT JOIN ${dialect.oneRow(RUN)}
      WHERE ${parts.map(({ sql }) => sql).join(" AND ")}
      ORDER BY a.at DESC, a.thread_id DESC, a.seq DESC LIMIT ?`,
    values: [...(first?.values ?? []), ...parts.flatMap(({ values }) => values), query.limit + 1],
  };
}

const PLACE = "(a.at, a.thread_id, a.seq)";
const listPlaceValues = ({ at, threadId, seq }: AuditPlace): readonly Value[] => [at, threadId, seq];

/** Conditions on the index in order of time. */
function buildRange({ after, since, until, threadId }: AuditQuery): SqlPart {
  const parts: SqlPart[] = [{ sql: "a.at >= ?", values: [since ?? 0] }];
  if (until !== null) parts.push({ sql: "a.at < ?", values: [until] });
  if (threadId !== null) parts.push({ sql: "a.thread_id = ?", values: [threadId] });
  if (after !== null) parts.push({ sql: `${PLACE} < (?, ?, ?)`, values: listPlaceValues(after) }); // audit-search.2
  return { sql: parts.map(({ sql }) => sql).join(" AND "), values: parts.flatMap(({ values }) => values) };
}

function buildFilters(query: AuditQuery, dialect: AuditDialect): readonly SqlPart[] {
  const { schema } = dialect;
  const parts: SqlPart[] = [];
  const equals = (column: string, value: string | null): void => {
    if (value !== null) parts.push({ sql: `${column} = ?`, values: [value] });
  };
  equals("a.by", query.by);
  equals("a.via", query.via);
  equals("i.graph_id", query.graphId);
  equals("i.assistant_id", query.assistantId);
  if (query.actions.length > 0) {
    parts.push({ sql: `a.action IN (${query.actions.map(() => "?").join(", ")})`, values: query.actions });
  }
  if (query.search.length > 0) parts.push(dialect.matches(query.search));
  const { indexed, oneOf, rest } = metadataConditions(query.scope, null);
  const member = (sql: string): string =>
    `EXISTS (SELECT 1 FROM ${schema}thread_metadata AS m WHERE m.thread_id = a.thread_id AND m.key = ? AND ${sql})`;
  for (const { key, text } of indexed) parts.push({ sql: member("m.value = ?"), values: [key, text] });
  for (const { key, texts } of oneOf) {
    const { sql, values } = dialect.oneOf(texts);
    parts.push({ sql: member(`m.value ${sql}`), values: [key, ...values] });
  }
  parts.push(...rest.map(dialect.contains));
  return parts;
}

type Cells = Readonly<Record<string, unknown>>;

/** The rows of a page as entries with their item and run. */
export function foundPage<Row extends Cells>(
  query: AuditQuery,
  rows: readonly Row[],
  {
    end,
    readRecord,
    readValue,
  }: {
    readonly end: AuditPlace | null;
    readonly readRecord: (row: Row) => AuditRecord;
    readonly readValue: (text: string) => Json;
  },
): AuditRows {
  const found = rows.slice(0, query.limit).map((row) => ({
    entry: readRecord(row),
    item: toItem(row, readValue),
    run:
      typeof row["run_status"] === "string"
        ? { status: row["run_status"] as RunStatus, endedBy: row["ended_by"] as EndedBy | null }
        : null,
  }));
  const last = found.at(-1)?.entry;
  return { rows: found, next: rows.length > query.limit && last !== undefined ? last : end };
}

function toItem(row: Cells, readValue: (text: string) => Json): AuditRows["rows"][number]["item"] {
  const { graph_id: graphId, assistant_id: assistantId, node, kind, item_value: value, response_schema: schema } = row;
  if (typeof kind !== "string") return null;
  return {
    graphId: String(graphId),
    assistantId: String(assistantId),
    node: String(node),
    kind: kind as InterruptKind,
    value: typeof value === "string" ? readValue(value) : null,
    isLong: value === null,
    responseSchema: typeof schema === "string" ? (JSON.parse(schema) as JsonObject) : null,
  };
}
