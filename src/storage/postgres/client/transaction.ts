// Transaction: one transaction on PostgreSQL, in few round trips.
// Reads before the first lock or write are single statements without a transaction. The first lock or write opens one.
// From then on it sends statements at once, writes without waiting for their answers, and the commit right behind them.
// Invariants:
//   transaction.1. A lock excludes all other writers of its thread on every server until the transaction ends: every
//        change of a thread or its rows takes the thread's lock, and all reads for a decision come after it.
//   transaction.2. The wait for the first lock happens in this process without a connection (lock-queue.ts), so
//        transactions on one thread run in call order.
//   transaction.3. A result reaches its caller after the commit that holds it.
//   transaction.4. A transaction with writes has a mark, so that commit-outcome.ts can look up its outcome if COMMIT
//        gets no answer.
//   transaction.5. A transaction with a failed statement always rolls back, even if the callback swallows the error;
//        the caller gets the first error.
//   transaction.6. A read-only transaction is a series of single statements: it locks nothing and cannot write.
import type { Pool, PoolClient } from "pg";
import { unitsOf, type Parameter, type Row } from "./pool.ts";
import { isConnectionLost, isDivisionByZero, nothingWritten } from "./errors.ts";
import { lockNumbers } from "./lock-key.ts";
import { MARK, nextMark, settleOutcome } from "./commit-outcome.ts";
import type { Turns } from "./lock-queue.ts";
import { wireOf, type Answer } from "./pipelined-connection.ts";

/** Statements for the files in tables/. */
export interface Sql {
  /** First row, or null. */
  get(sql: string, ...parameters: Parameter[]): Promise<Row | null>;
  all(sql: string, ...parameters: Parameter[]): Promise<readonly Row[]>;
  /** Waits for the number of changed rows. */
  count(sql: string, ...parameters: Parameter[]): Promise<number>;
  /** As all(), for a statement that changes rows. */
  change(sql: string, ...parameters: Parameter[]): Promise<readonly Row[]>;
  /** Sends a change; a failure appears at the commit. */
  run(sql: string, ...parameters: Parameter[]): void;
  /** As run(), for a change of an existing row: without a match the transaction fails with this error. */
  require(otherwise: () => Error, sql: string, ...parameters: Parameter[]): void;
  /** All later statements wait for the lock of this name. */
  hold(key: string): void;
  /** The next read sees all writes that this process requested before under this name. Takes no lock. */
  follow(key: string): void;
}

export interface Session extends Sql {
  /** Commits the transaction. @throws the first failure */
  commit(): Promise<void>;
  /** Rolls the transaction back. */
  rollBack(): Promise<void>;
}

export interface SessionPorts {
  readonly pool: Pool;
  /** transaction.6. */
  readonly looks: boolean;
  readonly turns: Turns;
  readonly onWritten: (units: number) => void;
}

const LOCK = "SELECT pg_advisory_xact_lock($1, $2)";

export function createSession({ pool, looks, turns, onWritten }: SessionPorts): Session {
  const held = new Set<string>();
  let before: Promise<void> | null = null;
  let client: PoolClient | null = null;
  let opening: Promise<void> | null = null;
  /** Statements to send as soon as there is a connection. */
  let waiting: (() => void)[] = [];
  let leaveTurn: () => void = () => undefined;
  let failure = null as { readonly reason: unknown } | null;
  let written = false;
  /** The first failure of a statement without a waiting caller; it may arrive at any time. */
  const failureNow = (otherwise: unknown): unknown => failure?.reason ?? otherwise;
  const failed = (reason: unknown): void => {
    failure ??= { reason };
  };

  const open = async (key: string | null): Promise<void> => {
    try {
      if (key !== null) leaveTurn = await turns.enter(key); // transaction.2
      const opened = await connect(pool);
      wireOf(opened).send("BEGIN", []).catch(failed);
      if (key !== null) wireOf(opened).send(LOCK, lockNumbers(key)).catch(failed);
      client = opened;
    } catch (error) {
      failed(error);
    }
    const sendings = waiting;
    waiting = [];
    for (const sending of sendings) sending();
  };

  const send = (
    sql: string,
    parameters: readonly Parameter[],
    describe: (error: unknown) => unknown = (error) => error,
  ): Promise<Answer> => {
    opening ??= open(null);
    return new Promise((resolve, reject) => {
      const sending = (): void => {
        if (failure !== null || client === null) return reject(failure?.reason); // transaction.5
        wireOf(client)
          .send(sql, parameters)
          .then(resolve, (error: unknown) => {
            failed(describe(error));
            reject(failure?.reason);
          });
      };
      if (client === null && failure === null) waiting.push(sending);
      else sending();
    });
  };
  const write = (
    sql: string,
    parameters: readonly Parameter[],
    describe?: (error: unknown) => unknown,
  ): Promise<Answer> => {
    if (looks) throw new Error("a read-only transaction cannot write"); // transaction.6
    written = true;
    onWritten(unitsOf(parameters));
    return send(sql, parameters, describe);
  };
  const read = async (sql: string, parameters: readonly Parameter[]): Promise<Answer> => {
    if (opening === null && before !== null) await before;
    return opening === null ? alone(pool, sql, parameters) : send(sql, parameters);
  };

  const disconnect = (broken: boolean): void => {
    client?.release(broken);
    client = null;
  };
  const leave = (broken: boolean): void => {
    disconnect(broken);
    leaveTurn();
    leaveTurn = () => undefined;
  };

  const follow = (key: string): void => {
    if (opening !== null) return;
    before = turns.passed(key);
    before?.catch(() => undefined); // the next read reports it, if there is one
  };

  return {
    async get(sql, ...parameters) {
      return (await read(sql, parameters)).rows[0] ?? null;
    },
    async all(sql, ...parameters) {
      return (await read(sql, parameters)).rows;
    },
    async count(sql, ...parameters) {
      return (await write(sql, parameters)).rowCount;
    },
    async change(sql, ...parameters) {
      return (await write(sql, parameters)).rows;
    },
    run(sql, ...parameters) {
      write(sql, parameters).catch(failed);
    },
    require(otherwise, sql, ...parameters) {
      // The commit follows at once, so the database has to reject it.
      const counted = `WITH changed AS (${sql} RETURNING 1) SELECT 1 / count(*) FROM changed`;
      write(counted, parameters, (error) => (isDivisionByZero(error) ? otherwise() : error)).catch(failed);
    },
    hold(key) {
      if (looks) return follow(key); // transaction.6
      if (held.has(key)) return;
      held.add(key); // transaction.1
      if (opening === null) opening = open(key);
      else send(LOCK, lockNumbers(key)).catch(failed);
    },
    follow,
    async commit() {
      if (opening === null) return;
      await opening;
      if (failure !== null || client === null) throw failure?.reason;
      if (!written) {
        // No caller depends on the answer.
        wireOf(client)
          .send("COMMIT", [])
          .then(
            () => leave(false),
            () => leave(true),
          );
        return;
      }
      const mark = nextMark(client); // transaction.4
      try {
        const wire = wireOf(client);
        await Promise.all([wire.send(MARK, [mark.connection, mark.number]), wire.send("COMMIT", [])]);
      } catch (error) {
        // Earlier failures reached their callers; nothing was left to commit.
        if (!isConnectionLost(error)) throw failureNow(error);
        disconnect(true);
        await settleOutcome(pool, mark, error);
        return leave(true);
      }
      leave(false); // transaction.3
    },
    async rollBack() {
      if (opening === null) return;
      await opening;
      if (client === null) return leave(false);
      await wireOf(client)
        .send("ROLLBACK", [])
        .then(
          () => leave(false),
          () => leave(true),
        );
    },
  };
}

/** @throws {ApiError} `storage_unavailable` */
function connect(pool: Pool): Promise<PoolClient> {
  return pool.connect().catch((error: unknown) => {
    throw nothingWritten(error);
  });
}

/** A single statement outside a transaction. */
async function alone(pool: Pool, sql: string, parameters: readonly Parameter[]): Promise<Answer> {
  const client = await connect(pool);
  let broken = true;
  try {
    const result = await wireOf(client).send(sql, parameters);
    broken = false;
    return result;
  } finally {
    client.release(broken);
  }
}
