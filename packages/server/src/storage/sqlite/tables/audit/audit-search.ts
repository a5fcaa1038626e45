// Words of a search of the audit trail in SQLite (../../../cold/audit-search.ts). Few matching documents name the
// threads to read; with many, each entry of the window is looked up among them.
import type { AuditDialect } from "../../../cold/audit-search.ts";
import type { Database } from "../../client/database.ts";
import { isMatch, buildMatch } from "../search/search-match.ts";

/** The threads of a few matching documents. */
const FOUND = `(SELECT DISTINCT d.thread_id FROM search_words AS w CROSS JOIN search_documents AS d ON d.doc_id = w.rowid
  WHERE w.search_words MATCH ?) AS f CROSS JOIN`;
const IS_FOUND = isMatch("a.thread_id", "coalesce(a.interrupt_id, '')");

export function createDialect(db: Database): AuditDialect {
  return {
    matchWords(words) {
      const { text = "", isFew = false } = buildMatch(db, words, null) ?? {};
      const values = [text];
      return { condition: { sql: IS_FOUND, values }, first: isFew ? { sql: FOUND, values } : null, isIndexed: isFew };
    },
    oneRow: ({ table, alias, key }) => `${table} AS ${alias} ON ${key}`,
  };
}
