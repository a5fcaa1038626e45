// Two calls at the same time on one thread (promises A7, A13, A28, A31).
//   agent-races.1. A cancel against an answer: either the run used the answer, or the question is still open; never
//        both, never neither.
//   agent-races.2. Deleting wins: nothing of the thread remains or returns, and a late answer gets 404.
//   agent-races.3. Never two runs of a thread at once; every strategy for a busy thread keeps its word, and every
//        caller hears.
//   agent-races.4. The server accepts an answer sent as soon as the question is visible.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  Bench,
  each,
  FULL,
  identity,
  only,
  pause,
  questionsIn,
  resumeBody,
  seeded,
} from "../harness/faults/fault-server.ts";
import { countRows } from "../harness/rows.ts";
import type { Answer } from "../harness/server.ts";
import { IS_LONG } from "../harness/long.ts";

const RACES = FULL ? 1000 : IS_LONG ? 10 : 4;
const DELETES = FULL ? 500 : IS_LONG ? 8 : 3;
const AT_ONCE = 50;
const bench = new Bench();
const random = seeded();
before(async () => {
  await bench.start();
  console.log(`races: seed ${random.seed}`);
});
after(() => bench.end());

/** Starts the other call first, last, or in the middle. */
async function soon(msMax: number): Promise<void> {
  const ms = random.next() * msMax;
  if (ms >= 1) await pause(ms);
}

function runId(answer: Answer): string {
  return (answer.body as { readonly run_id: string }).run_id;
}

test(`a cancel meets an answer (${RACES} races; agent-races.1)`, async () => {
  const outcomes = { "used to the end": 0, "used, then cancelled": 0, "question open again": 0 };
  await each(
    Array.from({ length: RACES }, (_, race) => race),
    4,
    async (race) => {
      const { thread, question } = await bench.pause("ask");
      const node = [undefined, undefined, "ask", "record"][race % 4]; // stopped in the middle, every other time
      if (node !== undefined) bench.hold(thread, node);
      const resumed = await bench.post(`/threads/${thread}/runs`, resumeBody("ask", race));
      if (node === "ask") await bench.sees(thread, "answered");
      else if (node === "record") await bench.sees(thread, "record");
      else if (race % 8 === 1) await bench.settled(thread); // after the end for sure
      else await soon(race % 4 === 0 ? 0 : 8);
      const cancel = await bench.call(
        "POST",
        `/threads/${thread}/runs/${runId(resumed)}/cancel?wait=${race % 2 === 0}`,
      );
      assert.ok(cancel.status === 204 || cancel.status === 202, cancel.text);
      if (node !== undefined) bench.release(thread, node);
      const status = await bench.settled(thread);
      const used = (await bench.values(thread))["log"] as readonly unknown[];
      const open = await bench.questions(thread);
      if (status === "interrupted") {
        assert.deepEqual(open.map(identity), [identity(question)]);
        assert.deepEqual(used, ["prepared"], "the answer was not used");
        const again = await bench.resume(thread, "ask", "again");
        assert.deepEqual(again.body, { log: ["prepared", "again", "recorded"] });
        outcomes["question open again"]++;
      } else {
        assert.equal(status, "idle");
        assert.deepEqual(open, []);
        assert.deepEqual(used.slice(0, 2), ["prepared", race], "the answer was used");
        assert.equal((await bench.resume(thread, "ask", "late")).status, 409);
        outcomes[used.length === 3 ? "used to the end" : "used, then cancelled"]++;
      }
    },
  );
  console.log(`cancel against answer: ${JSON.stringify(outcomes)}`);
  assert.ok(
    Object.values(outcomes).every((times) => times > 0),
    "each side won at times",
  );
});

async function proveGone(thread: string): Promise<void> {
  for (const path of [`/threads/${thread}`, `/threads/${thread}/state`, `/threads/${thread}/runs`]) {
    assert.equal((await bench.call("GET", path)).status, 404, path);
  }
  assert.equal((await bench.resume(thread, "ask", "late")).status, 404);
  assert.equal(await countRows(bench.server, thread), 0);
}

test(`a delete meets a run in progress (${DELETES} races; agent-races.2)`, async () => {
  const threads: string[] = [];
  let told = 0;
  await each(
    Array.from({ length: DELETES }, (_, race) => race),
    4,
    async (race) => {
      const thread = await bench.newThread();
      threads.push(thread);
      const held = race % 4 === 0; // in the middle for sure
      if (held) bench.hold(thread, "two");
      const waiting = bench.call("POST", `/threads/${thread}/runs/wait`, { assistant_id: "steps", input: {} });
      if (held) await bench.sees(thread, "two starts");
      else await soon(8);
      const deleted = await bench.call("DELETE", `/threads/${thread}`);
      assert.equal(deleted.status, 204, deleted.text);
      const { status, text } = await waiting;
      if (held) bench.release(thread, "two");
      assert.ok(status === 200 || status === 404, text);
      if (/__error__/.test(text)) told++;
      assert.equal((await bench.call("DELETE", `/threads/${thread}`)).status, 404);
    },
  );
  const last = await bench.newThread();
  await bench.post(`/threads/${last}/runs/wait`, { assistant_id: "steps", input: {} });
  for (const thread of threads) await proveGone(thread); // by now every run has had its time to write
  console.log(`delete against run: ${DELETES} races, ${told} callers were told that the thread was deleted`);
  assert.ok(told > 0, "some deletes met a run in progress");
});

test(`a delete meets an answer (${DELETES} races; agent-races.2)`, async () => {
  const outcomes: Record<number, number> = { 200: 0, 404: 0 };
  const threads: string[] = [];
  await each(
    Array.from({ length: DELETES }, (_, race) => race),
    4,
    async (race) => {
      const { thread } = await bench.pause("ask");
      threads.push(thread);
      const gone = Promise.withResolvers<void>();
      const answering = async (): Promise<Answer> => {
        if (race % 3 === 0) await soon(4);
        if (race % 6 === 0) await gone.promise; // late for sure
        return bench.resume(thread, "ask", race);
      };
      const deleting = async (): Promise<Answer> => {
        if (race % 3 !== 0) await soon(4);
        if (race % 6 === 1) await bench.sees(thread, "answered"); // late for sure
        return bench.call("DELETE", `/threads/${thread}`).finally(gone.resolve);
      };
      const [resumed, deleted] = await Promise.all([answering(), deleting()]);
      assert.equal(deleted.status, 204, deleted.text);
      assert.ok(resumed.status in outcomes, resumed.text);
      outcomes[resumed.status] = (outcomes[resumed.status] ?? 0) + 1;
    },
  );
  for (const thread of threads) await proveGone(thread);
  console.log(`delete against answer: ${JSON.stringify(outcomes)}`);
  assert.ok((outcomes[200] ?? 0) > 0 && (outcomes[404] ?? 0) > 0, "both sides won at times");
});

/** AT_ONCE calls that start a run on one thread, at the same time. */
function startMany(thread: string, strategy: string): readonly Promise<Answer>[] {
  return Array.from({ length: AT_ONCE }, () =>
    bench.call("POST", `/threads/${thread}/runs/wait`, {
      assistant_id: "steps",
      input: {},
      multitask_strategy: strategy,
    }),
  );
}

/** Polls the runs during `work`. @returns the number of polls that saw one running */
async function watch(thread: string, work: Promise<unknown>): Promise<number> {
  let seen = 0;
  const progress = { over: false };
  const end = work.finally(() => (progress.over = true));
  while (!progress.over) {
    const running = (await bench.runs(thread)).filter(({ status }) => status === "running");
    assert.ok(running.length <= 1, `${running.length} runs at once`); // agent-races.3
    seen += running.length;
  }
  await end;
  return seen;
}

function countBy(statuses: readonly (string | number)[]): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(Object.groupBy(statuses, String)).map(([k, v]) => [k, v?.length])),
  );
}

test(`${AT_ONCE} starts at once, enqueue: all run, in order, one at a time (agent-races.3)`, async () => {
  const thread = await bench.newThread();
  const starts = Promise.all(startMany(thread, "enqueue"));
  const seen = await watch(thread, starts);
  for (const { status, text } of await starts) assert.match(`${status} ${text}`, /^200 \s*\{"log":/);
  const runs = (await bench.runs(thread)).map((run) => run.run_id).sort();
  const effects = bench.effects(thread).map(({ run, node }) => `${run} ${node}`);
  const nodes = ["one starts", "one ends", "two starts", "two ends", "three starts", "three ends"];
  assert.deepEqual(
    effects,
    runs.flatMap((run) => nodes.map((node) => `${run} ${node}`)),
  );
  assert.equal(((await bench.values(thread))["log"] as readonly unknown[]).length, AT_ONCE * 3);
  assert.ok(seen > 0, "runs were seen running");
});

test(`${AT_ONCE} starts at once, reject: one runs, the others get 409 (agent-races.3)`, async () => {
  const thread = await bench.newThread();
  bench.hold(thread, "one");
  const starts = startMany(thread, "reject");
  const statuses: number[] = [];
  for (const start of starts) void start.then(({ status }) => statuses.push(status));
  while (statuses.length < AT_ONCE - 1) await bench.runs(thread);
  assert.equal((await bench.runs(thread)).length, 1);
  bench.release(thread, "one");
  await Promise.all(starts);
  assert.equal(countBy(statuses), JSON.stringify({ 200: 1, 409: AT_ONCE - 1 }));
  assert.deepEqual(await bench.values(thread), { log: ["one", "two", "three"] });
});

for (const strategy of ["interrupt", "rollback"]) {
  test(`${AT_ONCE} starts at once, ${strategy}: the last one runs to its end, every caller hears (agent-races.3)`, async () => {
    const thread = await bench.newThread();
    bench.hold(thread, "three");
    const starts = startMany(thread, strategy);
    const told = Promise.all(starts);
    let accepted = 0;
    while (accepted < AT_ONCE) accepted = (await bench.runs(thread)).length;
    bench.release(thread, "three");
    const seen = await watch(thread, told);
    const answers = await told;
    for (const { status, text } of answers) assert.equal(status, 200, text);
    assert.equal(await bench.settled(thread), "idle");
    const runs = (await bench.runs(thread)).toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1));
    assert.equal(runs.at(-1)?.status, "success");
    assert.equal(runs.filter(({ status }) => status === "success").length, 1);
    const ended = answers.filter(({ text }) => !text.includes("__error__"));
    const log = (await bench.values(thread))["log"] as readonly string[];
    assert.deepEqual(only(ended, "one caller got a state").body, { log });
    assert.deepEqual(log.slice(-3), ["one", "two", "three"]);
    if (strategy === "rollback") assert.equal(log.length, 3, "what the others wrote was taken back");
    console.log(`${strategy}: runs ${countBy(runs.map(({ status }) => status))}, seen running ${seen} times`);
  });
}

test(`accepts an answer sent right after the reply, or up to 5 ms later (${RACES} times; agent-races.4)`, async () => {
  let acceptedCount = 0;
  for (let race = 0; race < RACES; race++) {
    const { thread } = await bench.pause("ask");
    if (race % 2 === 1) await soon(5);
    const { status, text } = await bench.resume(thread, "ask", race);
    assert.equal(status, 200, text);
    acceptedCount++;
  }
  console.log(`answer at once: ${acceptedCount} of ${RACES} acceptedCount`);
});

test(`accepts an answer sent as soon as the pause is visible (${RACES} times; agent-races.4)`, async () => {
  let polls = 0;
  for (let race = 0; race < RACES; race++) {
    const thread = await bench.newThread();
    const waiting = bench.post(`/threads/${thread}/runs/wait`, { assistant_id: "ask", input: {} });
    const see = async (): Promise<boolean> => {
      polls++;
      if (race % 2 === 0) return (await bench.questions(thread)).length > 0;
      return (await bench.status(thread)) === "interrupted";
    };
    while (!(await see()));
    const { status, text } = await bench.resume(thread, "ask", race);
    assert.equal(status, 200, text);
    assert.equal(questionsIn((await waiting).body).length, 1);
  }
  console.log(`answer on sight: ${RACES} of ${RACES} acceptedCount, ${polls} polls`);
  assert.ok(polls > RACES, "the pause was not there at the first look");
});
