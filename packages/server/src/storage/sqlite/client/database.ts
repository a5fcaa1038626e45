// Database: one SQLite connection with a statement cache, kept rows, and a count of written bytes.
// Invariants:
//   - Every value reaches SQL as a bound parameter.
//   client/database.3. What is deleted is overwritten with zeros, in the next pages of the log and then in the file.
//   client/database.2. An acknowledged transaction survives kill -9 and power loss: WAL with synchronous=FULL.
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { PLAIN, type Sealing } from "../../shared/sealing.ts";
import { createKeptRows, type KeptRows } from "./kept-rows.ts";

export type Row = Record<string, unknown>;
/** Argument of a custom SQL function. */
export type SqlValue = string | number | null | Uint8Array;

export interface Database {
  /** First row, or null. */
  get(sql: string, ...parameters: SQLInputValue[]): Row | null;
  all(sql: string, ...parameters: SQLInputValue[]): Row[];
  /** Writes; returns the number of changed rows. */
  run(sql: string, ...parameters: SQLInputValue[]): number;
  /** As run(); returns the rows of its RETURNING. */
  change(sql: string, ...parameters: SQLInputValue[]): Row[];
  exec(sql: string): void;
  /** Called before each write; a group commit sets its savepoints there. */
  onWrite(callback: (() => void) | null): void;
  readonly inTransaction: () => boolean;
  readonly kept: KeptRows;
  readonly sealing: Sealing;
  /** Threads that changed since the search index looked at them; a rolled back change may be among them. */
  readonly changed: Set<string>;
  /** UTF-16 units of text bound to writes since the start. */
  readonly boundUnits: () => number;
  defineFunction(name: string, body: (...parameters: SqlValue[]) => number | null): void;
  close(): void;
}

const PAGE_CACHE_KIBIBYTES = 8192;
/** Page size of new files. A commit logs whole pages, and most rows are small: a quarter of the default logs half the bytes. */
const PAGE_BYTES = 1024;
/** The write-ahead log locks readers out only while it begins anew. */
const BUSY_MS = 1000;
const STATEMENTS_MAX = 500;
/** SQLite plans a statement again whenever a bare parameter of LIMIT is bound: that took longer than most searches. */
const PLANNED_ONCE = "LIMIT ? + 0";

/** For reads beside the connection that writes. */
export function openReadOnly(path: string, sealing: Sealing): Database {
  const connection = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
  connection.exec(`PRAGMA cache_size = -${PAGE_CACHE_KIBIBYTES}; PRAGMA temp_store = MEMORY;`);
  return createDatabase(connection, sealing);
}

export function openDatabase(path: string, sealing: Sealing = PLAIN): Database {
  const connection = new DatabaseSync(path);
  connection.exec(`
    PRAGMA page_size = ${PAGE_BYTES};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA cache_size = -${PAGE_CACHE_KIBIBYTES};
    PRAGMA temp_store = MEMORY;
    PRAGMA foreign_keys = OFF;
    PRAGMA secure_delete = ON;
  `);
  return createDatabase(connection, sealing);
}

function createDatabase(connection: DatabaseSync, sealing: Sealing): Database {
  const [reads, writes] = [new Map<string, StatementSync>(), new Map<string, StatementSync>()];
  let boundUnits = 0;
  let beforeWrite: (() => void) | null = null;
  const prepared = (statements: Map<string, StatementSync>, sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      if (statements.size >= STATEMENTS_MAX) statements.clear(); // only unusual searches create new texts
      statement = connection.prepare(sql.replaceAll("LIMIT ?", PLANNED_ONCE));
      // Every write reports the row id of the last insertion, and those inside FTS5 are larger than a number.
      if (statements === writes) statement.setReadBigInts(true);
      statements.set(sql, statement);
    }
    return statement;
  };
  return {
    get: (sql, ...parameters) => prepared(reads, sql).get(...parameters) ?? null,
    all: (sql, ...parameters) => prepared(reads, sql).all(...parameters),
    onWrite(callback) {
      beforeWrite = callback;
    },
    run(sql, ...parameters) {
      beforeWrite?.();
      for (const parameter of parameters) if (typeof parameter === "string") boundUnits += parameter.length;
      return Number(prepared(writes, sql).run(...parameters).changes);
    },
    change(sql, ...parameters) {
      beforeWrite?.();
      return prepared(reads, sql).all(...parameters);
    },
    exec: (sql) => connection.exec(sql),
    inTransaction: () => connection.isTransaction,
    kept: createKeptRows(),
    sealing,
    changed: new Set(),
    boundUnits: () => boundUnits,
    defineFunction(name, body) {
      connection.function(name, { deterministic: true, varargs: true }, (...parameters) =>
        body(...(parameters as SqlValue[])),
      );
    },
    close: () => connection.close(),
  };
}
