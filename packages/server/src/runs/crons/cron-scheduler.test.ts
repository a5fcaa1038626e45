// Tests of the cron scheduler, on a clock that tests move and on real storage. Runs are stored and not executed.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createFakeClock } from "../../../../../test/fakes/clock.ts";
import { openStorage } from "../../../../../test/harness/storage/sqlite-storage.ts";
import { ApiError, type ErrorCode } from "@holdpoint/base/api-error.ts";
import { createIdSource } from "@holdpoint/base/ids.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { AgentContext } from "../../context/context.ts";
import { createCronScheduler, type CronScheduler } from "./cron-scheduler.ts";
import { createRunWaiters } from "../execute/run-waiters.ts";
import { createCron, deleteCron, patchCron, type NewCron } from "./crons.ts";
import { chooseActTrail } from "../../model/audit-actions.ts";
import type { Cron, Run } from "../../model/model.ts";
import type { Access, Storage } from "../../ports/ports.ts";

const START = Date.parse("2026-05-01T12:00:30Z");
const MINUTE_MS = 60_000;
const NO_REACH = { threads: null, assistants: null };
const ANN = { name: "ann", user: { identity: "ann" }, permissions: [] };
const EVERY_MINUTE: NewCron = {
  threadId: null,
  schedule: "* * * * *",
  timezone: null,
  endTime: null,
  enabled: true,
  onRunCompleted: "delete",
  metadata: {},
  payload: { assistant_id: "graph", input: { x: 1 } },
};

interface Bench {
  readonly agent: AgentContext;
  readonly storage: Storage;
  readonly scheduler: CronScheduler;
  /** Log events, without details. */
  readonly said: readonly string[];
  /** Lets the time pass, and everything happen that it brings about. */
  readonly pass: (ms: number) => Promise<void>;
  /** The wall clock jumps; no time passes. */
  readonly jump: (ms: number) => void;
  /** A second scheduler on the same storage, as after a restart or on another server. */
  readonly another: () => CronScheduler;
  readonly runs: () => Promise<readonly Run[]>;
  readonly make: (changes?: Partial<NewCron>) => Promise<Cron>;
  readonly cron: (cronId: string) => Promise<Cron | null>;
  /** Refuses runs from now on. */
  readonly refuse: (code: ErrorCode | null) => void;
}

async function bench(t: TestContext): Promise<Bench> {
  const said: string[] = [];
  const note = (event: string): void => void said.push(event);
  const log: Log = { debug: () => undefined, info: note, warning: note, error: note };
  const storage = await openStorage(t);
  const time = createFakeClock(START);
  let jumped = 0;
  const clock = { ...time, now: () => time.now() + jumped };
  let refusal: ErrorCode | null = null;
  const assistant = { assistantId: "a", graphId: "graph", metadata: {}, config: {}, context: {} };
  // Everything that acceptance of a run needs, without a worker.
  const agent = {
    storage,
    clock,
    log,
    newId: createIdSource(clock.now),
    access: null,
    limits: { assistantsMax: 10, cronsMax: 10 },
    queueLimit: { isFull: () => Promise.resolve(false) },
    graphs: {
      list: () => [{ graphId: "graph" }],
      describe: () => ({ graphId: "graph", nodeNames: ["node"], breakpoints: { before: ["node"], after: [] } }),
      checkGiven: () => undefined,
      checkContext: () => undefined,
      encode: (value: unknown) => JSON.stringify(value),
    },
    webhooks: { check: () => undefined, wake: () => undefined },
    headers: { pick: () => ({}), strip: (value: object) => value },
    inbox: { closed: () => undefined },
    events: { goneAt: () => 0, wakes: { wake: () => undefined } },
    worker: {
      ends: createRunWaiters({ notify: () => undefined }),
      draining: () => {
        if (refusal !== null) throw new ApiError(refusal, "on purpose");
        return false;
      },
      reserve: () => null,
      claimFailed: () => undefined,
      wake: () => undefined,
    },
    wakeCrons: () => scheduler.wake(),
  } as unknown as AgentContext;
  await storage.transaction((tx) =>
    tx.insertAssistant({
      ...assistant,
      assistantId: "98cb5b75-5a1d-5f4d-9c6e-9c6d1ad7c9a2",
      name: "n",
      description: null,
      version: 1,
      createdAt: 1,
      updatedAt: 1,
    }),
  );
  const scheduler = createCronScheduler(agent);
  await scheduler.start();
  t.after(() => scheduler.stop());
  const payload = { ...EVERY_MINUTE.payload, assistant_id: "98cb5b75-5a1d-5f4d-9c6e-9c6d1ad7c9a2" };
  return {
    agent,
    storage,
    scheduler,
    said,
    pass: (ms) => time.advance(ms),
    jump(ms) {
      jumped += ms;
    },
    another() {
      const other = createCronScheduler(agent);
      t.after(() => other.stop());
      return other;
    },
    async runs() {
      const active = await storage.transaction(async (tx) => {
        const threads = await tx.searchThreads({
          scope: null,
          ids: null,
          idPrefix: null,
          status: null,
          metadata: null,
          limit: 1000,
          offset: 0,
          search: [],
          sortBy: "created_at",
          descending: false,
        });
        const all: Run[] = [];
        for (const { threadId } of threads) all.push(...(await tx.activeRuns(threadId)));
        return all;
      });
      return active;
    },
    make: (changes = {}) =>
      createCron(agent, { caller: ANN, scope: null, reach: NO_REACH }, { ...EVERY_MINUTE, payload, ...changes }),
    cron: (cronId) => storage.transaction((tx) => tx.cron(cronId)),
    refuse(code) {
      refusal = code;
    },
  };
}

test("each tick starts one run, in its caller's name, on a new thread", async (t) => {
  const { pass, runs, make, cron } = await bench(t);
  const { cronId } = await make({ metadata: { purpose: "news" } });
  assert.equal((await cron(cronId))?.nextAt, START + 30_000);
  await pass(29_999);
  assert.equal((await runs()).length, 0);
  await pass(1);
  const [run] = await runs();
  assert.equal((await runs()).length, 1);
  assert.deepEqual(run?.metadata["cron_id"], cronId);
  assert.deepEqual(run.metadata["purpose"], "news");
  assert.deepEqual(run.request.user, ANN.user);
  assert.equal(run.input, '{"x":1}');
  await pass(3 * MINUTE_MS);
  const all = await runs();
  assert.equal(all.length, 4);
  assert.equal(new Set(all.map(({ threadId }) => threadId)).size, 4);
  assert.equal((await cron(cronId))?.nextAt, START + 30_000 + 4 * MINUTE_MS);
});

test("nothing is looked at between two ticks, but once a minute", async (t) => {
  const { agent, pass, make } = await bench(t);
  await make({ schedule: "0 * * * *" });
  await pass(0);
  let transactions = 0;
  const transaction = agent.storage.transaction.bind(agent.storage);
  Object.assign(agent.storage, {
    transaction: (work: never) => {
      transactions++;
      return transaction(work);
    },
  });
  await pass(10 * MINUTE_MS);
  assert.equal(transactions, 2 * 10, "what is due, and when the next one is");
});

test("one run replaces all missed ticks (cron-scheduler.2)", async (t) => {
  const { scheduler, another, pass, runs, make } = await bench(t);
  await make();
  await scheduler.stop();
  await pass(100 * MINUTE_MS);
  assert.equal((await runs()).length, 0);
  await another().start();
  await pass(0);
  assert.equal((await runs()).length, 1);
  await pass(MINUTE_MS);
  assert.equal((await runs()).length, 2, "and then it goes on as ever");
});

test("two schedulers on one storage start one run a tick (cron-scheduler.1)", async (t) => {
  const { another, pass, runs, make } = await bench(t);
  await another().start();
  await make();
  await pass(5 * MINUTE_MS);
  assert.equal((await runs()).length, 5);
});

test("a clock that goes back repeats no tick; one that jumps ahead is noticed within a minute (cron-scheduler.1)", async (t) => {
  const { jump, pass, runs, make } = await bench(t);
  await make();
  await pass(MINUTE_MS);
  assert.equal((await runs()).length, 1);
  jump(-10 * MINUTE_MS);
  await pass(10 * MINUTE_MS);
  assert.equal((await runs()).length, 1, "these minutes have had their run");
  await pass(MINUTE_MS);
  assert.equal((await runs()).length, 2);
  jump(60 * MINUTE_MS);
  await pass(MINUTE_MS);
  assert.ok((await runs()).length >= 3);
  assert.ok((await runs()).length <= 4, "one for all that was jumped over, and one for the minute that passed");
});

for (const [name, backMs] of [
  ["an hour", 60 * MINUTE_MS],
  ["a year", 365 * 24 * 60 * MINUTE_MS],
] as const)
  test(`a clock that goes back by ${name} silences no cron, also over a restart (cron-scheduler.5)`, async (t) => {
    const { jump, pass, runs, make, scheduler, another } = await bench(t);
    await make();
    await pass(MINUTE_MS);
    assert.equal((await runs()).length, 1);
    jump(-backMs);
    await pass(2 * MINUTE_MS);
    const count = (await runs()).length;
    assert.ok(count >= 2 && count <= 3, `${count} runs`);
    await scheduler.stop();
    jump(-backMs);
    await another().start();
    await pass(2 * MINUTE_MS);
    assert.ok((await runs()).length > count);
  });

test("the last tick is the one before end_time, also after an outage (cron-scheduler.2)", async (t) => {
  const { scheduler, another, pass, runs, make, cron } = await bench(t);
  const { cronId } = await make({ endTime: START + 2 * MINUTE_MS });
  await pass(5 * MINUTE_MS);
  assert.equal((await runs()).length, 2);
  assert.equal((await cron(cronId))?.nextAt, null);
  await make({ endTime: START + 7 * MINUTE_MS });
  await scheduler.stop();
  await pass(5 * MINUTE_MS);
  await another().start();
  await pass(MINUTE_MS);
  assert.equal((await runs()).length, 2, "its time is over");
});

test("a change counts from the moment it is made", async (t) => {
  const { agent, pass, runs, make, cron } = await bench(t);
  const { cronId } = await make({ schedule: "0 0 1 1 *" });
  await pass(10 * MINUTE_MS);
  const takeover = { reach: NO_REACH, before: (await cron(cronId))?.payload ?? {} };
  const ann = { caller: ANN, scope: null, takeover };
  await patchCron(agent, ann, cronId, { schedule: "* * * * *" });
  await pass(MINUTE_MS);
  assert.equal((await runs()).length, 1);
  await patchCron(agent, { ...ann, takeover: null }, cronId, { enabled: false });
  assert.equal((await cron(cronId))?.nextAt, null);
  await pass(5 * MINUTE_MS);
  assert.equal((await runs()).length, 1);
  const others = { ...takeover, before: { ...takeover.before, input: { x: 3 } } };
  assert.equal(
    await patchCron(agent, { ...ann, takeover: others }, cronId, { enabled: true }),
    null,
    "asked for another",
  );
  await patchCron(agent, ann, cronId, { enabled: true, payload: { input: { x: 2 } } });
  await pass(MINUTE_MS);
  assert.deepEqual(
    (await runs()).map(({ input }) => input),
    ['{"x":1}', '{"x":2}'],
  );
  await deleteCron(agent, ANN, cronId);
  await pass(5 * MINUTE_MS);
  assert.equal((await runs()).length, 2);
});

for (const [what, code] of [
  ["a full queue", "overloaded"],
  ["a storage that cannot be written", "storage_unavailable"],
  ["a commit of which nothing can be found out", "commit_unknown"],
  ["a place among the workers that was lost", "worker_not_listed"],
] as const) {
  test(`${what} leaves the tick due, and it is tried again (cron-scheduler.4)`, async (t) => {
    const { refuse, pass, runs, make, said } = await bench(t);
    await make();
    refuse(code);
    await pass(MINUTE_MS);
    assert.equal((await runs()).length, 0);
    assert.ok(said.includes("crons_delayed"));
    refuse(null);
    await pass(5000);
    assert.equal((await runs()).length, 1);
  });
}

test("disables a cron without an assistant; other crons continue (cron-scheduler.3)", async (t) => {
  const { refuse, pass, runs, make, cron, said } = await bench(t);
  const { cronId } = await make();
  refuse("assistant_not_found");
  await pass(MINUTE_MS);
  assert.deepEqual([(await cron(cronId))?.enabled, (await cron(cronId))?.nextAt], [false, null]);
  assert.ok(said.includes("cron_disabled"));
  refuse(null);
  await make();
  await pass(MINUTE_MS);
  assert.equal((await runs()).length, 1);
});

for (const [what, lost, more] of [
  ["the right to start runs", "threads:create_run", {}],
  ["the right to switch breakpoints off", "threads:bypass", { interrupt_before: [] }],
] as const)
  test(`a caller without ${what} starts nothing: the cron is disabled (cron-scheduler.6)`, async (t) => {
    const { agent, storage, pass, runs, make, cron, said } = await bench(t);
    const isCurrent: Access["isCurrent"] = (_tx, { by }, event) => Promise.resolve(by !== "ann" || event !== lost);
    Object.assign(agent, { access: { isCurrent } });
    const { cronId, payload } = await make();
    await storage.transaction((tx) => tx.updateCron(cronId, { payload: { ...payload, ...more } }));
    await pass(MINUTE_MS);
    assert.equal((await runs()).length, 0);
    const after = await cron(cronId);
    assert.deepEqual([after?.enabled, after?.nextAt, after?.disabledReason], [false, null, "caller_gone"]);
    assert.ok(said.includes("cron_disabled"));
    const acts = await storage.transaction((tx) => tx.listAudit(chooseActTrail(cronId)));
    const act = acts.find(({ action }) => action === "cron_disabled");
    assert.equal(act?.by, "server");
    assert.equal((act.value as JsonObject)["reason"], "caller_gone");
  });

test("skips a tick whose run is refused (cron-scheduler.3)", async (t) => {
  const { agent, storage, pass, make, cron, said } = await bench(t);
  const thread = agent.newId();
  const other = await make();
  await pass(MINUTE_MS);
  const [busy] = await storage.transaction((tx) =>
    tx.searchThreads({
      scope: null,
      ids: null,
      idPrefix: null,
      status: "busy",
      metadata: null,
      limit: 1,
      offset: 0,
      search: [],
      sortBy: "created_at",
      descending: true,
    }),
  );
  assert.ok(busy !== undefined && busy.threadId !== thread);
  const reject = { ...other.payload, multitask_strategy: "reject" };
  const { cronId } = await make({ threadId: busy.threadId, payload: reject });
  await pass(MINUTE_MS);
  assert.ok(said.includes("cron_tick_passed_over"));
  const after = await cron(cronId);
  assert.deepEqual([after?.enabled, after?.nextAt], [true, START + 30_000 + 2 * MINUTE_MS]);
});
