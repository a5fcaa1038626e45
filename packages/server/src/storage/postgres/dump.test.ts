// Tests of dumps of a PostgreSQL storage: the contract, postgres/dump.2 (counters continue after the loaded ids) and
// postgres/dump.3 (runs continue).
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "pg";
import { beforeDrop, newDatabase } from "../../../../../test/harness/postgres/databases.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { dumpContract } from "../contract/dump.contract.ts";
import { DUMP_TABLES } from "../dump/dump-tables.ts";
import { createPostgresStorage } from "./storage.ts";

const log = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });
const DERIVED = ["interrupts.claimed_by", "interrupts.claimed_until", "threads.expires_at", "runs.worker_id"];

async function open() {
  const uri = await newDatabase();
  const versions = { holdpoint: "0.0.0", library: "1.4.18" };
  const storage = createPostgresStorage({ uri, poolMax: 2, versions, log });
  await storage.start();
  const client = new Client({ connectionString: uri });
  await client.connect();
  beforeDrop(() => storage.stop());
  beforeDrop(() => client.end());
  return { storage, client };
}
const opened = open();

async function emptied() {
  const { storage, client } = await opened;
  await client.query(DUMP_TABLES.map(({ name }) => `DELETE FROM holdpoint.${name}`).join("; "));
  const stored = async (): Promise<readonly string[]> => {
    const { rows } = await client.query<{ readonly place: string }>(
      `SELECT table_name || '.' || column_name AS place FROM information_schema.columns
       WHERE table_schema = 'holdpoint' AND table_name = ANY ($1)`,
      [DUMP_TABLES.map(({ name }) => name)],
    );
    return rows.map(({ place }) => place).filter((place) => !DERIVED.includes(place));
  };
  return { storage, stored, client };
}

dumpContract("PostgreSQL", emptied);

test("new ids follow the loaded ones (postgres/dump.2)", async () => {
  const { storage } = await emptied();
  const item = { key: "k", value: "1", created_at: 1, updated_at: 1, ttl_ms: null, expires_at: null };
  const items = DUMP_TABLES.find(({ name }) => name === "store_items");
  assert.ok(items !== undefined);
  await storage.dump((port) =>
    port.load(
      (async function* rows() {
        yield [items, { ...item, item_id: 1_000_000, ns: "a" }] as const;
      })(),
    ),
  );
  const now = { namespace: ["b"], key: "new", value: 1, createdAt: 1, updatedAt: 1, ttlMs: null, expiresAt: null };
  await storage.transaction((tx) => tx.putStoreItem(now as never, []));
  const ids = await storage.dump(async (port) =>
    (await port.read(items, null, 10)).map((row) => Number(row["item_id"])),
  );
  assert.deepEqual([ids[0], (ids[1] ?? 0) > 1_000_000], [1_000_000, true]);
});

test("a pending run keeps its place, and a running one belongs to a dead worker (postgres/dump.3)", async () => {
  const { storage, client } = await emptied();
  const runs = DUMP_TABLES.find(({ name }) => name === "runs");
  assert.ok(runs !== undefined);
  const texts = Object.fromEntries(Object.keys(runs.columns).map((column) => [column, "null"]));
  const numbers = {
    attempt: 1,
    crashes: 0,
    suspicions: 0,
    alone: 0,
    storage_failures: 0,
    urgent: 0,
    due_at: null,
    created_at: 1,
    updated_at: 1,
  };
  const row = { ...texts, ...numbers, caller: "ann", place: null };
  await storage.dump((port) =>
    port.load(
      (async function* rows() {
        yield [runs, { ...row, run_id: "waits", thread_id: "a", status: "pending", place: 3 }] as const;
        yield [runs, { ...row, run_id: "later", thread_id: "b", status: "pending", due_at: 4e12 }] as const;
        yield [runs, { ...row, run_id: "ran", thread_id: "c", status: "running" }] as const;
        yield [runs, { ...row, run_id: "ended", thread_id: "d", status: "success" }] as const;
      })(),
    ),
  );
  const line = await client.query(
    "SELECT run_id, caller, place FROM holdpoint.runs WHERE status = 'pending' ORDER BY run_id",
  );
  assert.deepEqual(line.rows, [
    { run_id: "later", caller: "ann", place: null },
    { run_id: "waits", caller: "ann", place: "3" },
  ]);
  const left = await storage.transaction(async (tx) => {
    const dead = await tx.deadWorker(60_000);
    return dead === null ? [] : tx.runningRuns(dead);
  });
  assert.deepEqual(
    left.map(({ runId }) => runId),
    ["ran"],
  );
});
