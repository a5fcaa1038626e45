// Tests of PostgreSQL without space: a trigger raises its error of a full disk for every checkpoint.
//   machines-full-disk.1. A run whose writes fail is requeued. It waits for the storage, resumes from its last
//        checkpoint and ends; its caller gets that end.
//   machines-full-disk.2. An answer counts once, however often its run is requeued.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Client } from "pg";
import { only, resumeBody } from "../harness/faults/fault-server.ts";
import { Fleet } from "../harness/faults/fleet.ts";
import { beforeDrop, newDatabase } from "../harness/postgres/databases.ts";
import { PATIENCE } from "../harness/patience.ts";

let fleet: Fleet;
let database: Client;

before(async () => {
  const uri = await newDatabase();
  fleet = new Fleet(uri);
  fleet.use(await fleet.start("all"));
  database = new Client({ connectionString: uri });
  await database.connect();
  beforeDrop(async () => {
    await database.end();
    await fleet.end();
  });
  await database.query(`
    CREATE TABLE full_threads (thread_id text);
    CREATE FUNCTION refuse_checkpoint() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF EXISTS (SELECT FROM full_threads WHERE thread_id = NEW.thread_id::text) THEN
          RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
        END IF;
        RETURN NEW;
      END $$;
    CREATE TRIGGER refuse_checkpoint BEFORE INSERT ON holdpoint.checkpoints
      FOR EACH ROW EXECUTE FUNCTION refuse_checkpoint();
  `);
});
function failures(): number {
  return fleet.bench.server.logs.filter(({ event }) => event === "run_storage_failed").length;
}

/** The checkpoints of this thread cannot be stored until two attempts of its run have failed. */
async function failTwice(thread: string, go: () => void): Promise<void> {
  const known = failures();
  await database.query("INSERT INTO full_threads VALUES ($1)", [thread]);
  go();
  await fleet.bench.server.whenLogged("two attempts have failed", () => failures() >= known + 2);
  await database.query("DELETE FROM full_threads");
}

test(
  "a run whose checkpoints cannot be stored is requeued until they can (machines-full-disk.1)",
  PATIENCE,
  async () => {
    const { bench } = fleet;
    const thread = await bench.newThread();
    bench.hold(thread, "two");
    const body = { assistant_id: "steps", input: {}, durability: "sync" };
    const answer = bench.post(`/threads/${thread}/runs/wait`, body);
    await bench.sees(thread, "two starts");
    await failTwice(thread, () => bench.release(thread, "two"));
    assert.deepEqual((await answer).body, { log: ["one", "two", "three"] });
    assert.equal(await bench.status(thread), "idle");
    assert.equal(only(await bench.runs(thread), "one run").status, "success");
    assert.equal(bench.listEffects(thread, "one ends").length, 1, "its checkpoint was stored before");
    assert.equal(bench.listEffects(thread, "three ends").length, 1);
  },
);

test("an answer whose run is requeued counts once (machines-full-disk.2)", PATIENCE, async () => {
  const { bench } = fleet;
  const { thread } = await bench.pause("ask");
  bench.hold(thread, "ask");
  const answer = bench.post(`/threads/${thread}/runs/wait`, { ...resumeBody("ask", "yes"), durability: "sync" });
  await bench.sees(thread, "answered");
  await failTwice(thread, () => bench.release(thread, "ask"));
  assert.deepEqual((await answer).body, { log: ["prepared", "yes", "recorded"] });
  for (const { value } of bench.listEffects(thread, "answered")) assert.equal(value, "yes");
  assert.equal((await bench.resume(thread, "ask", "again")).status, 409);
});
