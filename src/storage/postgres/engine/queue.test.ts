// Test of the claim at a notice: engine/queue.9.
import assert from "node:assert/strict";
import { Client, Pool } from "pg";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { newDatabase } from "../../../../test/harness/postgres/databases.ts";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { PATIENCE } from "../../../../test/harness/patience.ts";
import { until } from "../../../../test/harness/faults/fault-server.ts";
import type { Queue, RunClaim, Slot, Tx } from "../../../agent/ports/ports.ts";
import { systemClock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log/log.ts";
import { JOBS_SCHEMA } from "../schema/graphile-schema.ts";
import { migrateDatabase } from "../schema/migrate.ts";
import { type JobQueue, reserveSlot } from "./job-slots.ts";
import { createNotices } from "./notices.ts";
import { createJobQueue } from "./queue.ts";

const note = (): void => undefined;
const silent: Log = { debug: note, info: note, warning: note, error: note };

interface OpenQueue {
  readonly queue: Queue;
  readonly client: Client;
  /** Threads of the notices that have arrived. */
  readonly heard: string[];
  /** Threads of the claims, in order. */
  readonly claimed: (string | null | undefined)[];
  slots: number;
  /** The next claim ends when this resolves. */
  held: Promise<void>;
}

async function open(t: TestContext): Promise<OpenQueue> {
  const uri = await newDatabase();
  await migrateDatabase(uri, { holdpoint: "1.2.3", library: "1.4.18" });
  const pool = new Pool({ connectionString: uri });
  const client = new Client({ connectionString: uri });
  await client.connect();
  const notices = createNotices({ uri, servesCalls: false, isWorker: true, clock: systemClock, log: silent });
  const queue = createJobQueue({
    pool: () => pool,
    clock: systemClock,
    log: silent,
    onPool: note,
    onQueued: notices.onQueued,
  });
  const opened: OpenQueue = { queue, client, heard: [], claimed: [], slots: 10, held: Promise.resolve() };
  const slot = (): Slot => ({
    start: note,
    release: () => void opened.slots++,
    async claim(choose) {
      const tx: Partial<Tx> = {
        claimPendingRun(_claim, _dueBy, threadId) {
          opened.claimed.push(threadId);
          return null;
        },
      };
      await choose(tx as Tx, {} as RunClaim);
      await opened.held;
      opened.slots++;
      return false;
    },
  });
  notices.onQueued((thread) => void opened.heard.push(thread));
  await notices.start();
  await queue.start({ reserve: () => (opened.slots === 0 ? null : (opened.slots--, slot())) });
  t.after(async () => {
    await queue.stop();
    await notices.stop();
    await Promise.all([pool.end(), client.end()]);
  });
  return opened;
}

const notify = (client: Client, thread: string) => client.query("SELECT pg_notify('holdpoint_runs', $1)", [thread]);

test("a run that enters an empty queue is claimed at its notice (engine/queue.9)", PATIENCE, async (t) => {
  const { queue, client, claimed } = await open(t);
  await until("a fetch found the queue empty", () => queue.mayStartDirectly());
  await notify(client, "a");
  await until("the run is claimed without a job", () => claimed.includes("a"));
});

test("queue_run sends the notice with its job, and none for a delayed run", PATIENCE, async (t) => {
  const { queue, client, heard, claimed } = await open(t);
  await until("a fetch found the queue empty", () => queue.mayStartDirectly());
  const add = (thread: string, due: number | null) =>
    client.query("SELECT holdpoint.queue_run($1, $1, $2, '', false)", [thread, due]);
  await add("later", 4e12);
  await add("now", null);
  await until("the notice arrives", () => heard.length > 0);
  await until("the run is claimed", () => claimed.length > 0);
  const jobs = await client.query(
    `SELECT split_part(key, '/', 1) AS run FROM ${JOBS_SCHEMA}.jobs WHERE run_at > now()`,
  );
  assert.deepEqual([heard, jobs.rows], [["now"], [{ run: "later" }]]);
  assert.deepEqual(new Set(claimed), new Set(["now"]));
});

test("a notice claims nothing while runs wait in the queue (engine/queue.3)", PATIENCE, async (t) => {
  const opened = await open(t);
  const { queue, client, heard, claimed } = opened;
  await until("a fetch found the queue empty", () => queue.mayStartDirectly());
  const release = Promise.withResolvers<void>();
  opened.held = release.promise;
  const add = `SELECT ${JOBS_SCHEMA}.add_job('run', json_build_object('thread', $1::text, 'due', null))`;
  for (const thread of ["1", "2", "3", "4", "waits"]) await client.query(add, [thread]);
  await until("each fetch has a job, and one job waits", () => claimed.length === 4);
  assert.equal(queue.mayStartDirectly(), false);
  await notify(client, "overtakes");
  await until("the notice arrives", () => heard.length > 0);
  release.resolve();
  await until("a fetch found the queue empty", () => queue.mayStartDirectly());
  assert.deepEqual(new Set(claimed), new Set(["1", "2", "3", "4", "waits"]));
});

test("a fetch in an empty queue waits for claims at notices (engine/queue.10)", async () => {
  const clock = createFakeClock();
  const claim = Promise.withResolvers<void>();
  const slot: Partial<Slot> = {};
  const queue = {
    ports: { clock },
    consumer: { reserve: () => slot },
    claims: new Set([claim.promise]),
    reserved: [] as Partial<Slot>[],
    maybeMore: true,
    stopping: false,
  };
  const reserve = () => reserveSlot(queue as unknown as JobQueue);
  assert.equal(reserve(), null, "a queue with jobs is not empty");
  queue.maybeMore = false;
  let reserved: unknown = "none";
  const fetch = Promise.resolve(reserve()).then((flags) => (reserved = flags));
  await nextTurn();
  await clock.advance(3);
  await nextTurn();
  assert.deepEqual([reserved, queue.reserved], ["none", [slot]]);
  claim.resolve();
  await fetch;
  assert.deepEqual([reserved, queue.reserved], [null, [slot, slot]]);
});

test("a stop waits for claims at notices, and claims no more (engine/queue.6)", PATIENCE, async (t) => {
  const opened = await open(t);
  const { queue, client, heard, claimed } = opened;
  await until("a fetch found the queue empty", () => queue.mayStartDirectly());
  const release = Promise.withResolvers<void>();
  opened.held = release.promise;
  await notify(client, "a");
  await until("the claim has begun", () => claimed.length === 1);
  let stopped = false;
  const stop = queue.stop().then(() => (stopped = true));
  await notify(client, "b");
  await until("the notice arrives", () => heard.includes("b"));
  assert.equal(stopped, false);
  release.resolve();
  await stop;
  assert.deepEqual(claimed, ["a"]);
});
