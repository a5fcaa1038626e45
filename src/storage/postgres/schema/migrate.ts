// Migrate: brings the database up to the schema of this version, or refuses it.
// Invariants:
//   migrate.1. One server migrates at a time; those that start meanwhile wait for it and find nothing left to do.
//   migrate.2. All missing steps and the note that they ran are one transaction.
//   migrate.3. A database of a newer schema, or written with a newer library, is not touched.
//   migrate.4. Servers of the version before are at work meanwhile. A step that has to wait for a table makes everybody wait who
//        comes after it, so it gives way, and tries again when the others have had their turn.
//   migrate.5. Where nothing is missing nothing is made, so that servers may have a role that can only read and write rows.
import { Client, type ClientBase } from "pg";
import { compareVersions, NewerDatabaseError, type Versions } from "../../shared/schema-version.ts";
import { connectionConfig } from "../client/pool.ts";
import { gaveWay, reasonOf } from "../client/errors.ts";
import { migrateJobs } from "./graphile-schema.ts";
import { MIGRATIONS } from "./migrations.ts";

/** Any number that nobody else in the database uses. */
const MIGRATION_LOCK = 0x686f6c64;

const CONNECT_TIMEOUT_MS = 10_000;

/** migrate.4: calls that wait behind a step have 15 seconds (connections.ts), which this and the step itself have to fit into. */
const LOCK_TIMEOUT_MS = 1000;
const GIVE_WAY_MS = 2000;
/** Three minutes: a backup, or a transaction that somebody has left open, may last for hours. */
const TRIES_MAX = 60;

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/** migrate.1: the lock goes with the transaction, also where a pooler keeps the connection. Others may take as long as they take. */
async function begin(client: ClientBase): Promise<void> {
  await client.query("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0");
  await client.query("SET LOCAL idle_in_transaction_session_timeout = 0");
  await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
}

/** @throws {NewerDatabaseError} migrate.3. */
async function migrate(client: ClientBase, versions: Versions, steps: readonly string[]): Promise<Migrated> {
  try {
    await begin(client);
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`); // migrate.4
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
    if (from > steps.length) throw new NewerDatabaseError(`Holdpoint ${meta.get("holdpoint") ?? "of a newer release"}`); // migrate.3
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
    await client.query("ROLLBACK").catch(() => undefined); // the connection is gone: nothing is left to take back
    throw error;
  }
}

/** migrate.4. */
async function migratePatiently(client: ClientBase, versions: Versions, steps: readonly string[]): Promise<Migrated> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await migrate(client, versions, steps);
    } catch (error) {
      if (!gaveWay(error)) throw error;
      if (attempt === TRIES_MAX)
        throw new Error(
          `the schema cannot be changed while somebody else uses its tables (a backup, or a transaction that was left open: see pg_stat_activity); migrate again when that has ended: ${reasonOf(error)}`,
          { cause: error },
        );
    }
    await new Promise((resolve) => setTimeout(resolve, GIVE_WAY_MS));
  }
}

/**
 * On a connection of its own, without the limits of those that serve calls.
 * @param steps of this version; a test gives those of a later one
 * @throws {NewerDatabaseError} migrate.3.
 */
export async function migrateDatabase(uri: string, versions: Versions, steps = MIGRATIONS): Promise<Migrated> {
  const client = new Client({ ...connectionConfig(uri), connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on("error", () => undefined); // a connection that is lost fails the statement that is under way
  try {
    await client.connect();
  } catch (error) {
    throw new Error(`PostgreSQL at ${client.host}:${client.port} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
  try {
    const migrated = await migratePatiently(client, versions, steps);
    await begin(client);
    await migrateJobs(uri);
    await client.query("COMMIT");
    return migrated;
  } finally {
    await client.end();
  }
}
