// The SQL of cold tables on the embedded database, which runs one transaction at a time.
import type { ColdSql } from "../../cold/cold-sql.ts";
import type { Database } from "./database.ts";

export function createColdSql(db: Database): ColdSql {
  return {
    schema: "",
    get: (sql, ...values) => db.get(sql, ...values),
    all: (sql, ...values) => db.all(sql, ...values),
    count: (sql, ...values) => db.run(sql, ...values),
    change: (sql, ...values) => db.change(sql, ...values),
    run: (sql, ...values) => void db.run(sql, ...values),
    hold: () => undefined,
    listHas: (column) => `EXISTS (SELECT 1 FROM json_each(${column}) AS one WHERE one.value = ?)`,
    toSearched: (json) => json,
    fromSearched: (json) => json,
  };
}
