// Transaction: one transaction on PostgreSQL, in few round trips.
// Reads before the first lock or write are single statements without a transaction. The first lock or write opens one.
// From then on it sends statements at once, writes without waiting for their answers, and the commit right behind them.
// The pieces:
//   statements.ts   the connection, the turn and the statements of one transaction
//   transaction.ts  the verbs for tables/, commit and rollback
// Invariants:
//   - A lock excludes all other writers of its thread on every server until the transaction ends: every change of a
//     thread or its rows takes the thread's lock, and all reads for a decision come after it.
//   - The wait for the first lock happens in this process without a connection (lock-queue.ts), so transactions on one
//     thread run in call order.
//   - A result reaches its caller after the commit that holds it.
//   - A transaction with writes has a mark, so that commit-outcome.ts can look up its outcome if COMMIT gets no answer.
//   - A transaction with a failed statement always rolls back, even if the callback swallows the error; the caller gets
//     the first error.
//   - A read-only transaction is a series of single statements: it locks nothing and cannot write.
import { MARK, nextMark, findCommitOutcome } from "./commit-outcome.ts";
import { isConnectionLost, isDivisionByZero, isReadOnly } from "./errors.ts";
import { findPipeline } from "./pipelined-connection.ts";
import type { Sealing } from "../../shared/sealing.ts";
import type { Parameter, Row } from "./pool.ts";
import {
  type Transaction,
  type TransactionPorts,
  attempt,
  disconnect,
  noteFailure,
  follow,
  hold,
  newTransaction,
  read,
  release,
  write,
} from "./statements.ts";

/** Statements for the files in tables/. */
export interface Sql {
  readonly sealing: Sealing;
  /** First row, or null. */
  get(sql: string, ...parameters: Parameter[]): Promise<Row | null>;
  all(sql: string, ...parameters: Parameter[]): Promise<readonly Row[]>;
  /** Waits for the number of changed rows. */
  count(sql: string, ...parameters: Parameter[]): Promise<number>;
  /** As all(), for a statement that changes rows. */
  change(sql: string, ...parameters: Parameter[]): Promise<readonly Row[]>;
  /** As all(), inside the transaction; without a row nothing has changed, and no commit needs to be waited for. */
  attempt(sql: string, ...parameters: Parameter[]): Promise<readonly Row[]>;
  /** Sends a change; a failure appears at the commit. */
  run(sql: string, ...parameters: Parameter[]): void;
  /** As run(), for a change of an existing row: without a match the transaction fails with this error. */
  require(otherwise: () => Error, sql: string, ...parameters: Parameter[]): void;
  /** All later statements wait for the lock of this name. */
  hold(key: string): void;
  /** A statement has taken the lock of this name. */
  noteHeld(key: string): void;
  /** The next read sees all writes that this process requested before under this name. Takes no lock. */
  follow(key: string): void;
  /** Called when the transaction rolls back. */
  onUndo(callback: () => void): void;
}

export interface SqlTransaction extends Omit<Sql, "sealing"> {
  /** Commits the transaction. @throws the first failure */
  commit(): Promise<void>;
  /** Rolls the transaction back. */
  rollBack(): Promise<void>;
}

export function createSqlTransaction(ports: TransactionPorts): SqlTransaction {
  const transaction = newTransaction(ports);
  return {
    async get(sql, ...parameters) {
      return (await read(transaction, sql, parameters)).rows[0] ?? null;
    },
    async all(sql, ...parameters) {
      return (await read(transaction, sql, parameters)).rows;
    },
    async count(sql, ...parameters) {
      return (await write(transaction, sql, parameters)).rowCount;
    },
    async change(sql, ...parameters) {
      return (await write(transaction, sql, parameters)).rows;
    },
    attempt: (sql, ...parameters) => attempt(transaction, sql, parameters),
    run(sql, ...parameters) {
      write(transaction, sql, parameters).catch((error: unknown) => noteFailure(transaction, error));
    },
    require(otherwise, sql, ...parameters) {
      // The commit follows at once, so the database has to reject it.
      const counted = `WITH changed AS (${sql} RETURNING 1) SELECT 1 / count(*) FROM changed`;
      const describe = (error: unknown): unknown => (isDivisionByZero(error) ? otherwise() : error);
      write(transaction, counted, parameters, describe).catch((error: unknown) => noteFailure(transaction, error));
    },
    hold: (key) => hold(transaction, key),
    noteHeld: (key) => void transaction.held.add(key),
    follow: (key) => follow(transaction, key),
    onUndo: (callback) => void (transaction.undo = callback),
    commit: () => commit(transaction),
    rollBack: () => rollBack(transaction),
  };
}

async function commit(transaction: Transaction): Promise<void> {
  if (transaction.opening === null) return;
  await transaction.opening;
  const { client, failure, written } = transaction;
  if (failure !== null || client === null) throw failure?.reason;
  if (!written) {
    void end(transaction, "COMMIT"); // no caller depends on the answer
    return;
  }
  const mark = nextMark(client);
  try {
    const pipeline = findPipeline(client);
    await Promise.all([pipeline.send(MARK, [mark.connection, mark.number]), pipeline.send("COMMIT", [])]);
  } catch (error) {
    // Earlier failures reached their callers; nothing was left to commit.
    if (!isConnectionLost(error)) throw firstFailure(transaction, error);
    disconnect(transaction, true);
    await findCommitOutcome(transaction.ports, mark, error);
    return release(transaction, true);
  }
  release(transaction, false);
}

async function rollBack(transaction: Transaction): Promise<void> {
  if (transaction.opening === null) return;
  transaction.undo();
  await transaction.opening;
  await end(transaction, "ROLLBACK");
}

/** Ends the transaction without writes to keep. */
async function end(transaction: Transaction, statement: "COMMIT" | "ROLLBACK"): Promise<void> {
  const { client, failure } = transaction;
  if (client === null) return release(transaction, false);
  const answered = findPipeline(client).send(statement, []);
  await answered.then(
    () => release(transaction, isReadOnly(failure?.reason)),
    () => release(transaction, true),
  );
}

function firstFailure({ failure }: Transaction, otherwise: unknown): unknown {
  return failure?.reason ?? otherwise;
}
