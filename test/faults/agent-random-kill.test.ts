// kill -9 at random times while threads start, pause and resume (guarantees A1, A2, A10, A12).
//   agent-random-kill.1. A pause that a caller saw survives every restart, with the same id, value and ns, until its
//        answer.
//   agent-random-kill.2. A thread or run whose acceptance a caller saw survives; nothing is busy longer than the bound.
//   agent-random-kill.3. One run uses an accepted answer, also when its caller never got the reply.
//   agent-random-kill.4. In the end, without faults, every question takes an answer.
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
import type { Question } from "../harness/faults/fault-server.ts";
import { IS_LONG } from "../harness/long.ts";

const ROUNDS = FULL ? 50 : IS_LONG ? 2 : 1;
const PAUSED = FULL ? 1000 : IS_LONG ? 20 : 8;
const CALLERS = 8;
const KILL_WITHIN_MS = 250; // or the time in which every caller starts a run, where a machine is slower
/** A round answers this many threads; the others stay paused through all of them. */
const ANSWERS_PER_ROUND = FULL ? 15 : 4;

const bench = new Bench();
const random = seeded();
before(() => bench.start());
after(() => bench.end());

interface Known {
  readonly thread: string;
  /** The pause that a caller has seen, or that stood after a restart. */
  question: Question | null;
  /** Answers without a known outcome. */
  sent: unknown[];
  /** The answer that a caller saw used. */
  used: unknown;
  done: boolean;
}

const START = { assistant_id: "ask", input: {} };
const counts = { starts: 0, acknowledged: 0, cut: 0, answers: 0, answered: 0, resumed: 0 };

function metEnough(): boolean {
  return counts.cut >= ROUNDS / 2 && counts.resumed >= Math.max(1, ROUNDS / 10);
}

/** On PostgreSQL other events tell of it: the runs belong to a worker that is not heard any more. */
function tookRunsUp({ event, runs }: Readonly<Record<string, unknown>>): boolean {
  return event === "runs_recovered" || (event === "worker_lost" && Array.isArray(runs) && runs.length > 0);
}

async function startOne(known: Known[]): Promise<void> {
  const created = await bench.attempt("POST", "/threads", {});
  if (created?.status !== 200) return;
  const { thread_id: thread } = created.body as { readonly thread_id: string };
  const one: Known = { thread, question: null, sent: [], used: undefined, done: false };
  known.push(one);
  counts.starts++;
  const answer = await bench.attempt("POST", `/threads/${thread}/runs/wait`, START);
  if (answer === null) return void counts.cut++;
  assert.equal(answer.status, 200, answer.text);
  one.question = only(questionsIn(answer.body), answer.text);
  counts.acknowledged++;
}

async function answerOne(one: Known, value: unknown): Promise<void> {
  one.sent.push(value);
  counts.answers++;
  const answer = await bench.attempt("POST", `/threads/${one.thread}/runs/wait`, resumeBody("ask", value));
  if (answer === null) return void counts.cut++;
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.body, { log: ["prepared", value, "recorded"] });
  one.used = value;
  one.done = true;
  counts.answered++;
}

/** The state after a restart agrees with all that callers saw. */
async function prove(one: Known): Promise<void> {
  const status = await bench.settled(one.thread); // agent-random-kill.2
  const open = await bench.questions(one.thread);
  if (status === "interrupted") {
    assert.equal(one.done, false, "what was done stays done");
    const question = only(open, "one question is open");
    if (one.question !== null) assert.deepEqual(identity(question), identity(one.question)); // agent-random-kill.1
    assert.deepEqual(question.value, { please: one.thread });
    one.question = question;
    one.sent = []; // the server accepted none of them
    return;
  }
  assert.equal(status, "idle");
  assert.deepEqual(open, []);
  const { log } = (await bench.values(one.thread)) as { readonly log?: readonly unknown[] };
  if (log === undefined) {
    assert.equal(one.question, null, "the run of an acknowledged pause is there"); // the server rejected the start
    assert.deepEqual(await bench.runs(one.thread), []);
    await bench.post(`/threads/${one.thread}/runs/wait`, START);
    one.question = only(await bench.questions(one.thread), "it pauses now");
    return;
  }
  assert.equal(log.length, 3, JSON.stringify(log));
  // agent-random-kill.3
  assert.ok(one.sent.includes(log[1]), `used ${JSON.stringify(log[1])} of ${JSON.stringify(one.sent)}`);
  if (one.used !== undefined) assert.equal(log[1], one.used);
  one.used = log[1];
  one.done = true;
}

test(`${ROUNDS} kills at random times with ${PAUSED} paused threads (seed ${random.seed}; agent-random-kill.1–4)`, async () => {
  const known: Known[] = [];
  const began = performance.now();
  await each(Array.from({ length: PAUSED }), CALLERS, () => startOne(known));
  const withinMs = Math.max(KILL_WITHIN_MS, ((performance.now() - began) * CALLERS) / PAUSED);
  let round = 0;
  // More rounds than requested if the kills hit no activity.
  for (; round < ROUNDS || (!metEnough() && round < ROUNDS * 5); round++) {
    const before = known.length;
    const open = known.filter(({ done }) => !done);
    const answered = Array.from({ length: ANSWERS_PER_ROUND }, () => {
      const [one] = open.splice(Math.floor(random.next() * open.length), 1);
      return one;
    }).filter((one) => one !== undefined);
    const load = { on: true };
    const calls = Promise.all([
      each(answered, CALLERS / 2, (one) =>
        load.on ? answerOne(one, `round ${round} ${one.thread}`) : Promise.resolve(),
      ),
      ...Array.from({ length: CALLERS / 2 }, async () => {
        while (load.on) await startOne(known);
      }),
    ]);
    await pause(random.next() * withinMs);
    load.on = false;
    await bench.server.kill();
    await calls;
    await bench.start();
    // All threads of this round, and a sample of the rest; all of them in the end.
    const rest = known.slice(0, before).filter(() => random.next() < 0.05);
    await each([...new Set([...known.slice(before), ...answered, ...rest])], CALLERS, prove);
    if (bench.server.logs.some(tookRunsUp)) counts.resumed++;
  }
  await each(known, CALLERS, prove);
  await each(
    known.filter(({ done }) => !done),
    CALLERS,
    (one) => answerOne(one, `at last ${one.thread}`),
  ); // agent-random-kill.4
  for (const { thread, used } of known) {
    for (const { value } of bench.listEffects(thread, "answered")) assert.equal(value, used); // agent-random-kill.3
  }
  console.log(`random kills: ${round} rounds, seed ${random.seed}, ${known.length} threads, ${JSON.stringify(counts)}`);
  assert.ok(counts.acknowledged >= PAUSED, "enough pauses were acknowledged");
  assert.ok(metEnough(), "the kills cut calls off, and runs were taken up again");
  assert.equal(known.filter(({ done }) => done).length, known.length);
});
