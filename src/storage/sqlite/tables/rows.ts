// Rows: columns ↔ the model's fields (columns.ts), for reads and writes.
// Invariant sqlite/rows.1: a JSON column holds text that JSON.parse accepts, with NUL and lone surrogates escaped.
import type { SQLInputValue } from "node:sqlite";
import type { ColumnKind, Columns } from "../../shared/columns.ts";
import type { Database, Row } from "../client/database.ts";

export interface KeyedRow {
  readonly keyColumn: string;
  readonly key: string;
  /** A further condition, of constant text. */
  readonly also?: string;
}

export interface Table<T> {
  readonly columns: string;
  readonly read: (row: Row) => T;
  insert(db: Database, values: readonly T[], conflict?: string): void;
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
    read(row) {
      const value: Record<string, unknown> = {};
      for (const [field, [column, kind]] of fields) {
        const cell = row[column];
        value[field] = kind !== "plain" && typeof cell === "string" ? JSON.parse(cell) : cell;
      }
      return value as T;
    },
    insert(db, values, conflict = "INSERT") {
      for (let from = 0; from < values.length; from += ROWS_PER_INSERT_MAX) {
        const rows = values.slice(from, from + ROWS_PER_INSERT_MAX);
        const parameters: SQLInputValue[] = [];
        for (const value of rows) for (const [field, [, kind]] of fields) parameters.push(bind(kind, value[field]));
        db.run(`${conflict} ${inserts[rows.length]}`, ...parameters);
      }
    },
    update(db, { keyColumn, key, also = "" }, patch) {
      const sets: string[] = [];
      const parameters: SQLInputValue[] = [];
      for (const [field, [column, kind]] of fields) {
        if (!(field in patch)) continue;
        sets.push(`${column} = ?`);
        parameters.push(bind(kind, patch[field]));
      }
      if (sets.length === 0) return 0;
      return db.run(`UPDATE ${name} SET ${sets.join(", ")} WHERE ${keyColumn} = ? ${also}`, ...parameters, key);
    },
  };
}
