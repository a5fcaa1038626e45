// Tests of storage on PostgreSQL: the port's contract, and what belongs to many servers on one database.
import type { TestContext } from "node:test";
import { Client } from "pg";
import { beforeDrop, newDatabase } from "../../../test/harness/postgres.ts";
import type { Log } from "../../base/log.ts";
import { storageContract } from "../storage.contract.ts";
import { createPostgresStorage, type PostgresStorage } from "./storage.ts";

const silent: Log = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };
const VERSIONS = { holdpoint: "1.2.3", library: "1.4.18" };

/** One database and one storage for the contract: each of its tests finds it empty. */
let shared: Promise<{ readonly storage: PostgresStorage; readonly client: Client }> | null = null;

async function openShared() {
  const uri = await newDatabase();
  const storage = createPostgresStorage({ uri, poolMax: 10, versions: VERSIONS, log: silent });
  await storage.start();
  const client = new Client({ connectionString: uri });
  await client.connect();
  beforeDrop(() => storage.stop());
  beforeDrop(() => client.end());
  return { storage, client };
}

async function emptied(_t: TestContext): Promise<PostgresStorage> {
  shared ??= openShared();
  const { storage, client } = await shared;
  const { rows } = await client.query<{ readonly name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'holdpoint' AND tablename <> 'meta'",
  );
  await client.query(rows.map(({ name }) => `DELETE FROM holdpoint.${name}`).join("; "));
  return storage;
}

storageContract("PostgreSQL", emptied);
