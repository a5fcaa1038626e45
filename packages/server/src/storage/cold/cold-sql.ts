// Cold SQL: what the tables need that calls seldom touch, the same on both databases. A statement has a `?` for each
// value. SQLite answers at once, PostgreSQL later.
import type { Awaitable } from "../../ports/ports.ts";
import type { ColumnKind, Columns } from "../shared/columns.ts";
import type { Sealing } from "../shared/sealing.ts";

/** A list is for `isOneOf`, `isOneOfNumbers` and `containsOneOf`. */
export type Value = string | number | null | Uint8Array | readonly string[];
export type Row = Readonly<Record<string, unknown>>;

export interface ColdSql {
  /** Stands before the name of each table. */
  readonly schema: "" | "holdpoint.";
  readonly sealing: Sealing;
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
  /** The same for all that changes a thread or its rows. */
  holdThread(threadId: string): void;
  /** The next read sees what this process has written of a thread. */
  followThread(threadId: string): void;
  /** Any row may have changed. */
  dropKept(): void;
  /** The newest checkpoints of a thread have changed. */
  dropHeads(threadId: string): void;
  /** Conditions with a `?`. A column is one of a list of texts. */
  readonly isOneOf: (column: string) => string;
  /** The same for numbers, as texts. */
  readonly isOneOfNumbers: (column: string) => string;
  /** A JSON column has all of one of a list of JSON texts (`toSearched`). */
  readonly containsOneOf: (column: string) => string;
  readonly includesText: (column: string) => string;
  /** Joins a table whose rows are looked up in the order of those before. */
  readonly joinInOrder: string;
  /** The end of a query for rows that no other transaction works on. */
  readonly skipLocked: string;
  /** A condition with a `?`: a column with a JSON list has a text. */
  readonly listHas: (column: string) => string;
  /** A JSON column that conditions read, and back. */
  readonly toSearched: (json: string) => string;
  readonly fromSearched: (json: string) => string;
}

/** `searched` is JSON that conditions read; `flag` is a boolean. */
type Kind = ColumnKind | "searched" | "flag";

export interface ColdTable<T> {
  /** `SELECT … FROM table` with all columns. */
  readonly select: string;
  readonly columns: string;
  /** All columns, for a table under another name. */
  readonly chooseColumns: (alias: string) => string;
  readonly read: (row: Row) => T;
  readonly readOrNull: (row: Row | null) => T | null;
  /** @param conflict the end of the statement */
  insert(value: T, conflict?: string): void;
  /** Changes the row with this key. */
  patch(keyColumn: string, key: string, patch: Partial<T>): void;
  /** Removes rows and returns them. @param where conditions */
  remove(where: string, ...values: Value[]): Promise<readonly T[]>;
  /** The end of an insertion that replaces a row with the same key. */
  readonly replacing: (...key: readonly string[]) => string;
}

export function coldTable<T extends object>(sql: ColdSql, name: string, columns: Columns<T, Kind>): ColdTable<T> {
  const fields = Object.entries(columns) as [keyof T & string, readonly [string, Kind]][];
  const names = fields.map(([, [column]]) => column);
  const list = names.join(", ");
  const from = `${sql.schema}${name}`;
  const read = (row: Row): T => {
    const value: Record<string, unknown> = {};
    for (const [field, [column, kind]] of fields) {
      value[field] = readCell(sql, kind, sql.sealing.open(name, column, row, row[column]));
    }
    return value as T;
  };
  const insertion = `INSERT INTO ${from} (${list}) VALUES (${names.map(() => "?").join(", ")})`;
  return {
    columns: list,
    chooseColumns: (alias) => names.map((column) => `${alias}.${column}`).join(", "),
    select: `SELECT ${list} FROM ${from}`,
    read,
    readOrNull: (row) => (row === null ? null : read(row)),
    insert(value, conflict = "") {
      const row = Object.fromEntries(
        fields.map(([field, [column, kind]]) => [column, writeCell(sql, kind, value[field])]),
      );
      sql.run(`${insertion} ${conflict}`, ...Object.values(sql.sealing.sealRow(name, row)));
    },
    patch(keyColumn, key, patch) {
      const given = fields.filter(([field]) => field in patch);
      if (given.length === 0) return;
      const sets = given.map(([, [column]]) => `${column} = ?`).join(", ");
      const row = { [keyColumn]: key };
      const cells = given.map(([field, [column, kind]]) =>
        sql.sealing.seal(name, column, row, writeCell(sql, kind, patch[field])),
      );
      sql.run(`UPDATE ${from} SET ${sets} WHERE ${keyColumn} = ?`, ...cells, key);
    },
    async remove(where, ...values) {
      return (await sql.change(`DELETE FROM ${from} WHERE ${where} RETURNING ${list}`, ...values)).map(read);
    },
    replacing(...key) {
      const others = names.filter((column) => !key.includes(column));
      const sets = others.map((column) => `${column} = excluded.${column}`).join(", ");
      return `ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${sets}`;
    },
  };
}

/** The column `n` of the first row; 0 without one. */
export async function readNumber(sql: ColdSql, text: string, ...values: Value[]): Promise<number> {
  return Number((await sql.get(text, ...values))?.["n"] ?? 0);
}

function writeCell(sql: ColdSql, kind: Kind, value: unknown): Value {
  if (kind === "value") return JSON.stringify(value ?? null);
  if (value === null || value === undefined) return null;
  if (kind === "plain") return value as Value;
  if (kind === "flag") return Number(value);
  return kind === "json" ? JSON.stringify(value) : sql.toSearched(JSON.stringify(value));
}

function readCell(sql: ColdSql, kind: Kind, cell: unknown): unknown {
  if (kind === "flag") return Boolean(cell);
  if (kind === "plain" || typeof cell !== "string") return cell;
  return JSON.parse(kind === "searched" ? sql.fromSearched(cell) : cell) as unknown;
}
