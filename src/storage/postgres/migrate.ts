// Migrate: brings the database up to the schema of this version, or refuses it.
// Invariants:
//   MI1. One server migrates at a time; those that start meanwhile wait for it and find nothing left to do.
//   MI2. All missing steps and the note that they ran are one transaction.
//   MI3. A database of a newer schema, or written with a newer library, is not touched.
import { Client, type ClientBase } from "pg";
import { compareVersions, NewerDatabaseError, type Versions } from "../versions.ts";
import { connectionConfig } from "./connections.ts";
import { reasonOf } from "./failures.ts";
import { migrateJobs } from "./jobs-schema.ts";
import { MIGRATIONS } from "./migrations.ts";

/** Any number that nobody else in the database uses. */
const MIGRATION_LOCK = 0x686f6c64;

const CONNECT_TIMEOUT_MS = 10_000;

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/** @throws {NewerDatabaseError} MI3. */
async function migrate(client: ClientBase, versions: Versions): Promise<Migrated> {
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]); // MI1
    await client.query("CREATE SCHEMA IF NOT EXISTS holdpoint");
    await client.query("CREATE TABLE IF NOT EXISTS holdpoint.meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
    const { rows } = await client.query<{ readonly key: string; readonly value: string }>(
      "SELECT key, value FROM holdpoint.meta",
    );
    const meta = new Map(rows.map(({ key, value }) => [key, value]));
    const from = Number(meta.get("schema") ?? 0);
    if (from > MIGRATIONS.length)
      throw new NewerDatabaseError(`Holdpoint ${meta.get("holdpoint") ?? "of a newer release"}`); // MI3
    const library = meta.get("library");
    if (library !== undefined && compareVersions(library, versions.library) > 0)
      throw new NewerDatabaseError(`@langchain/langgraph ${library} (this process has ${versions.library})`);
    for (const step of MIGRATIONS.slice(from)) await client.query(step);
    const notes = { schema: String(MIGRATIONS.length), ...versions };
    for (const [key, value] of Object.entries(notes)) {
      if (meta.get(key) === value) continue;
      await client.query(
        "INSERT INTO holdpoint.meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        [key, value],
      );
    }
    await client.query("COMMIT"); // MI2
    return { from, to: MIGRATIONS.length };
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined); // the connection is gone: nothing is left to take back
    throw error;
  }
}

/** On a connection of its own, without the limits of those that serve calls. @throws {NewerDatabaseError} MI3. */
export async function migrateDatabase(uri: string, versions: Versions): Promise<Migrated> {
  const client = new Client({ ...connectionConfig(uri), connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on("error", () => undefined); // a connection that is lost fails the statement that is under way
  try {
    await client.connect();
  } catch (error) {
    throw new Error(`PostgreSQL at ${client.host}:${client.port} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
  try {
    const migrated = await migrate(client, versions);
    await client.query("SELECT pg_advisory_lock($1)", [MIGRATION_LOCK]); // MI1; its end frees it
    await migrateJobs(uri);
    return migrated;
  } finally {
    await client.end();
  }
}
