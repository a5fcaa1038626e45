// Storage on PostgreSQL: many servers, one database.
// The pieces:
//   client/      the pool, pipelined connections, transactions, the outcome of a lost COMMIT
//   engine/      the queue's wakes, leases, heartbeats and notices between processes
//   schema/      the migrations
//   tables/      the SQL of the storage port, one file per table
//   dump.ts      rows out and in, for moves between adapters
//   storage.ts   opens, migrates and closes the storage
// Invariants:
//   - A transaction that loses a race for locks (a deadlock) runs again as if it came later: it wrote nothing. Any
//     other failure reaches the caller.
//   - A deferred transaction lingers. At its start there may be more to store with it, or nothing any more, because an
//     earlier transaction stored it.
import type { Pool } from "pg";
import type { Awaitable, Storage, Tx } from "../../ports/ports.ts";
import { settlesWithin, type Service } from "@holdpoint/base/lifecycle.ts";
import { type Clock, systemClock } from "@holdpoint/base/clock.ts";
import type { EncryptionKey } from "@holdpoint/base/keyring.ts";
import type { Dumpable } from "../dump/dump.ts";
import { type Turn, newTurn } from "../shared/line.ts";
import { callVerb, createLongReads } from "../shared/long-reads.ts";
import { coldVerbs } from "../cold/cold-verbs.ts";
import { claimKeys } from "../cold/sealing.ts";
import type { Versions } from "../shared/schema-version.ts";
import { createSealing, type Sealing } from "../shared/sealing.ts";
import { auditVerbs } from "./tables/audit.ts";
import { checkpointVerbs } from "./tables/checkpoints.ts";
import { createColdSql } from "./client/cold-sql.ts";
import { CLOSE_MS, type ConnectionOptions, LOCK_TIMEOUT_MS, openPool } from "./client/pool.ts";
import { copyVerbs } from "./tables/copies.ts";
import { withDump } from "./dump.ts";
import { eventVerbs } from "./tables/events.ts";
import { isRetryable, storageFailure } from "./client/errors.ts";
import { interruptVerbs } from "./tables/interrupts.ts";
import { migrateDatabase } from "./schema/migrate.ts";
import { sweepMarks } from "./client/commit-outcome.ts";
import { queueVerbs } from "./tables/queue.ts";
import { runVerbs } from "./tables/runs.ts";
import { createSqlTransaction, type SqlTransaction, type Sql } from "./client/transaction.ts";
import { storeVerbs } from "./tables/store.ts";
import { threadVerbs } from "./tables/threads.ts";
import { createLockQueue } from "./client/lock-queue.ts";

export interface PostgresOptions extends ConnectionOptions {
  readonly versions: Versions;
  /** Times its waits; the system's if absent. */
  readonly clock?: Clock;
  /** Encrypt at rest; none by default. */
  readonly keys?: readonly EncryptionKey[];
}

export interface PostgresStorage extends Storage, Service, Dumpable {
  readonly boundUnits: () => number;
}

const ATTEMPTS_MAX = 5;
const LINGER_MS = 10;
const SWEEP_MS = 3_600_000;

export function createPostgresStorage(options: PostgresOptions): PostgresStorage {
  const lockQueue = createLockQueue(LOCK_TIMEOUT_MS);
  const clock = options.clock ?? systemClock;
  const handles: TxHandle[] = [];
  let pool: Pool | null = null;
  const turn = newTurn();
  const sealing = createSealing(options.keys ?? []);
  let boundUnits = 0;
  let sweeping: NodeJS.Timeout | undefined;

  const transact = async <T>(work: (tx: Tx) => Awaitable<T>, readOnly: boolean): Promise<T> => {
    if (pool === null) throw new Error("the storage is not open");
    const onWritten = (units: number): void => void (boundUnits += units);
    for (let attempt = 1; ; attempt++) {
      const handle = handles.pop() ?? createTxHandle(turn, sealing);
      const sql = createSqlTransaction({ pool, clock, readOnly, lockQueue, onWritten });
      handle.bind(sql);
      try {
        const result = await work(handle.tx);
        await sql.commit();
        return result;
      } catch (error) {
        await sql.rollBack();
        if (attempt < ATTEMPTS_MAX && isRetryable(error)) continue;
        throw storageFailure(error);
      } finally {
        handle.bind(null);
        handles.push(handle);
      }
    }
  };
  const transaction: Storage["transaction"] = (work) => transact(work, false);
  return {
    name: "storage",
    read: (work) => transact(work, true),
    longReads: createLongReads((call) => transact(async (tx) => callVerb(tx, call), true)),
    async start() {
      const { to, from } = await migrateDatabase(options, options.versions);
      if (from !== to) options.log.info("database_migrated", { from, to });
      pool = openPool(options);
      const opened = pool;
      await claimStoredKeys(opened, sealing);
      await sweepMarks(opened);
      // the next sweep does it
      sweeping = setInterval(() => void sweepMarks(opened).catch(() => undefined), SWEEP_MS).unref();
    },
    async stop() {
      const open = pool;
      pool = null;
      clearInterval(sweeping);
      if (open !== null && !(await settlesWithin(open.end(), CLOSE_MS))) {
        options.log.warning("connections_not_closed", { after_ms: CLOSE_MS });
      }
    },
    transaction,
    scrub: async () => true, // PostgreSQL's own vacuum does it
    transactionDeferred: (work) =>
      new Promise((resolve) => {
        clock.after(LINGER_MS, () => resolve(transaction(work)));
      }),
    async dump(work) {
      if (pool === null) throw new Error("the storage is not open");
      return withDump(pool, sealing, work);
    },
    boundUnits: () => boundUnits,
  };
}

/** @throws {ConfigError} */
async function claimStoredKeys(pool: Pool, sealing: Sealing): Promise<void> {
  const lockQueue = createLockQueue(LOCK_TIMEOUT_MS);
  const sql = createSqlTransaction({
    pool,
    clock: systemClock,
    readOnly: false,
    lockQueue,
    onWritten: () => undefined,
  });
  try {
    await claimKeys(createColdSql({ ...sql, sealing }));
    await sql.commit();
  } catch (error) {
    await sql.rollBack();
    throw error;
  }
}

/** The verbs for one transaction after another: creating them costs more than most of them do. */
interface TxHandle {
  readonly tx: Tx;
  bind(sql: SqlTransaction | null): void;
}

function createTxHandle(turn: Turn, sealing: Sealing): TxHandle {
  let bound: SqlTransaction | null = null;
  const current = (): SqlTransaction => {
    if (bound === null) throw new Error("the transaction has ended");
    return bound;
  };
  const db: Sql = {
    sealing,
    get: (sql, ...parameters) => current().get(sql, ...parameters),
    all: (sql, ...parameters) => current().all(sql, ...parameters),
    count: (sql, ...parameters) => current().count(sql, ...parameters),
    change: (sql, ...parameters) => current().change(sql, ...parameters),
    attempt: (sql, ...parameters) => current().attempt(sql, ...parameters),
    run: (sql, ...parameters) => current().run(sql, ...parameters),
    require: (otherwise, sql, ...parameters) => current().require(otherwise, sql, ...parameters),
    hold: (key) => current().hold(key),
    noteHeld: (key) => current().noteHeld(key),
    follow: (key) => current().follow(key),
    onUndo: (callback) => current().onUndo(callback),
  };
  return {
    tx: {
      ...threadVerbs(db),
      ...copyVerbs(db),
      ...runVerbs(db, turn),
      ...queueVerbs(db),
      ...interruptVerbs(db),
      ...auditVerbs(db),
      ...checkpointVerbs(db),
      ...eventVerbs(db),
      ...storeVerbs(db),
      ...coldVerbs(createColdSql(db)),
    },
    bind(sql) {
      bound = sql;
    },
  };
}
