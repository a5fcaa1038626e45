// The contract of the storage port over the simulated database: in any order of statements and replies, and with refused
// transactions, each case reads what it reads on PostgreSQL alone. A failure prints its seed; HOLDPOINT_TEST_SEED=…
// repeats it. Of `npm run histories` alone: it takes half a minute.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Client } from "pg";
import type { Log } from "@holdpoint/base/log/log.ts";
import { storageContract } from "@holdpoint/server/storage/contract/storage.contract.ts";
import { createPostgresStorage, type PostgresStorage } from "@holdpoint/server/storage/postgres/storage.ts";
import { beforeDrop, newDatabase } from "../harness/postgres/databases.ts";
import { simulateClient } from "./simulated-client.ts";
import { VERSIONS } from "./simulated-server.ts";
import { type Fate, World } from "./world.ts";

const silent: Log = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };
const seed = Number(process.env["HOLDPOINT_TEST_SEED"] ?? Date.now() % 1_000_000_000);
/** The longest transaction of the contract passes when it is repeated. What a broken connection leaves is no part of it. */
const STEPS_BETWEEN_REFUSALS = 2000;

function createFates(): (chance: number, step: number) => Fate {
  let next = STEPS_BETWEEN_REFUSALS / 10;
  return (chance, step) => {
    if (step < next || chance > 0.05) return "sent";
    next = step + STEPS_BETWEEN_REFUSALS;
    return "refused";
  };
}

let opened: { readonly storage: PostgresStorage; readonly admin: Client; readonly world: World } | null = null;

const isPlayed = process.env["HOLDPOINT_HISTORIES"] !== undefined;

before(async () => {
  if (!isPlayed) return;
  const uri = await newDatabase();
  const admin = new Client({ connectionString: uri });
  await admin.connect();
  const world = new World(seed, admin, createFates());
  const process = world.newProcess("server");
  const clock = world.clock(process);
  const storage = createPostgresStorage({
    uri,
    poolMax: 10,
    versions: VERSIONS,
    log: silent,
    clock,
    Client: simulateClient(world, process, (sql) => sql),
  });
  await storage.start();
  process.isHeld = true;
  world.isOpen = false;
  let isOver = false;
  const played = world.run(() => isOver, Infinity);
  opened = { storage, admin, world };
  beforeDrop(async () => {
    isOver = true;
    await played;
    world.isOpen = true;
    await storage.stop();
    await admin.end();
  });
});

if (isPlayed)
  storageContract(`a simulated PostgreSQL (seed ${seed})`, async () => {
    assert.ok(opened !== null);
    const { admin, storage, world } = opened;
    const { rows } = await admin.query<{ readonly name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'holdpoint' AND tablename <> 'meta'",
    );
    await admin.query(rows.map(({ name }) => `DELETE FROM holdpoint.${name}`).join("; "));
    return {
      ...storage,
      /** Moves and verifications: one program that reads one snapshot, which PostgreSQL does not refuse. */
      async dump(work) {
        world.isOpen = true;
        return storage.dump(work).finally(() => (world.isOpen = false));
      },
    };
  });

test("the contract met refusals", { skip: isPlayed ? false : "of npm run histories" }, () => {
  assert.ok((opened?.world.steps ?? []).some((step) => step.endsWith("refused")));
});
