// Faults of PostgreSQL, at the wire: `pg`'s connection is patched. A failing statement is replaced by one that the
// database itself refuses, as with a full disk or a failed write, so that the product meets PostgreSQL's own error and
// its aborted transaction. Only the storage's statements have points: they are bound by name.
import { Connection } from "pg";
import { Transaction, type Points } from "./transaction-labels.ts";
import { wrap } from "./wrap.ts";

/** `disk_full` and `io_error`. */
const ERROR_CODES = { throw: "53100", eio: "58030", kill: "" };

interface Wire {
  /** Text of each statement that the connection knows, by name. */
  readonly texts: Map<string, string>;
  readonly transaction: Transaction;
}

const wires = new WeakMap<Connection, Wire>();

function wireOf(connection: Connection): Wire {
  let wire = wires.get(connection);
  if (wire === undefined) wires.set(connection, (wire = { texts: new Map(), transaction: new Transaction() }));
  return wire;
}

/** Without the schema and the count around a required change, as SQLite has it. */
function plain(sql: string): string {
  return sql
    .trim()
    .replace(/^WITH changed AS \(/, "")
    .replaceAll("holdpoint.", "");
}

export function install({ pass, rollbackFails }: Points): void {
  wrap(Connection.prototype, "parse", (connection, [statement], original) => {
    const { name, text } = statement as { readonly name?: string; readonly text: string };
    wireOf(connection).texts.set(name ?? "", plain(text));
    return original();
  });
  wrap(Connection.prototype, "bind", (connection, [config], original) => {
    const { statement, values } = config as { statement?: string; values?: readonly unknown[] };
    const { texts, transaction } = wireOf(connection);
    const sql = texts.get(statement ?? "") ?? "";
    if (sql === "BEGIN") transaction.begin();
    if (sql === "ROLLBACK" && rollbackFails()) connection.stream.destroy();
    const point = transaction.add(sql, values ?? []);
    const fault =
      (point === null ? null : pass(new Set([point]), values)) ??
      (sql === "COMMIT" ? pass(transaction.pointsOf("before"), transaction.bound) : null);
    if (fault !== null) {
      const refusal = `DO $$ BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '${ERROR_CODES[fault.action]}'; END $$`;
      connection.parse({ name: "", text: refusal, types: [] }, true);
      Object.assign(config as object, { statement: "", values: [] });
    }
    return original();
  });
  // The answer to a COMMIT is here, and nothing of the product has seen it.
  wrap(Connection.prototype, "emit", (connection, [event, message], original) => {
    const { text } = (message ?? {}) as { readonly text?: unknown };
    if (event === "commandComplete" && text === "COMMIT") {
      const { transaction } = wireOf(connection);
      pass(transaction.pointsOf("after"), transaction.bound);
    }
    return original();
  });
}
