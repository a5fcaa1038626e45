// Tests of paused threads across restarts, deploys and clock changes.
//   agent-survival.1. After each restart, by kill -9 or SIGTERM, every pause exists with the same id, value and ns.
//   agent-survival.2. A clock 30 days ahead, and then back again, loses nothing: the last write counts.
//   agent-survival.3. In the end every interrupt accepts its answer.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { call } from "../harness/server.ts";
import { Bench, each, FULL, identity, only, questionsIn, type Question } from "../harness/faults/fault-server.ts";
import { IS_LONG } from "../harness/long.ts";

const THREADS = FULL ? 1000 : IS_LONG ? 20 : 8;
const WIDTH = 8;
const DAY_MS = 24 * 60 * 60 * 1000;
const FORWARD = { HOLDPOINT_TEST_CLOCK_SHIFT_MS: String(30 * DAY_MS) };

const bench = new Bench();
before(() => bench.start());
after(() => bench.end());

interface Paused {
  readonly thread: string;
  question: Question;
  readonly answers: string[];
}

/** The nested graph interrupts three times: on the shifted clock, then on the right one. */
async function answer(one: Paused): Promise<void> {
  const value = `answer ${one.answers.length + 1} of ${one.thread}`;
  const { status, text, body } = await bench.resume(one.thread, "nested", value);
  assert.equal(status, 200, text);
  one.answers.push(value);
  if (one.answers.length === 3) {
    const [first, second, third] = one.answers;
    assert.deepEqual(body, { first, second, third }); // agent-survival.3
    assert.equal(await bench.status(one.thread), "idle");
    assert.deepEqual(await bench.values(one.thread), { first, second, third });
    const state = await call(bench.server, "GET", `/threads/${one.thread}/state`);
    const { values, next }: { values: unknown; next: readonly string[] } = state.body;
    assert.deepEqual([values, next], [{ first, second, third }, []]); // agent-survival.2: the newest is the last write
    return;
  }
  one.question = only(questionsIn(body), text);
}

test(`${THREADS} paused threads, restarts, a clock that jumps 30 days and back (agent-survival.1–3)`, async () => {
  const all: Paused[] = [];
  await each(Array.from({ length: THREADS }), WIDTH, async () => {
    all.push({ ...(await bench.pause("nested")), answers: [] });
  });
  let proven = 0;
  const prove = async (): Promise<void> => {
    await each(all, WIDTH, async ({ thread, question, answers }) => {
      const open = only(await bench.questions(thread), "one question is open");
      assert.deepEqual(identity(open), identity(question)); // agent-survival.1
      assert.equal(open.value, ["first", "second", "third"][answers.length]);
      assert.equal(await bench.status(thread), "interrupted");
      proven++;
    });
  };
  const RESTARTS = [
    ...(IS_LONG ? [{ how: "kill", env: {}, answered: false } as const] : []),
    ...(IS_LONG ? [{ how: "stop", env: FORWARD, answered: true } as const] : []),
    { how: "kill", env: FORWARD, answered: true },
    { how: "stop", env: {}, answered: !IS_LONG }, // the clock goes back
    { how: "kill", env: {}, answered: true },
  ] as const;
  for (const { how, env, answered } of RESTARTS) {
    if (how === "kill") await bench.server.kill();
    else assert.equal(await bench.server.stop(), 0);
    await bench.start(env);
    await prove();
    if (answered) await each(all, WIDTH, answer);
  }
  console.log(`survival: ${THREADS} threads, ${RESTARTS.length} restarts, ${proven} pauses found unchanged`);
  assert.equal(proven, THREADS * RESTARTS.length);
  for (const { thread, answers } of all) {
    for (const [at, node] of ["first", "second"].entries()) {
      for (const { value } of bench.listEffects(thread, node)) assert.equal(value, answers[at]);
    }
  }
});
