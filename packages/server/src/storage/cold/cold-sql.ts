// Cold SQL: what the tables need that calls seldom touch, the same on both databases. A statement has a `?` for each
// value. SQLite answers at once, PostgreSQL later.
import type { Awaitable } from "../../ports/ports.ts";
import type { ColumnKind, Columns } from "../shared/columns.ts";

export type Value = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

export interface ColdSql {
  /** Stands before the name of each table. */
  readonly schema: "" | "holdpoint.";
  /** First row, or null. */
  get(sql: string, ...values: Value[]): Awaitable<Row | null>;
  all(sql: string, ...values: Value[]): Awaitable<readonly Row[]>;
  /** Changes rows. @returns their number */
  count(sql: string, ...values: Value[]): Awaitable<number>;
  /** Changes rows, and returns what the statement says. */
  change(sql: string, ...values: Value[]): Awaitable<readonly Row[]>;
  /** Changes rows; a failure appears at the commit. */
  run(sql: string, ...values: Value[]): void;
  /** No other transaction that holds this name runs until the commit. */
  hold(name: string): void;
  /** A condition with a `?`: a column with a JSON list has a text. */
  readonly listHas: (column: string) => string;
  /** A JSON column that conditions read, and back. */
  readonly toSearched: (json: string) => string;
  readonly fromSearched: (json: string) => string;
}

/** `searched` is JSON that conditions read. */
type Kind = ColumnKind | "searched";

export interface ColdTable<T> {
  /** `SELECT … FROM table` with all columns. */
  readonly select: string;
  /** All columns, for a table under another name. */
  readonly chooseColumns: (alias: string) => string;
  readonly read: (row: Row) => T;
  readonly readOrNull: (row: Row | null) => T | null;
  /** @param conflict the end of the statement */
  insert(value: T, conflict?: string): void;
  /** Removes rows and returns them. @param where conditions */
  remove(where: string, ...values: Value[]): Promise<readonly T[]>;
  /** The end of an insertion that replaces a row with the same key. */
  readonly replacing: (key: string) => string;
}

export function coldTable<T extends object>(sql: ColdSql, name: string, columns: Columns<T, Kind>): ColdTable<T> {
  const fields = Object.entries(columns) as [keyof T & string, readonly [string, Kind]][];
  const names = fields.map(([, [column]]) => column);
  const list = names.join(", ");
  const from = `${sql.schema}${name}`;
  const read = (row: Row): T => {
    const cells = fields.map(([field, [column, kind]]) => [field, readCell(sql, kind, row[column])] as const);
    return Object.fromEntries(cells) as T;
  };
  return {
    chooseColumns: (alias) => names.map((column) => `${alias}.${column}`).join(", "),
    select: `SELECT ${list} FROM ${from}`,
    read,
    readOrNull: (row) => (row === null ? null : read(row)),
    insert(value, conflict = "") {
      const marks = names.map(() => "?").join(", ");
      const cells = fields.map(([field, [, kind]]) => writeCell(sql, kind, value[field]));
      sql.run(`INSERT INTO ${from} (${list}) VALUES (${marks}) ${conflict}`, ...cells);
    },
    async remove(where, ...values) {
      return (await sql.change(`DELETE FROM ${from} WHERE ${where} RETURNING ${list}`, ...values)).map(read);
    },
    replacing(key) {
      const others = names.filter((column) => column !== key);
      return `ON CONFLICT (${key}) DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(", ")}`;
    },
  };
}

function writeCell(sql: ColdSql, kind: Kind, value: unknown): Value {
  if (kind === "value") return JSON.stringify(value ?? null);
  if (value === null || value === undefined) return null;
  if (kind === "plain") return value as Value;
  return kind === "json" ? JSON.stringify(value) : sql.toSearched(JSON.stringify(value));
}

function readCell(sql: ColdSql, kind: Kind, cell: unknown): unknown {
  if (kind === "plain" || typeof cell !== "string") return cell;
  return JSON.parse(kind === "searched" ? sql.fromSearched(cell) : cell) as unknown;
}
