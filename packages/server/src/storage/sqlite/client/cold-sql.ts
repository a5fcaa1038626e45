// The SQL of cold tables on the embedded database, which runs one transaction at a time.
import type { ColdSql, Value } from "../../cold/cold-sql.ts";
import type { Database } from "./database.ts";

export function createColdSql(db: Database): ColdSql {
  return {
    schema: "",
    sealing: db.sealing,
    get: (sql, ...values) => db.get(sql, ...values.map(bind)),
    all: (sql, ...values) => db.all(sql, ...values.map(bind)),
    count: (sql, ...values) => db.run(sql, ...values.map(bind)),
    change: (sql, ...values) => db.change(sql, ...values.map(bind)),
    run: (sql, ...values) => void db.run(sql, ...values.map(bind)),
    hold: () => undefined,
    holdThread: () => undefined,
    followThread: () => undefined,
    dropKept: () => db.kept.dropAll(),
    dropHeads: (threadId) => db.kept.heads.delete(threadId),
    isOneOf: (column) => `${column} IN (SELECT value FROM json_each(?))`,
    isOneOfNumbers: (column) => `${column} IN (SELECT CAST(value AS INTEGER) FROM json_each(?))`,
    containsOneOf: (column) => `EXISTS (SELECT 1 FROM json_each(?) AS part WHERE json_contains(${column}, part.value))`,
    includesText: (column) => `instr(${column}, ?) > 0`,
    joinInOrder: "CROSS JOIN",
    skipLocked: "",
    listHas: (column) => `EXISTS (SELECT 1 FROM json_each(${column}) AS one WHERE one.value = ?)`,
    toSearched: (json) => json,
    fromSearched: (json) => json,
  };
}

/** A list is JSON. */
const bind = (value: Value): string | number | null | Uint8Array =>
  typeof value === "object" && value !== null && !(value instanceof Uint8Array) ? JSON.stringify(value) : value;
