// Search of the audit trail in SQLite (../../../shared/audit-search.ts).
import type { AuditRecord, AuditTx } from "../../../../ports/ports.ts";
import { foundPage, searchPage, windowEnd, type AuditDialect, type SqlPart } from "../../../shared/audit-search.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Database, Row } from "../../client/database.ts";
import { isMatch, buildMatch } from "../search/search-match.ts";

const NO_CONDITION: SqlPart = { sql: "TRUE", values: [] };

/** The threads of a few matching documents. */
const FOUND = `(SELECT DISTINCT d.thread_id FROM search_words AS w CROSS JOIN search_documents AS d ON d.doc_id = w.rowid
  WHERE w.search_words MATCH ?) AS f CROSS JOIN`;
const IS_FOUND = isMatch("a.thread_id", "coalesce(a.interrupt_id, '')");

const SQLITE: AuditDialect = {
  schema: "",
  contains: (part) => ({ sql: "json_contains(t.metadata, ?)", values: [part] }),
  oneOf: (texts) => ({ sql: "IN (SELECT value FROM json_each(?))", values: [JSON.stringify(texts)] }),
  matches: () => NO_CONDITION, // searchVerb() has the match of each query
  oneRow: ({ table, alias, key }) => `${table} AS ${alias} ON ${key}`,
};

/** @param columns of an entry, in the table `a` */
export function searchVerb(
  db: Database,
  columns: string,
  readRecord: (row: Row) => AuditRecord,
): Pick<AuditTx, "searchAudit"> {
  const all = ({ sql, values }: SqlPart): Row[] => db.all(sql, ...values);
  return {
    searchAudit(query) {
      const match = buildMatch(db, query.search, null);
      const first = match?.isFew === true ? { sql: FOUND, values: [match.text] } : null;
      const matches = match === null ? NO_CONDITION : { sql: IS_FOUND, values: [match.text] };
      const [last] = first === null ? all(windowEnd(query, SQLITE)) : [];
      const end = last === undefined ? null : readPlace(last);
      const rows = all(searchPage(query, { columns, end, first }, { ...SQLITE, matches: () => matches }));
      return foundPage(query, rows, { end, readRecord, readValue });
    },
  };
}

const readPlace = (row: Row) => ({
  at: Number(row["at"]),
  threadId: String(row["thread_id"]),
  seq: Number(row["seq"]),
});

/** A value is a list of one item in its row. */
const readValue = (text: string): Json => (JSON.parse(text) as readonly Json[])[0] ?? null;
