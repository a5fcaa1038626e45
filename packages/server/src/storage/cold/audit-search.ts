// Audit search: a page of the audit trail over all threads.
// Invariants:
//   - A page reads at most `scanMax` entries in order of time, so a rare word delays no other call. It ends there, and
//     the next one continues.
//   - The order is total: time, thread, number; newest first.
import type { EndedBy, InterruptKind, RunStatus } from "../../model/model.ts";
import type { AuditPlace, AuditQuery, AuditRecord, AuditRows, AuditTx } from "../../ports/ports.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { metadataConditions } from "../shared/metadata-filter.ts";
import type { ColdSql, Row, Value } from "./cold-sql.ts";

export interface SqlPart {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** How a database finds the words of a search. */
export interface WordMatch {
  /** A condition on the item of an entry. */
  readonly condition: SqlPart;
  /** Few threads `f` to begin with, in place of the time. */
  readonly first: SqlPart | null;
  /** It finds rare words without a window. */
  readonly isIndexed: boolean;
}

export interface AuditDialect {
  readonly matchWords: (words: readonly string[]) => WordMatch;
  /** The right side of a LEFT JOIN that is looked up for each entry. */
  readonly oneRow: (joined: Joined) => string;
}

export interface AuditColumns {
  /** Columns of an entry, in the table `a`. */
  readonly columns: string;
  readonly readRecord: (row: Row) => AuditRecord;
}

export function searchVerb(sql: ColdSql, dialect: AuditDialect, entries: AuditColumns): Pick<AuditTx, "searchAudit"> {
  return {
    async searchAudit(query) {
      const match = query.search.length === 0 ? null : dialect.matchWords(query.search);
      const end = match?.isIndexed === true ? null : await findEnd(sql, query);
      const page = searchPage(query, { columns: entries.columns, end, match }, { sql, ...dialect });
      const rows = await sql.all(page.sql, ...page.values);
      return toPage(query, rows, { end, readRecord: entries.readRecord, sealing: sql.sealing });
    },
  };
}

/** The last entry that a page may read; null if it may read all. */
async function findEnd(sql: ColdSql, query: AuditQuery): Promise<AuditPlace | null> {
  const range = buildRange(query);
  const row = await sql.get(
    `SELECT at, thread_id, seq FROM ${sql.schema}audit AS a WHERE ${range.sql}
      ORDER BY at DESC, thread_id DESC, seq DESC LIMIT 1 OFFSET ?`,
    ...range.values,
    query.scanMax - 1,
  );
  return row === null ? null : { at: Number(row["at"]), threadId: String(row["thread_id"]), seq: Number(row["seq"]) };
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
  columns: "graph_id, assistant_id, node, kind, created_at, response_schema, value",
  key: "i.thread_id = a.thread_id AND i.interrupt_id = a.interrupt_id",
};
const RUN: Joined = { table: "runs", alias: "r", columns: "status, ended_by", key: "r.run_id = a.run_id" };

interface SearchedPage {
  readonly columns: string;
  readonly end: AuditPlace | null;
  readonly match: WordMatch | null;
}

type Dialect = Pick<AuditDialect, "oneRow"> & { readonly sql: ColdSql };

function searchPage(query: AuditQuery, { columns, end, match }: SearchedPage, { sql, oneRow }: Dialect): SqlPart {
  const { schema } = sql;
  const first = match?.first ?? null;
  const parts = [buildRange(query), ...buildFilters(query, sql)];
  if (first !== null) parts.push({ sql: "a.thread_id = f.thread_id", values: [] });
  if (match !== null) parts.push(match.condition);
  if (end !== null) parts.push({ sql: `${PLACE} >= (?, ?, ?)`, values: listPlaceValues(end) });
  return {
    sql: `SELECT ${columns}, i.graph_id, i.assistant_id, i.node, i.kind, i.created_at AS asked_at, i.response_schema,
        CASE WHEN octet_length(i.value) <= ${ITEM_UNITS_MAX} THEN i.value END AS item_value,
        r.status AS run_status, r.ended_by
      FROM ${first?.sql ?? ""} ${schema}audit AS a LEFT JOIN ${schema}threads AS t ON t.thread_id = a.thread_id
      LEFT JOIN ${oneRow(INTERRUPT)} LEFT JOIN ${oneRow(RUN)}
      WHERE ${parts.map((part) => part.sql).join(" AND ")}
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
  if (after !== null) parts.push({ sql: `${PLACE} < (?, ?, ?)`, values: listPlaceValues(after) });
  return { sql: parts.map(({ sql }) => sql).join(" AND "), values: parts.flatMap(({ values }) => values) };
}

function buildFilters(query: AuditQuery, { schema, isOneOf, containsOneOf, toSearched }: ColdSql): readonly SqlPart[] {
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
  const { indexed, oneOf, rest } = metadataConditions(query.scope, null);
  const member = (sql: string): string =>
    `EXISTS (SELECT 1 FROM ${schema}thread_metadata AS m WHERE m.thread_id = a.thread_id AND m.key = ? AND ${sql})`;
  for (const { key, text } of indexed) parts.push({ sql: member("m.value = ?"), values: [key, text] });
  for (const { key, texts } of oneOf) parts.push({ sql: member(isOneOf("m.value")), values: [key, texts] });
  for (const part of rest) parts.push({ sql: containsOneOf("t.metadata"), values: [[toSearched(part)]] });
  return parts;
}

/** The rows of a page as entries with their item and run. */
function toPage(
  query: AuditQuery,
  rows: readonly Row[],
  { end, readRecord, sealing }: Pick<SearchedPage, "end"> & Pick<AuditColumns, "readRecord"> & Pick<ColdSql, "sealing">,
): AuditRows {
  const found = rows.slice(0, query.limit).map((row) => ({
    entry: readRecord(row),
    item: toItem(sealing, row),
    run:
      typeof row["run_status"] === "string"
        ? { status: row["run_status"] as RunStatus, endedBy: row["ended_by"] as EndedBy | null }
        : null,
  }));
  const last = found.at(-1)?.entry;
  return { rows: found, next: rows.length > query.limit && last !== undefined ? last : end };
}

function toItem(sealing: ColdSql["sealing"], row: Row): AuditRows["rows"][number]["item"] {
  const { graph_id: graphId, assistant_id: assistantId, node, kind } = row;
  const value = sealing.open("interrupts", "value", row, row["item_value"]);
  const schema = sealing.open("interrupts", "response_schema", row, row["response_schema"]);
  if (typeof kind !== "string") return null;
  return {
    graphId: String(graphId),
    assistantId: String(assistantId),
    node: String(node),
    kind: kind as InterruptKind,
    createdAt: Number(row["asked_at"]),
    value: typeof value === "string" ? (JSON.parse(value) as Json) : null,
    isLong: value === null,
    responseSchema: typeof schema === "string" ? (JSON.parse(schema) as JsonObject) : null,
  };
}
