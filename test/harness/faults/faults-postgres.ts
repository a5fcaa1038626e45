// Faults of PostgreSQL, at the wire: the writes of `pg`'s connection are patched. A failing statement is replaced by one that the
// database itself refuses, as with a full disk or a failed write, so that the product meets PostgreSQL's own error and
// its aborted transaction. Only the storage's statements have points: they are bound by name.
import { createRequire } from "node:module";
import { Connection } from "pg";
import { type Bind, listMessages, readBind } from "../postgres/packets.ts";
import { Transaction, type Points } from "./transaction-labels.ts";
import { wrap } from "./wrap.ts";

/** `disk_full` and `io_error`. */
const ERROR_CODES = { throw: "53100", eio: "58030", kill: "" };

const BIND = 0x42;
const { serialize } = createRequire(import.meta.url)("pg-protocol") as {
  readonly serialize: {
    parse(statement: { readonly text: string }): Buffer;
    bind(statement: { readonly values: readonly unknown[] }): Buffer;
  };
};

interface Wire {
  /** Text of each statement that the connection knows, by name. */
  readonly texts: Map<string, string>;
  readonly transaction: Transaction;
  patched: boolean;
}

const wires = new WeakMap<Connection, Wire>();

function findWire(connection: Connection): Wire {
  let wire = wires.get(connection);
  if (wire === undefined)
    wires.set(connection, (wire = { texts: new Map(), transaction: new Transaction(), patched: false }));
  return wire;
}

/** Without the schema and the count around a required change, as SQLite has it. */
function plain(sql: string): string {
  return sql
    .trim()
    .replace(/^WITH changed AS \(/, "")
    .replaceAll("holdpoint.", "");
}

/** Every Bind message, alone in its write or with the others of its packet, passes `findBindRefusal`. */
function patchWrites(
  connection: Connection,
  findBindRefusal: (connection: Connection, bind: Bind) => string | null,
): void {
  const wire = findWire(connection);
  if (wire.patched) return;
  wire.patched = true;
  wrap(connection.stream, "write", (_, parameters, original) => {
    const [chunk] = parameters;
    if (!(chunk instanceof Buffer) || chunk[0] !== BIND) return original();
    const messages = listMessages(chunk).flatMap((message) => {
      const bind = readBind(message);
      const refusal = bind === null ? null : findBindRefusal(connection, bind);
      return refusal === null ? [message] : [serialize.parse({ text: refusal }), serialize.bind({ values: [] })];
    });
    (parameters as unknown[])[0] = Buffer.concat(messages);
    return original();
  });
}

export function install({ pass, rollbackFails }: Points): void {
  /** @returns a statement that the database refuses, in place of this one; null: no fault */
  const findBindRefusal = (connection: Connection, { statement, values }: Bind): string | null => {
    const { texts, transaction } = findWire(connection);
    const sql = texts.get(statement) ?? "";
    if (sql === "BEGIN") transaction.begin();
    if (sql === "ROLLBACK" && rollbackFails()) connection.stream.destroy();
    const point = transaction.add(sql, values);
    const fault =
      (point === null ? null : pass(new Set([point]), values)) ??
      (sql === "COMMIT" ? pass(transaction.listPoints("before"), transaction.bound) : null);
    if (fault === null) return null;
    return `DO $$ BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '${ERROR_CODES[fault.action]}'; END $$`;
  };
  wrap(Connection.prototype, "parse", (connection, [statement], original) => {
    const { name, text } = statement as { readonly name?: string; readonly text: string };
    patchWrites(connection, findBindRefusal);
    findWire(connection).texts.set(name ?? "", plain(text));
    return original();
  });
  // The answer to a COMMIT is here, and nothing of the product has seen it.
  wrap(Connection.prototype, "emit", (connection, [event, message], original) => {
    const { text } = (message ?? {}) as { readonly text?: unknown };
    if (event === "commandComplete" && text === "COMMIT") {
      const { transaction } = findWire(connection);
      pass(transaction.listPoints("after"), transaction.bound);
    }
    return original();
  });
}
