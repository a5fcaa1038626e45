// Faults of the embedded database: its built-in module is patched, so a fault stands between the product and the disk.
import { DatabaseSync, StatementSync } from "node:sqlite";
import { Transaction, type Points } from "./transaction-labels.ts";
import { wrap } from "./wrap.ts";

/** SQLite's errors in Node: of a full disk, or of a failed write or sync of the file. */
class SqliteFault extends Error {
  readonly code = "ERR_SQLITE_ERROR";
  readonly errcode: number;
  constructor(isFileFault: boolean) {
    super(isFileFault ? "disk I/O error" : "database or disk is full");
    this.errcode = isFileFault ? 10 : 13;
  }
}

export function install({ pass, rollbackFails }: Points): void {
  const transaction = new Transaction();
  const passOrThrow: Points["pass"] = (points, threads) => {
    const fault = pass(points, threads);
    if (fault !== null) throw new SqliteFault(fault.action === "eio");
    return null;
  };
  /** One statement on its way to the database. */
  const passStatement = <T>(sql: string, parameters: readonly unknown[], execute: () => T): T => {
    if (sql === "BEGIN") transaction.begin();
    const point = transaction.add(sql, parameters);
    if (point !== null) passOrThrow(new Set([point]), parameters);
    if (sql === "COMMIT") passOrThrow(transaction.listPoints("before"), transaction.bound);
    if (sql === "ROLLBACK" && rollbackFails()) throw new SqliteFault(true);
    const result = execute();
    if (sql === "COMMIT") passOrThrow(transaction.listPoints("after"), transaction.bound);
    return result;
  };
  wrap(DatabaseSync.prototype, "exec", (_database, [sql], execute) => passStatement(String(sql), [], execute));
  wrap(StatementSync.prototype, "run", (statement, parameters, execute) =>
    passStatement(statement.sourceSQL, parameters, execute),
  );
}
