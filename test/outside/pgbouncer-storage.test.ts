// The storage behind PgBouncer with pooled transactions: the port's contract holds there, too (pool.5).
import type { TestContext } from "node:test";
import { Client } from "pg";
import { storageContract } from "@holdpoint/server/storage/contract/storage.contract.ts";
import { createPostgresStorage, type PostgresStorage } from "@holdpoint/server/storage/postgres/storage.ts";
import { beforeDrop, newDatabase } from "../harness/postgres/databases.ts";
import { startPgBouncer } from "../harness/postgres/pgbouncer.ts";
import { SILENT } from "../harness/storage/sqlite-storage.ts";

const VERSIONS = { holdpoint: "1.2.3", library: "1.4.18" };

/** One database and one storage for the contract: each of its tests finds it empty. */
let shared: Promise<{ readonly storage: PostgresStorage; readonly client: Client }> | null = null;

async function openShared() {
  const directUri = await newDatabase();
  const pooler = await startPgBouncer(directUri);
  const { uri } = pooler;
  const storage = createPostgresStorage({ uri, directUri, poolMax: 10, versions: VERSIONS, log: SILENT });
  await storage.start();
  const client = new Client({ connectionString: directUri });
  await client.connect();
  beforeDrop(() => pooler.stop());
  beforeDrop(() => client.end());
  beforeDrop(() => storage.stop());
  return { storage, client };
}

async function emptied(_t: TestContext): Promise<PostgresStorage> {
  const { storage, client } = await (shared ??= openShared());
  const { rows } = await client.query<{ readonly name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'holdpoint' AND tablename <> 'meta'",
  );
  await client.query(rows.map(({ name }) => `DELETE FROM holdpoint.${name}`).join("; "));
  return storage;
}

storageContract("PostgreSQL behind PgBouncer", emptied);
