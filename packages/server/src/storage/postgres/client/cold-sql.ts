// The SQL of cold tables on PostgreSQL.
import type { ColdSql } from "../../cold/cold-sql.ts";
import { threadKey } from "./lock-key.ts";
import { fromJsonText, toJsonText } from "./text-encoding.ts";
import type { Sql } from "./transaction.ts";

export function createColdSql(db: Sql): ColdSql {
  return {
    schema: "holdpoint.",
    sealing: db.sealing,
    get: (sql, ...values) => db.get(numbered(sql), ...values),
    all: (sql, ...values) => db.all(numbered(sql), ...values),
    count: (sql, ...values) => db.count(numbered(sql), ...values),
    change: (sql, ...values) => db.change(numbered(sql), ...values),
    run: (sql, ...values) => db.run(numbered(sql), ...values),
    hold: (name) => db.hold(name),
    holdThread: (threadId) => db.hold(threadKey(threadId)),
    followThread: (threadId) => db.follow(threadKey(threadId)),
    dropKept: () => undefined,
    dropHeads: () => undefined,
    isOneOf: (column) => `${column} = ANY(?::text[])`,
    isOneOfNumbers: (column) => `${column} = ANY(?::bigint[])`,
    containsOneOf: (column) => `${column}::jsonb @> ANY(?::jsonb[])`,
    includesText: (column) => `strpos(${column}, ?) > 0`,
    joinInOrder: "JOIN",
    skipLocked: "FOR UPDATE SKIP LOCKED",
    listHas: (column) => `jsonb_exists(${column}::jsonb, ?)`,
    toSearched: toJsonText,
    fromSearched: fromJsonText,
  };
}

const TEXTS_MAX = 500;
const texts = new Map<string, string>();

/** `?` becomes `$1`, `$2` and so on. */
function numbered(sql: string): string {
  let text = texts.get(sql);
  if (text === undefined) {
    let at = 0;
    if (texts.size >= TEXTS_MAX) texts.clear(); // only unusual searches create new texts
    texts.set(sql, (text = sql.replace(/\?/g, () => `$${++at}`)));
  }
  return text;
}
