// Tests of retention.ts on real storage: server/retention.4 (a backlog shortens the pause between sweeps).
import assert from "node:assert/strict";
import { once, EventEmitter } from "node:events";
import { test, type TestContext } from "node:test";
import { createFakeClock } from "../../../../test/fakes/clock.ts";
import { createIdSource } from "@holdpoint/base/ids.ts";
import { openStorage, SILENT } from "../../../../test/harness/storage/sqlite-storage.ts";
import type { AgentContext } from "../context/context.ts";
import { ACT_TRAILS, chooseActTrail } from "../model/audit-actions.ts";
import type { Thread } from "../model/model.ts";
import { runRecord, threadRecord } from "../model/testkit.ts";
import { createRetention, type RetentionOptions } from "./retention.ts";

const MINUTE_MS = 60_000;
/** Threads that one sweep deletes. */
const A_SWEEP = 2000;
const KEPT_FOREVER = {
  runsMs: 0,
  checkpointsMs: 0,
  auditMs: 0,
  takeCommandActs: null,
  expirePaused: false,
  everyMs: MINUTE_MS,
  sweepSessions: null,
};

interface Bench {
  readonly insertExpired: (count: number) => Promise<void>;
  /** A thread at rest with runs that ended at the beginning. */
  readonly insertEnded: (runs: number) => Promise<void>;
  readonly left: () => Promise<number>;
  /** Acts about the deletion of so many threads at once. */
  readonly countActs: (threads: number) => Promise<number>;
  /** Subjects of the acts about the deletion of runs. */
  readonly listPruned: () => Promise<readonly unknown[]>;
  /** @returns the pause until the next sweep, once the one that is due has ended */
  readonly sweepAfter: (ms: number) => Promise<number>;
}

async function setUp(t: TestContext, options: Partial<RetentionOptions> = {}): Promise<Bench> {
  const note = (): void => undefined;
  const storage = await openStorage(t, () => retention.stop());
  const time = createFakeClock();
  const timers = new EventEmitter();
  const clock = {
    ...time,
    after(ms: number, call: () => void) {
      timers.emit("set", ms);
      return time.after(ms, call);
    },
  };
  const agent = {
    storage,
    clock,
    log: SILENT,
    inbox: { deleted: note },
    events: { wakes: { wake: note } },
    worker: { abort: () => false, ends: { gone: note } },
  } as unknown as AgentContext;
  const retention = createRetention(agent, { ...KEPT_FOREVER, ...options });
  await retention.start();
  const newId = createIdSource(Date.now);
  const expired = (): Thread => threadRecord({ threadId: newId(), stateUpdatedAt: 1, ttlMs: 1 });
  return {
    insertExpired: async (count: number) =>
      storage.transaction(async (tx) => {
        for (let n = 0; n < count; n++) await tx.insertThread(expired());
      }),
    insertEnded: async (count) =>
      storage.transaction(async (tx) => {
        const thread = threadRecord({ threadId: newId() });
        await tx.insertThread(thread);
        const ended = { threadId: thread.threadId, assistantId: "a", graphId: "g", status: "success" } as const;
        for (let n = 0; n < count; n++) await tx.insertRun(runRecord({ ...ended, runId: newId(), endedBy: "done" }));
      }),
    async listPruned() {
      const trails = await Promise.all(ACT_TRAILS.map((trail) => storage.read((tx) => tx.listAudit(trail))));
      return trails.flatMap((acts) => acts.filter(({ action }) => action === "runs_pruned").map(({ value }) => value));
    },
    left: async () => (await storage.transaction((tx) => tx.expiredThreads(clock.now(), 10_000, false))).length,
    async countActs(threads) {
      const acts = await storage.read((tx) => tx.listAudit(chooseActTrail(`${threads} threads`)));
      return acts.filter(({ value }) => JSON.stringify(value).includes(`"deleted":${threads},`)).length;
    },
    async sweepAfter(ms) {
      const [[pause]] = await Promise.all([once(timers, "set") as Promise<[number]>, time.advance(ms)]);
      return pause;
    },
  };
}

test("a sweep that leaves expired threads is followed by the next one after a second (server/retention.4)", async (t) => {
  const { insertExpired, left, countActs, sweepAfter } = await setUp(t);
  await insertExpired(A_SWEEP + 5);
  assert.equal(await sweepAfter(MINUTE_MS), 1000);
  assert.equal(await left(), 5);
  assert.equal(await sweepAfter(1000), MINUTE_MS);
  assert.equal(await left(), 0);
  assert.deepEqual([await countActs(200), await countActs(5)], [10, 1]); // one of each step
});

test("a sweep that deletes everything is followed by the next one after the interval (server/retention.4)", async (t) => {
  const { insertExpired, left, sweepAfter } = await setUp(t);
  await insertExpired(3);
  assert.equal(await sweepAfter(MINUTE_MS), MINUTE_MS);
  assert.equal(await left(), 0);
});

test("a sweep that deletes runs of one age notes how many, and one that deletes none notes nothing", async (t) => {
  const { insertEnded, listPruned, sweepAfter } = await setUp(t, { runsMs: 1 });
  await insertEnded(2);
  await sweepAfter(MINUTE_MS);
  assert.deepEqual(await listPruned(), [{ subject: "2 runs", runs: 2 }]);
  await sweepAfter(MINUTE_MS);
  assert.equal((await listPruned()).length, 1);
});
