// Pool: connections with limits on every wait, and the conversion of values between JavaScript and PostgreSQL.
// Invariants:
//   - Every value reaches SQL as a bound parameter.
//   - A connection parses a statement once (pipelined-connection.ts): the number of statement texts has a limit.
//   - A transaction that its process abandons loses its connection, with every lock, after IDLE_IN_TRANSACTION_MS.
//   - Every wait ends: for a connection, a lock, a statement, and for an answer on a network that drops all packets.
//     The last limit is longer than those of the database.
//   pool.5. Behind a pooler of transactions a connection has no state of its own: its statements have no names, and each
//        transaction sets its limits itself.
import { type ClientBase, Pool, type PoolConfig } from "pg";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { connectionConfig, type DatabaseAddress, readStatementMs } from "./address.ts";
import { DatabaseClient } from "./database-client.ts";
import { fromText, toText } from "./text-encoding.ts";

export interface ConnectionOptions extends DatabaseAddress {
  /** Connections of this process. */
  readonly poolMax: number;
  readonly log: Log;
  /** Class of the connections; ours if absent. */
  readonly Client?: PoolConfig["Client"];
}

export type Parameter = string | number | boolean | null | Uint8Array | readonly string[];
export type Row = Readonly<Record<string, unknown>>;

/** Longest wait of a call for a connection. */
const CONNECT_TIMEOUT_MS = 5000;
const ANSWER_MARGIN_MS = 5000;
/** Limit for an answer on a connection outside the pool. */
export const ANSWER_TIMEOUT_MS = 35_000;
export const LOCK_TIMEOUT_MS = 15_000;
const IDLE_IN_TRANSACTION_MS = 5000;
/** Longest wait of a stopping process for the end of a connection. */
export const CLOSE_MS = 2000;
const IDLE_CONNECTION_MS = 30_000;

const OID = { bool: 16, bytea: 17, int8: 20, int2: 21, int4: 23, text: 25, float4: 700, float8: 701, numeric: 1700 };
const NUMBERS = new Set([OID.int8, OID.int2, OID.int4, OID.float4, OID.float8, OID.numeric]);

/** JavaScript numbers: counts and milliseconds fit. */
export function columnParser(oid: number): (cell: string) => unknown {
  if (oid === OID.text) return fromText;
  if (NUMBERS.has(oid)) return Number;
  if (oid === OID.bytea) return (hex) => Buffer.from(hex.slice(2), "hex");
  return oid === OID.bool ? (cell) => cell === "t" : (cell) => cell;
}

export function openPool(options: ConnectionOptions): Pool {
  const { uri, directUri = null, poolMax, log, Client = DatabaseClient } = options;
  const statementMs = readStatementMs(uri);
  const limits = {
    statement_timeout: statementMs,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  };
  const pool = new Pool({
    ...connectionConfig(options),
    Client,
    max: poolMax,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    query_timeout: statementMs === 0 ? ANSWER_TIMEOUT_MS : statementMs + ANSWER_MARGIN_MS,
    ...(directUri === null ? limits : {}),
    types: { getTypeParser: columnParser },
  });
  const lost = (error: Error): void => log.debug("connection_lost", { reason: describeError(error).message });
  pool.on("error", lost); // an idle one
  pool.on("connect", (client) => {
    client.on("error", lost); // one in use: its statements fail and report it
    if (directUri !== null) transactionLimits.set(client, limitTransaction(limits)); // pool.5
  });
  return pool;
}

const transactionLimits = new WeakMap<ClientBase, string>();

/** The statement that limits a transaction on this connection; null where the connection itself has the limits. */
export function findLimits(client: ClientBase): string | null {
  return transactionLimits.get(client) ?? null;
}

function limitTransaction(limits: Readonly<Record<string, number>>): string {
  const set = Object.entries(limits).map(([name, ms]) => `set_config('${name}', '${ms}', true)`);
  return `SELECT ${set.join(", ")}`;
}

const STATEMENTS_MAX = 500;
const names = new Map<string, string>();

/** Name under which connections keep the parsed statement; null above the limit. */
export function statementName(sql: string): string | null {
  let name = names.get(sql);
  if (name !== undefined) return name;
  if (names.size >= STATEMENTS_MAX) return null; // only unusual searches create new texts
  names.set(sql, (name = `holdpoint_${names.size}`));
  return name;
}

/** All statement texts so far, for EXPLAIN. */
export function statementTexts(): readonly string[] {
  return [...names.keys()];
}

/** A parameter in the form for the protocol. */
export function parameterText(parameter: Parameter): string | Buffer | null {
  if (typeof parameter === "string") return toText(parameter);
  if (parameter === null) return null;
  if (parameter instanceof Uint8Array) return Buffer.from(parameter.buffer, parameter.byteOffset, parameter.byteLength);
  if (typeof parameter !== "object") return String(parameter);
  return `{${parameter.map((text) => `"${toText(text).replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

/** UTF-16 units of their text. */
export function countUnits(parameters: readonly Parameter[]): number {
  let units = 0;
  for (const parameter of parameters) if (typeof parameter === "string") units += parameter.length;
  return units;
}
