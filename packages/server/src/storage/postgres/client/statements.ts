// Statements: the connection, the turn and the statements of one transaction. The first lock or write opens the
// transaction; statements that come before its connection are sent as soon as there is one.
import type { Pool, PoolClient } from "pg";
import type { Clock } from "@holdpoint/base/clock.ts";
import { nothingWritten } from "./errors.ts";
import { LOCK } from "./lock-key.ts";
import type { LockQueue } from "./lock-queue.ts";
import { type Answer, findPipeline } from "./pipelined-connection.ts";
import { type Parameter, type Row, countUnits, findLimits } from "./pool.ts";

export interface TransactionPorts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly readOnly: boolean;
  readonly lockQueue: LockQueue;
  readonly onWritten: (units: number) => void;
}

export interface Transaction {
  readonly ports: TransactionPorts;
  /** Keys of its locks. */
  readonly held: Set<string>;
  /** Earlier writes of this process that the next read has to see. */
  before: Promise<void> | null;
  client: PoolClient | null;
  /** Null before the first lock or write. */
  opening: Promise<void> | null;
  /** Statements to send as soon as there is a connection. */
  waiting: (() => void)[];
  releaseTurn: () => void;
  /** What a rollback does to the memory of the process. */
  undo: () => void;
  /** The first failure, also of a statement without a waiting caller; it may arrive at any time. */
  failure: { readonly reason: unknown } | null;
  written: boolean;
}

type Describe = (error: unknown) => unknown;

export function newTransaction(ports: TransactionPorts): Transaction {
  return {
    ports,
    held: new Set(),
    before: null,
    client: null,
    opening: null,
    waiting: [],
    releaseTurn: () => undefined,
    undo: () => undefined,
    failure: null,
    written: false,
  };
}

export function noteFailure(transaction: Transaction, reason: unknown): void {
  transaction.failure ??= { reason };
}

export async function read(transaction: Transaction, sql: string, parameters: readonly Parameter[]): Promise<Answer> {
  if (transaction.opening === null && transaction.before !== null) await transaction.before;
  if (transaction.opening === null) return sendAlone(transaction.ports.pool, sql, parameters);
  return send(transaction, sql, parameters);
}

/** @param describe the error for the caller */
export function write(
  transaction: Transaction,
  sql: string,
  parameters: readonly Parameter[],
  describe?: Describe,
): Promise<Answer> {
  const { readOnly, onWritten } = transaction.ports;
  if (readOnly) throw new Error("a read-only transaction cannot write");
  transaction.written = true;
  onWritten(countUnits(parameters));
  return send(transaction, sql, parameters, describe);
}

/** As write(), for a statement that often changes nothing: without a row in its answer there is nothing to keep. */
export async function attempt(
  transaction: Transaction,
  sql: string,
  parameters: readonly Parameter[],
): Promise<readonly Row[]> {
  const { rows } = await send(transaction, sql, parameters);
  if (rows.length > 0) transaction.written = true;
  return rows;
}

/** All later statements wait for the lock of this name. */
export function hold(transaction: Transaction, key: string): void {
  if (transaction.ports.readOnly) return follow(transaction, key);
  if (transaction.held.has(key)) return;
  transaction.held.add(key);
  if (transaction.opening === null) transaction.opening = open(transaction, key);
  else send(transaction, LOCK, [key]).catch((error: unknown) => noteFailure(transaction, error));
}

/** The next read sees all writes that this process requested before under this name. */
export function follow(transaction: Transaction, key: string): void {
  if (transaction.opening !== null) return;
  transaction.before = transaction.ports.lockQueue.passed(key);
  transaction.before?.catch(() => undefined); // the next read reports it, if there is one
}

/** Returns the connection and leaves the turn. */
export function release(transaction: Transaction, broken: boolean): void {
  disconnect(transaction, broken);
  transaction.releaseTurn();
  transaction.releaseTurn = () => undefined;
}

export function disconnect(transaction: Transaction, broken: boolean): void {
  transaction.client?.release(broken);
  transaction.client = null;
}

async function open(transaction: Transaction, key: string | null): Promise<void> {
  const { lockQueue, pool } = transaction.ports;
  const fail = (error: unknown): void => noteFailure(transaction, error);
  try {
    if (key !== null) transaction.releaseTurn = await lockQueue.enter(key);
    const opened = await connect(pool);
    const { send: sendFirst } = findPipeline(opened);
    const limits = findLimits(opened);
    sendFirst("BEGIN", []).catch(fail);
    if (limits !== null) sendFirst(limits, []).catch(fail);
    if (key !== null) sendFirst(LOCK, [key]).catch(fail);
    transaction.client = opened;
  } catch (error) {
    fail(error);
  }
  const sendings = transaction.waiting;
  transaction.waiting = [];
  for (const sending of sendings) sending();
}

function send(
  transaction: Transaction,
  sql: string,
  parameters: readonly Parameter[],
  describe?: Describe,
): Promise<Answer> {
  transaction.opening ??= open(transaction, null);
  return new Promise((resolve, reject) => {
    const sending = (): void => {
      const { client, failure } = transaction;
      if (failure !== null || client === null) return reject(failure?.reason);
      findPipeline(client)
        .send(sql, parameters)
        .then(resolve, (error: unknown) => {
          noteFailure(transaction, describe === undefined ? error : describe(error));
          reject(transaction.failure?.reason);
        });
    };
    if (transaction.client === null && transaction.failure === null) transaction.waiting.push(sending);
    else sending();
  });
}

/** @throws {ApiError} `storage_unavailable` */
function connect(pool: Pool): Promise<PoolClient> {
  return pool.connect().catch((error: unknown) => {
    throw nothingWritten(error);
  });
}

/** A single statement outside a transaction. */
async function sendAlone(pool: Pool, sql: string, parameters: readonly Parameter[]): Promise<Answer> {
  const client = await connect(pool);
  let broken = true;
  try {
    const result = await findPipeline(client).send(sql, parameters);
    broken = false;
    return result;
  } finally {
    client.release(broken);
  }
}
