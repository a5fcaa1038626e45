// Dump of a SQLite storage: rows out in the order of their keys, rows in by one transaction (../dump.ts).
import type { SQLInputValue } from "node:sqlite";
import type { DumpPort, DumpRow, DumpValue } from "../dump.ts";
import type { DumpTable } from "../dump-tables.ts";
import type { Database } from "./database.ts";

export function createDump(db: Database): DumpPort {
  return {
    read({ name, key, columns }, after, limit) {
      const keys = key.join(", ");
      const behind = after === null ? "" : `WHERE (${keys}) > (${key.map(() => "?").join(", ")})`;
      const rows = db.all(
        `SELECT ${Object.keys(columns).join(", ")} FROM ${name} ${behind} ORDER BY ${keys} LIMIT ?`,
        ...(after ?? []).map(bound),
        limit,
      );
      return rows.map((row): DumpRow => {
        const flags = Object.keys(columns).filter((column) => columns[column] === "boolean");
        return { ...row, ...Object.fromEntries(flags.map((column) => [column, row[column] === 1])) } as DumpRow;
      });
    },
    async load(rows) {
      db.exec("BEGIN IMMEDIATE");
      try {
        for await (const [table, row] of rows) insert(db, table, row);
        db.exec("COMMIT");
      } catch (error) {
        if (db.inTransaction()) db.exec("ROLLBACK");
        throw error;
      }
    },
  };
}

/** Columns that a row does not have get what a migration gives to rows from before. */
function insert(db: Database, { name, columns }: DumpTable, row: DumpRow): void {
  const given = Object.keys(columns).filter((column) => Object.hasOwn(row, column));
  const places = given.map(() => "?").join(", ");
  const values = given.map((column) => bound(row[column] ?? null));
  db.run(`INSERT INTO ${name} (${given.join(", ")}) VALUES (${places})`, ...values);
}

function bound(value: DumpValue): SQLInputValue {
  return typeof value === "boolean" ? Number(value) : value;
}
