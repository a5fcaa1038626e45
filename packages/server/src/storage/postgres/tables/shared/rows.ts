// Rows: columns ↔ the model's fields (columns.ts), for reads and writes.
// A JSON column holds text that JSON.parse accepts; PostgreSQL also reads a `searched` one.
import type { ColumnKind, Columns } from "../../../shared/columns.ts";
import type { Parameter, Row } from "../../client/pool.ts";
import type { Sql } from "../../client/transaction.ts";
import { fromJsonText, toJsonText } from "../../client/text-encoding.ts";

/** `searched` is JSON for SQL conditions; `searched-text` the same, passed as text. */
type Kind = ColumnKind | "searched" | "searched-text";

export type SearchedColumns<T> = Columns<T, Kind>;

export interface RequiredRow {
  readonly keyColumn: string;
  readonly key: string;
  /** A further condition, of constant text. */
  readonly also: string;
  readonly otherwise: () => Error;
}

export interface Table<T> {
  readonly columns: string;
  /** The same, for a table under another name. */
  readonly chooseColumns: (alias: string) => string;
  readonly read: (db: Sql, row: Row) => T;
  /** @param conflict the text after ON CONFLICT, if a conflict is no failure */
  insert(db: Sql, values: readonly T[], conflict?: string): void;
  patch(db: Sql, keyColumn: string, key: string, patch: Partial<T>): void;
  /** As patch(), for an existing row: without a match the transaction fails with `otherwise`. */
  require(db: Sql, row: RequiredRow, patch: Partial<T>): void;
  /** ON CONFLICT on these columns: the new row replaces the old one. */
  replacing(...key: readonly string[]): string;
}

/** Rows of one INSERT: more save little, and every count needs its own statement. */
const ROWS_PER_INSERT_MAX = 8;

export function table<T extends object>(name: string, columns: SearchedColumns<T>): Table<T> {
  const fields = Object.entries(columns) as [keyof T & string, readonly [string, Kind]][];
  const names = fields.map(([, [column]]) => column);
  const marks = (row: number): string => `(${fields.map((_, at) => `$${row * fields.length + at + 1}`).join(", ")})`;
  const inserts = Array.from(
    { length: ROWS_PER_INSERT_MAX + 1 },
    (_, rows) =>
      `INSERT INTO holdpoint.${name} (${names.join(", ")}) VALUES ${Array.from({ length: rows }, (__, row) => marks(row)).join(", ")}`,
  );
  const change = (
    { sealing }: Sql,
    { keyColumn, key, also = "" }: Pick<RequiredRow, "keyColumn" | "key"> & { readonly also?: string },
    patch: Partial<T>,
  ): readonly [string, Parameter[]] | null => {
    const row = { [keyColumn]: key };
    const sets: string[] = [];
    const parameters: Parameter[] = [];
    for (const [field, [column, kind]] of fields) {
      if (!(field in patch)) continue;
      parameters.push(sealing.seal(name, column, row, bind(kind, patch[field])));
      sets.push(`${column} = $${parameters.length}`);
    }
    if (sets.length === 0) return null;
    const where = `${keyColumn} = $${parameters.length + 1} ${also}`;
    return [`UPDATE holdpoint.${name} SET ${sets.join(", ")} WHERE ${where}`, parameters];
  };
  return {
    columns: names.join(", "),
    chooseColumns: (alias) => names.map((column) => `${alias}.${column}`).join(", "),
    read({ sealing }, row) {
      const value: Record<string, unknown> = {};
      for (const [field, [column, kind]] of fields)
        value[field] = parsed(kind, sealing.open(name, column, row, row[column]));
      return value as T;
    },
    insert(db, values, conflict) {
      for (let from = 0; from < values.length; from += ROWS_PER_INSERT_MAX) {
        const rows = values.slice(from, from + ROWS_PER_INSERT_MAX);
        const parameters: Parameter[] = [];
        for (const value of rows) {
          const row: Record<string, Parameter> = {};
          for (const [field, [column, kind]] of fields) row[column] = bind(kind, value[field]);
          parameters.push(...Object.values(db.sealing.sealRow(name, row)));
        }
        const insert = inserts[rows.length] ?? "";
        db.run(conflict === undefined ? insert : `${insert} ON CONFLICT ${conflict}`, ...parameters);
      }
    },
    patch(db, keyColumn, key, patch) {
      const found = change(db, { keyColumn, key }, patch);
      if (found !== null) db.run(found[0], ...found[1], key);
    },
    require(db, { keyColumn, key, also, otherwise }, patch) {
      const found = change(db, { keyColumn, key, also }, patch);
      if (found !== null) db.require(otherwise, found[0], ...found[1], key);
    },
    replacing(...key) {
      const others = names.filter((column) => !key.includes(column));
      return `(${key.join(", ")}) DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(", ")}`;
    },
  };
}

function bind(kind: Kind, value: unknown): Parameter {
  if (kind === "value") return JSON.stringify(value ?? null);
  if (value === null || value === undefined) return null;
  if (kind === "json") return JSON.stringify(value);
  if (kind === "searched") return toJsonText(JSON.stringify(value));
  return kind === "searched-text" ? toJsonText(value as string) : (value as Parameter);
}

function parsed(kind: Kind, cell: unknown): unknown {
  if (kind === "plain" || typeof cell !== "string") return cell;
  if (kind === "searched-text") return fromJsonText(cell);
  return JSON.parse(kind === "searched" ? fromJsonText(cell) : cell);
}
