// Tests of encryption at rest on PostgreSQL: the port's contract with keys, and that it leaves no plain cell (sealing.1).
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { Client } from "pg";
import { beforeDrop, newDatabase } from "../../../../../test/harness/postgres/databases.ts";
import { SILENT } from "../../../../../test/harness/storage/sqlite-storage.ts";
import type { EncryptionKey } from "@holdpoint/base/keyring.ts";
import { findCells } from "../contract/sealed.contract.ts";
import { sealingContract } from "../contract/sealing.contract.ts";
import { storageContract } from "../contract/storage.contract.ts";
import { TABLES } from "../shared/sealed-columns.ts";
import { createPostgresStorage, type PostgresStorage } from "./storage.ts";

const VERSIONS = { holdpoint: "1.2.3", library: "1.4.18" };
const keys: readonly EncryptionKey[] = ["new", "old"].map((id) => ({ id, key: randomBytes(32) }));
const create = (uri: string, given: readonly EncryptionKey[]): PostgresStorage =>
  createPostgresStorage({ uri, poolMax: 4, versions: VERSIONS, log: SILENT, keys: given });
const [others, sealed] = [new Set<string>(), new Set<string>()];

type Row = Readonly<Record<string, unknown>>;
interface Opened {
  readonly storage: PostgresStorage;
  readonly client: Client;
  readonly tables: readonly string[];
}
let shared: Promise<Opened> | null = null;

async function connect(uri: string): Promise<Client> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  beforeDrop(() => client.end());
  return client;
}

async function openShared(): Promise<Opened> {
  const uri = await newDatabase();
  const storage = create(uri, keys);
  await storage.start();
  beforeDrop(() => storage.stop());
  const client = await connect(uri);
  const { rows } = await client.query<{ readonly name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'holdpoint'",
  );
  return { storage, client, tables: rows.map(({ name }) => name) };
}

const readRows = async (client: Client, sql: string): Promise<readonly Row[]> => (await client.query<Row>(sql)).rows;

/** What a test stored, before the next one finds the storage empty. */
async function look({ client, tables }: Opened): Promise<void> {
  const found = await findCells((sql) => readRows(client, sql), "holdpoint.", tables, "new");
  for (const one of found.others) others.add(one);
  for (const one of found.sealed) sealed.add(one);
}

async function emptied(): Promise<PostgresStorage> {
  const opened = await (shared ??= openShared());
  await look(opened);
  const names = opened.tables.filter((name) => name !== "meta");
  await opened.client.query(names.map((name) => `DELETE FROM holdpoint.${name}`).join("; "));
  return opened.storage;
}

storageContract("PostgreSQL with keys", emptied, emptied, true);

test("the contract leaves no plain cell in a sealed column (sealing.1)", async () => {
  await look(await (shared ??= openShared()));
  assert.deepEqual([...others], []);
  assert.ok(sealed.size > 20);
});

sealingContract("PostgreSQL", async () => {
  const uri = await newDatabase();
  const storage = create(uri, []);
  await storage.start(); // makes the tables
  await storage.stop();
  const client = await connect(uri);
  return {
    create: (given) => create(uri, given),
    readRows: (sql) => readRows(client, sql),
    schema: "holdpoint.",
  };
});

test("every column of the schema is listed as sealed or plain", async () => {
  const { client } = await (shared ??= openShared());
  const columns = await readRows(
    client,
    "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'holdpoint'",
  );
  assert.ok(columns.length > 200);
  for (const { table_name: name, column_name: column } of columns) {
    const { sealed: own = {}, plain = [] } = TABLES[String(name)] ?? {};
    assert.ok(String(column) in own || plain.includes(String(column)), `${String(name)}.${String(column)}`);
  }
});
