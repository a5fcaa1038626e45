// Dump of a SQLite storage: rows out in key order, rows in by one transaction (../dump/dump.ts).
import type { SQLInputValue } from "node:sqlite";
import type { DumpPort, DumpRow, DumpValue } from "../dump/dump.ts";
import type { DumpTable } from "../dump/dump-tables.ts";
import type { Database, Row } from "./client/database.ts";

export function createDump(db: Database): DumpPort {
  return {
    read({ name, key, columns }, after, limit) {
      const keys = key.join(", ");
      const behind = after === null ? "" : `WHERE (${keys}) > (${key.map(() => "?").join(", ")})`;
      const rows = db.all(
        `SELECT ${Object.keys(columns).join(", ")} FROM ${name} ${behind} ORDER BY ${keys} LIMIT ?`,
        ...(after ?? []).map(bind),
        limit,
      );
      return rows.map((row) => readRow(columns, db.sealing.openRow(name, row)));
    },
    async load(rows) {
      db.exec("BEGIN IMMEDIATE");
      try {
        for await (const [table, row] of rows) insert(db, table, row);
        db.exec("COMMIT");
        db.kept.dropAll();
      } catch (error) {
        if (db.inTransaction()) db.exec("ROLLBACK");
        throw error;
      }
    },
  };
}

function readRow(columns: DumpTable["columns"], row: Row): DumpRow {
  const cells = Object.entries(columns).map(([column, type]): readonly [string, DumpValue] => {
    const cell = row[column] as DumpValue;
    return [column, type === "boolean" ? cell === 1 : cell];
  });
  return Object.fromEntries(cells);
}

/** A missing column gets the default of its migration. */
function insert(db: Database, { name, columns }: DumpTable, row: DumpRow): void {
  const cells = db.sealing.sealRow(name, row);
  const given = Object.keys(columns).filter((column) => Object.hasOwn(row, column));
  const places = given.map(() => "?").join(", ");
  const values = given.map((column) => bind(cells[column] ?? null));
  db.run(`INSERT INTO ${name} (${given.join(", ")}) VALUES (${places})`, ...values);
}

const bind = (value: DumpValue): SQLInputValue => (typeof value === "boolean" ? Number(value) : value);
