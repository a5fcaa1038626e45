// Search of the audit trail in PostgreSQL (../../../shared/audit-search.ts).
import type { AuditRecord, AuditTx } from "../../../../ports/ports.ts";
import { foundPage, searchPage, windowEnd, type AuditDialect, type SqlPart } from "../../../shared/audit-search.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Row } from "../../client/pool.ts";
import { toJsonText } from "../../client/text-encoding.ts";
import type { Sql } from "../../client/transaction.ts";
import { isMatch, searchText } from "../search/search.ts";

const POSTGRES: AuditDialect = {
  schema: "holdpoint.",
  contains: (part) => ({ sql: "t.metadata::jsonb @> ?::jsonb", values: [toJsonText(part)] }),
  oneOf: (texts) => ({
    sql: "IN (SELECT value FROM jsonb_array_elements_text(?::jsonb))",
    values: [JSON.stringify(texts)],
  }),
  matches: (words) => ({
    sql: isMatch("a.thread_id", "coalesce(a.interrupt_id, '')", "?"),
    values: [searchText(words)],
  }),
  oneRow: ({ table, alias, columns, key }) =>
    `LATERAL (SELECT ${columns} FROM holdpoint.${table} AS ${alias} WHERE ${key} LIMIT 1) AS ${alias} ON TRUE`,
};

/** @param columns of an entry, in the table `a` */
export function searchVerb(
  db: Sql,
  columns: string,
  readRecord: (row: Row) => AuditRecord,
): Pick<AuditTx, "searchAudit"> {
  const all = ({ sql, values }: SqlPart): Promise<readonly Row[]> => {
    let at = 0;
    return db.all(
      sql.replace(/\?/g, () => `$${++at}`),
      ...values,
    );
  };
  return {
    async searchAudit(query) {
      // The index of the words finds rare ones without a window.
      const [last] = query.search.length > 0 ? [] : await all(windowEnd(query, POSTGRES));
      const end =
        last === undefined
          ? null
          : { at: Number(last["at"]), threadId: String(last["thread_id"]), seq: Number(last["seq"]) };
      const rows = await all(searchPage(query, { columns, end }, POSTGRES));
      return foundPage(query, rows, { end, readRecord, readValue });
    },
  };
}

const readValue = (text: string): Json => JSON.parse(text) as Json;
