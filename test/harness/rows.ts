// Rows: how many a server's storage has of a thread, counted behind its back.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import type { TestServer } from "./server.ts";

/** A storage has a thread's rows in many tables; fewer mean that the lookup failed. */
const TABLES_MIN = 8;

/**
 * Rows that carry the id of a thread, in all tables but two: in the search queue of PostgreSQL a deletion adds the id,
 * until the indexer has removed the documents; the digests of deleted audit entries keep it for verifications.
 */
export function countRows(server: Pick<TestServer, "dataDir" | "databaseUri">, threadId: string): Promise<number> {
  return server.databaseUri === ""
    ? inFile(join(server.dataDir, "holdpoint.db"), threadId)
    : inDatabase(server.databaseUri, threadId);
}

async function inFile(path: string, threadId: string): Promise<number> {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const tables = db
      .prepare(
        "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'thread_id' AND m.name <> 'audit_deleted'",
      )
      .all();
    return Number(
      db
        .prepare(
          countText(
            tables.map(({ name }) => String(name)),
            "?1",
          ),
        )
        .get(threadId)?.["n"],
    );
  } finally {
    db.close();
  }
}

async function inDatabase(uri: string, threadId: string): Promise<number> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ readonly name: string }>(
      "SELECT 'holdpoint.' || table_name AS name FROM information_schema.columns WHERE table_schema = 'holdpoint' AND column_name = 'thread_id' AND table_name NOT IN ('search_queue', 'audit_deleted')",
    );
    const { rows } = await client.query(
      countText(
        tables.map(({ name }) => name),
        "$1",
      ),
      [threadId],
    );
    return Number((rows[0] as { readonly n: string } | undefined)?.n);
  } finally {
    await client.end();
  }
}

function countText(tables: readonly string[], place: string): string {
  assert.ok(tables.length >= TABLES_MIN, "the tables of a thread were found");
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table} WHERE thread_id = ${place})`);
  return `SELECT ${counts.join(" + ")} AS n`;
}
