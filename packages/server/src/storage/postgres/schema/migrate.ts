// Migrate: brings the database to the schema of this version, or rejects it.
// Invariants:
//   migrate.1. One server migrates at a time; servers that start meanwhile wait and find nothing left to do.
//   migrate.2. All missing steps and the record of their run are one transaction.
//   migrate.3. A database of a newer schema, or of a newer LangGraph, stays untouched.
//   - Servers of the previous version work during a migration. A step that waits for a table blocks all later
//     statements on it, so the step gives up its wait and retries after a pause.
//   migrate.5. Without missing steps it creates nothing, so a server's role needs only rights to read and write rows.
//   postgres/migrations.1. A step keeps everything the previous version needs, because its servers run during a
//        rollout. It may add tables, indexes, and columns that are nullable or have a constant default, and replace a
//        function by one with the same signature and meaning. It removes and renames nothing, adds no constraint, and
//        gives no column a value unknown to the previous version: that belongs in the next release. For the same reason
//        every statement names its columns. The locks of a step last until the last step ends, and calls wait at most
//        15 seconds. So a step that reads or writes a whole table must be quick with a million rows.
//   - Keys compare byte by byte, whatever the database's collation.
//   - Times are milliseconds; JSON is text as received, NUL and lone surrogates included (text-encoding.ts).
import type { ClientBase } from "pg";
import { compareVersions, NewerDatabaseError, type Versions } from "../../shared/schema-version.ts";
import type { DatabaseAddress } from "../client/address.ts";
import { createDirectClient } from "../client/database-client.ts";
import { isLockTimeout, formatReason } from "../client/errors.ts";
import { refuseTransactionPooler } from "../client/pooler.ts";
import { createColdTables } from "../../cold/cold-tables.ts";
import { INBOX_TABLES } from "./inbox-tables.ts";
import { THREAD_TABLES } from "./thread-tables.ts";

/** Any number unused elsewhere in the database. */
const MIGRATION_LOCK = 0x686f6c64;

const CONNECT_TIMEOUT_MS = 10_000;

/** Calls behind a waiting step have 15 seconds (pool.ts), which must cover this wait and the step itself. */
const LOCK_TIMEOUT_MS = 1000;
const GIVE_WAY_MS = 2000;
/** Three minutes: a backup, or an abandoned transaction, may last for hours. */
const TRIES_MAX = 60;

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/**
 * migrate.1: the lock ends with the transaction, also behind a connection pooler. The wait for other servers has no
 * limit.
 */
async function begin(client: ClientBase): Promise<void> {
  await client.query("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0");
  await client.query("SET LOCAL idle_in_transaction_session_timeout = 0");
  await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
}

/** @throws {NewerDatabaseError} migrate.3 */
async function migrate(client: ClientBase, versions: Versions, steps: readonly string[]): Promise<Migrated> {
  try {
    await begin(client);
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    if ((await client.query("SELECT 1 WHERE to_regclass('holdpoint.meta') IS NULL")).rows.length > 0) {
      // migrate.5
      await client.query("CREATE SCHEMA IF NOT EXISTS holdpoint");
      await client.query("CREATE TABLE holdpoint.meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
    }
    const { rows } = await client.query<{ readonly key: string; readonly value: string }>(
      "SELECT key, value FROM holdpoint.meta",
    );
    const meta = new Map(rows.map(({ key, value }) => [key, value]));
    const from = Number(meta.get("schema") ?? 0);
    // migrate.3
    if (from > steps.length) throw new NewerDatabaseError(`Holdpoint ${meta.get("holdpoint") ?? "of a newer release"}`);
    const library = meta.get("library");
    if (library !== undefined && compareVersions(library, versions.library) > 0)
      throw new NewerDatabaseError(`@langchain/langgraph ${library} (this process has ${versions.library})`);
    for (const step of steps.slice(from)) await client.query(step);
    const notes = { schema: String(steps.length), ...versions };
    for (const [key, value] of Object.entries(notes)) {
      if (meta.get(key) === value) continue;
      await client.query(
        "INSERT INTO holdpoint.meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        [key, value],
      );
    }
    await client.query("COMMIT"); // migrate.2
    return { from, to: steps.length };
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined); // the connection is gone, and with it the transaction
    throw error;
  }
}

async function migratePatiently(client: ClientBase, versions: Versions, steps: readonly string[]): Promise<Migrated> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await migrate(client, versions, steps);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (attempt === TRIES_MAX)
        throw new Error(
          `cannot change the schema while its tables are in use (by a backup, or by an abandoned transaction: see pg_stat_activity); migrate again after it ends: ${formatReason(error)}`,
          { cause: error },
        );
    }
    await new Promise((resolve) => setTimeout(resolve, GIVE_WAY_MS));
  }
}

/**
 * Uses its own connection, without the limits for serving calls.
 * @param steps of this version; a test passes those of a later one
 * @throws {NewerDatabaseError} migrate.3
 * @throws {ConfigError} where the address of sessions is a pooler of transactions
 */
export async function migrateDatabase(
  address: DatabaseAddress,
  versions: Versions,
  steps = MIGRATIONS,
): Promise<Migrated> {
  const client = createDirectClient(address, { connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on("error", () => undefined); // a lost connection fails the statement in progress
  try {
    await client.connect();
  } catch (error) {
    throw new Error(`PostgreSQL at ${client.host}:${client.port} cannot be used: ${formatReason(error)}`, {
      cause: error,
    });
  }
  try {
    await refuseTransactionPooler(client, address);
    return await migratePatiently(client, versions, steps);
  } finally {
    await client.end();
  }
}

// The schema, step by step. Steps are append-only.

// What processes know of each other. Each row changes often: the room in its page keeps the change there.

const PROCESS_TABLES = `
  -- A run's worker has a row for as long as it has the run.
  CREATE TABLE holdpoint.workers (
    worker_id TEXT COLLATE "C" PRIMARY KEY, beat_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
  ) WITH (fillfactor = 50);
  -- The last writing transaction of each connection (commit-outcome.ts).
  CREATE TABLE holdpoint.commits (
    connection TEXT COLLATE "C" PRIMARY KEY, number BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now()
  ) WITH (fillfactor = 50);
`;

const COLD_TABLES = createColdTables({
  schema: "holdpoint.",
  key: 'TEXT COLLATE "C"',
  long: "BIGINT",
  flag: "BOOLEAN",
  bytes: "BYTEA",
  numbered: "BIGINT GENERATED ALWAYS AS IDENTITY",
  byKey: "",
  more: "CREATE INDEX store_order_item ON holdpoint.store_order (item_id);",
});

export const MIGRATIONS: readonly string[] = [PROCESS_TABLES + THREAD_TABLES + INBOX_TABLES + COLD_TABLES];
