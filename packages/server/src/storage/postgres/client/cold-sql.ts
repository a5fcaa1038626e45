// The SQL of cold tables on PostgreSQL.
import type { ColdSql } from "../../cold/cold-sql.ts";
import { fromJsonText, toJsonText } from "./text-encoding.ts";
import type { Sql } from "./transaction.ts";

export function createColdSql(db: Sql): ColdSql {
  return {
    schema: "holdpoint.",
    get: (sql, ...values) => db.get(numbered(sql), ...values),
    all: (sql, ...values) => db.all(numbered(sql), ...values),
    count: (sql, ...values) => db.count(numbered(sql), ...values),
    change: (sql, ...values) => db.change(numbered(sql), ...values),
    run: (sql, ...values) => db.run(numbered(sql), ...values),
    hold: (name) => db.hold(name),
    listHas: (column) => `jsonb_exists(${column}::jsonb, ?)`,
    toSearched: toJsonText,
    fromSearched: fromJsonText,
  };
}

const texts = new Map<string, string>();

/** `?` becomes `$1`, `$2` and so on. */
function numbered(sql: string): string {
  let text = texts.get(sql);
  if (text === undefined) {
    let at = 0;
    texts.set(sql, (text = sql.replace(/\?/g, () => `$${++at}`)));
  }
  return text;
}
