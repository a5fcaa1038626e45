// Rows: columns ↔ the model's fields (columns.ts), for reads and writes.
// A JSON column holds text that JSON.parse accepts, with NUL and lone surrogates escaped.
import type { SQLInputValue } from "node:sqlite";
import type { ColumnKind, Columns } from "../../../shared/columns.ts";
import type { Database, Row } from "../../client/database.ts";
import type { Kept, KeptRow } from "../../client/kept-rows.ts";

export interface KeyedRow {
  readonly keyColumn: string;
  readonly key: string;
  /** A further condition, of constant text. */
  readonly also?: string;
  /** Where the row is kept under its key. */
  readonly kept?: Kept<KeptRow>;
}

export interface Table<T> {
  readonly columns: string;
  readonly read: (db: Database, row: Row) => T;
  /** @returns the cells of the new rows, as a SELECT of the columns would without encryption */
  insert(db: Database, values: readonly T[], conflict?: string): readonly KeptRow[];
  /** @returns the number of changed rows */
  update(db: Database, row: KeyedRow, patch: Partial<T>): number;
}

/** Rows of one INSERT: more save little, and every count needs its own statement. */
const ROWS_PER_INSERT_MAX = 8;

export function table<T extends object>(name: string, columns: Columns<T>): Table<T> {
  const fields = Object.entries(columns) as [keyof T & string, readonly [string, ColumnKind]][];
  const list = fields.map(([, [column]]) => column).join(", ");
  const marks = `(${fields.map(() => "?").join(", ")})`;
  const inserts = Array.from(
    { length: ROWS_PER_INSERT_MAX + 1 },
    (_, rows) => `INTO ${name} (${list}) VALUES ${Array.from({ length: rows }, () => marks).join(", ")}`,
  );
  const bind = (kind: ColumnKind, value: unknown): SQLInputValue => {
    if (kind === "value") return JSON.stringify(value ?? null);
    return value === null || value === undefined
      ? null
      : kind === "json"
        ? JSON.stringify(value)
        : (value as SQLInputValue);
  };
  return {
    columns: list,
    read({ sealing }, row) {
      const value: Record<string, unknown> = {};
      for (const [field, [column, kind]] of fields) {
        const cell = sealing.open(name, column, row, row[column]);
        value[field] = kind !== "plain" && typeof cell === "string" ? JSON.parse(cell) : cell;
      }
      return value as T;
    },
    insert(db, values, conflict = "INSERT") {
      const inserted: KeptRow[] = [];
      for (let from = 0; from < values.length; from += ROWS_PER_INSERT_MAX) {
        const rows = values.slice(from, from + ROWS_PER_INSERT_MAX);
        const parameters: SQLInputValue[] = [];
        for (const value of rows) {
          const cells: Record<string, SQLInputValue> = {};
          for (const [field, [column, kind]] of fields) cells[column] = bind(kind, value[field]);
          for (const [, [column]] of fields)
            parameters.push(db.sealing.seal(name, column, cells, cells[column] ?? null));
          inserted.push(cells);
        }
        db.run(`${conflict} ${inserts[rows.length]}`, ...parameters);
      }
      return inserted;
    },
    update(db, { keyColumn, key, also = "", kept }, patch) {
      const sets: string[] = [];
      const cells: Record<string, SQLInputValue> = {};
      const parameters: SQLInputValue[] = [];
      for (const [field, [column, kind]] of fields) {
        if (!(field in patch)) continue;
        sets.push(`${column} = ?`);
        const cell = (cells[column] = bind(kind, patch[field]));
        parameters.push(db.sealing.seal(name, column, { [keyColumn]: key }, cell));
      }
      if (sets.length === 0) return 0;
      const sql = `UPDATE ${name} SET ${sets.join(", ")} WHERE ${keyColumn} = ? ${also}`;
      const changed = db.run(sql, ...parameters, key);
      const before = kept?.get(key);
      if (changed > 0 && before !== undefined) kept?.set(key, { ...before, ...cells });
      return changed;
    },
  };
}
