// kill -9 at chosen points of the way of a run (promises A1, A2, A10, A12, A13, A28).
//   agent-kill.1. An acknowledged pause survives the restart, with the same id, value and ns, and takes an answer.
//   agent-kill.2. The next process takes over an acknowledged or stored run and ends it.
//   agent-kill.3. One run uses an answer, and a question never gets the answer to another.
//   agent-kill.4. Nothing is busy longer than the bound after a restart.
// The short form omits points with a near neighbour in the table, and a second kill on one thread; with encryption or
// PostgreSQL it has the one kill of a run that has used an answer, because the other points are those of the short form
// without. The processes use one data folder in turn: each dies at the point of its row; the next one checks that row and
// is the victim of the following one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  Bench,
  FULL,
  identity,
  ON_POSTGRES,
  only,
  questionsIn,
  resumeBody,
  type Fault,
  type Question,
} from "../harness/faults/fault-server.ts";
import { IS_LONG } from "../harness/long.ts";
import type { Answer } from "../harness/server.ts";

const bench = new Bench();
let killed = 0;
const LONG = { skip: !FULL && "long form only" };
const inFull = <T>(...rows: readonly T[]): readonly T[] => (FULL ? rows : []);
const inLong = <T>(...rows: readonly T[]): readonly T[] => (IS_LONG ? rows : []);
const IS_BRIEF = !IS_LONG && (ON_POSTGRES || process.env["HOLDPOINT_ENCRYPTION_KEYS"] !== undefined);
const BRIEF = { skip: IS_BRIEF && "long form only" };
const unlessBrief = <T>(...rows: readonly T[]): readonly T[] => (IS_BRIEF ? [] : rows);
before(() => bench.start());
after(async () => {
  console.log(`kill points: ${killed} processes killed, ${bench.starts} started`);
  await bench.end();
});

function kill(point: string, thread: string, nth = 1): Fault {
  return { point, action: "kill", thread, nth };
}

/** Sends the call that is to meet the fault; the answer, when one came out before the process died. */
async function meet(fault: Fault, method: string, path: string, body?: unknown): Promise<Answer | null> {
  bench.arm(fault);
  const answer = bench.attempt(method, path, body);
  await bench.restartAfterFault();
  killed++;
  return answer;
}

/** The paused thread takes one answer, one run uses it, and a second answer fails. */
async function proveAnswerable(thread: string, answer: unknown): Promise<void> {
  const { status, text } = await bench.resume(thread, "ask", answer);
  assert.equal(status, 200, text);
  await proveAnswered(thread, answer);
}

async function proveAnswered(thread: string, answer: unknown): Promise<void> {
  assert.equal(await bench.settled(thread), "idle"); // agent-kill.4
  assert.deepEqual(await bench.values(thread), { log: ["prepared", answer, "recorded"] }); // agent-kill.3
  const again = await bench.resume(thread, "ask", "too late");
  assert.equal(again.status, 409, again.text);
  for (const effect of bench.listEffects(thread, "answered")) assert.deepEqual(effect.value, answer);
}

/** Kill points of a run that pauses: the point, and whether the run is stored by then. */
const WHILE_PAUSING: readonly { readonly point: string; readonly nth?: number; readonly stored: boolean }[] = [
  ...inFull(
    { point: "before commit: accept", stored: false },
    { point: "after commit: accept", stored: true },
    { point: "before commit: superstep", stored: true },
    { point: "after commit: superstep", stored: true },
    { point: "before commit: pause", stored: true },
  ),
  ...inLong({ point: "after commit: pause", stored: true }),
  ...inFull({ point: "before reply: /runs/wait", stored: true }),
  ...unlessBrief({ point: "after reply: /runs/wait", stored: true }),
];

for (const { point, nth, stored } of WHILE_PAUSING) {
  test(`killed ${point}: the ${stored ? "run is taken up again and pauses" : "call left nothing behind"} (agent-kill.1, agent-kill.2)`, async () => {
    const thread = await bench.newThread();
    const path = `/threads/${thread}/runs/wait`;
    const fault: Fault = { point, action: "kill", nth: nth ?? 1 };
    const answer = await meet(fault, "POST", path, { assistant_id: "ask", input: {}, durability: "sync" });
    const acknowledged = answer?.status === 200 ? questionsIn(answer.body) : [];
    if (point === "after reply: /runs/wait") assert.equal(acknowledged.length, 1, "the reply arrived whole");
    else assert.equal(answer, null, "nobody heard of it before");
    if (!stored) {
      assert.deepEqual(await bench.runs(thread), []);
      await bench.post(path, { assistant_id: "ask", input: {} });
    }
    assert.equal(await bench.settled(thread), "interrupted"); // agent-kill.4
    assert.equal((await bench.runs(thread)).length, 1);
    const question = only(await bench.questions(thread), "one question is open");
    assert.deepEqual(question.value, { please: thread });
    if (acknowledged[0] !== undefined) assert.deepEqual(identity(question), identity(acknowledged[0]));
    await proveAnswerable(thread, `after ${point}`);
  });
}

test(
  "killed before the reply to POST /runs: the run was stored before any caller could see it (agent-kill.2)",
  LONG,
  async () => {
    const thread = await bench.newThread();
    const path = `/threads/${thread}/runs`;
    bench.hold(thread, "one");
    const answer = await meet({ point: `before reply: ${path}`, action: "kill" }, "POST", path, {
      assistant_id: "steps",
      input: {},
    });
    assert.equal(answer, null);
    bench.release(thread, "one");
    assert.equal(await bench.settled(thread), "idle");
    assert.deepEqual(await bench.values(thread), { log: ["one", "two", "three"] });
  },
);

test(
  "killed in the middle of a graph: nodes whose checkpoint is stored do not run again (agent-kill.2)",
  BRIEF,
  async () => {
    const thread = await bench.newThread();
    bench.hold(thread, "three");
    const body = { assistant_id: "steps", input: {}, durability: "sync" };
    // Stored by then: the input and the nodes one and two.
    await meet(kill("after commit: superstep", thread, 4), "POST", `/threads/${thread}/runs/wait`, body);
    bench.release(thread, "three");
    assert.equal(await bench.settled(thread), "idle");
    assert.deepEqual(await bench.values(thread), { log: ["one", "two", "three"] });
    assert.equal(bench.listEffects(thread, "one ends").length, 1);
  },
);

/** Kill points of a run with an answer: the point, and whether the answer is accepted by then. */
const WHILE_ANSWERING: readonly { readonly point: string; readonly accepted: boolean }[] = [
  ...unlessBrief({ point: "before commit: accept answer", accepted: false }),
  ...inLong({ point: "after commit: accept answer", accepted: true }),
  { point: "node: after answer", accepted: true },
  ...inFull({ point: "before commit: end", accepted: true }, { point: "after commit: end", accepted: true }),
];

for (const { point, accepted } of WHILE_ANSWERING) {
  test(`killed ${point}: the answer is ${accepted ? "used once" : "not taken, and the pause still stands"} (agent-kill.1, agent-kill.3)`, async () => {
    const { thread, question } = await bench.pause("ask");
    const value = { answer: point };
    const path = `/threads/${thread}/runs/wait`;
    const reply = await meet(kill(point, thread), "POST", path, { ...resumeBody("ask", value), durability: "sync" });
    assert.equal(reply, null);
    if (accepted) return proveAnswered(thread, value);
    assert.equal(await bench.status(thread), "interrupted");
    assert.deepEqual((await bench.questions(thread)).map(identity), [identity(question)]);
    return proveAnswerable(thread, "another answer");
  });
}

for (const point of ["before commit: hand back", "after commit: hand back"]) {
  test(`killed ${point}, in the recovery of its run: the next process recovers (agent-kill.2)`, LONG, async () => {
    const thread = await bench.newThread();
    bench.hold(thread, "two");
    await bench.post(`/threads/${thread}/runs`, { assistant_id: "steps", input: {} });
    await bench.server.kill();
    bench.arm({ point, action: "kill" });
    if (ON_POSTGRES) {
      await bench.start(); // it recovers when the lease of the dead process has ended
      await bench.restartAfterFault();
    } else {
      await assert.rejects(bench.start(), /the server ended \(SIGKILL\)/);
      bench.disarm();
      await bench.start();
    }
    killed++;
    bench.release(thread, "two");
    assert.equal(await bench.settled(thread), "idle");
    assert.deepEqual(await bench.values(thread), { log: ["one", "two", "three"] });
  });
}

test("killed before the commit of a cancel: the run continues", LONG, async () => {
  const { thread, run } = await runningSteps();
  await meet(kill("before commit: cancel", thread), "POST", `/threads/${thread}/runs/${run}/cancel?wait=true`);
  bench.release(thread, "two");
  assert.equal(await bench.settled(thread), "idle");
  assert.deepEqual(await bench.values(thread), { log: ["one", "two", "three"] });
});

for (const point of [...inFull("after commit: cancel"), ...unlessBrief("after reply: /cancel")]) {
  test(`killed ${point}: the run does not go on, and the thread takes the next one`, async () => {
    const { thread, run } = await runningSteps();
    const path = `/threads/${thread}/runs/${run}/cancel`;
    await meet({ point, action: "kill" }, "POST", path);
    bench.release(thread, "two");
    assert.equal(await bench.settled(thread), "idle");
    const [stored] = await bench.runs(thread);
    assert.equal(stored?.status, "interrupted", "a cancelled run stays cancelled");
    assert.equal(bench.listEffects(thread, "three starts").length, 0);
    const { text } = await bench.post(`/threads/${thread}/runs/wait`, { assistant_id: "steps", input: {} });
    assert.match(text, /three/);
  });
}

async function runningSteps(): Promise<{ readonly thread: string; readonly run: string }> {
  const thread = await bench.newThread();
  bench.hold(thread, "two");
  const { body } = await bench.post(`/threads/${thread}/runs`, { assistant_id: "steps", input: {} });
  await bench.sees(thread, "two starts");
  return { thread, run: (body as { readonly run_id: string }).run_id };
}

test("killed before the commit of a delete: the thread and its pause are there (agent-kill.1)", LONG, async () => {
  const { thread, question } = await bench.pause("ask");
  assert.equal(await meet(kill("before commit: delete", thread), "DELETE", `/threads/${thread}`), null);
  assert.deepEqual((await bench.questions(thread)).map(identity), [identity(question)]);
  await proveAnswerable(thread, "after the delete that was not");
});

test("killed after the commit of a delete: the thread is gone, also with a run in progress", LONG, async () => {
  const { thread, run } = await runningSteps();
  await meet(kill("after commit: delete", thread), "DELETE", `/threads/${thread}`);
  bench.release(thread, "two");
  for (const path of [`/threads/${thread}`, `/threads/${thread}/state`, `/threads/${thread}/runs/${run}`]) {
    assert.equal((await bench.call("GET", path)).status, 404, path);
  }
  assert.equal((await bench.resume(thread, "ask", "late")).status, 404);
});

/** A kill point of a run with an answer, and the durability in which it exists. */
const WHILE_USING: readonly { readonly point: string; readonly durability: readonly string[] }[] = [
  ...inFull(
    { point: "after commit: accept answer", durability: ["sync", "async"] },
    { point: "node: after answer", durability: ["sync", "async"] },
    { point: "before commit: consumed", durability: ["sync", "async"] },
    { point: "after commit: pause", durability: ["sync", "async"] },
  ),
  ...unlessBrief({ point: "after commit: consumed", durability: ["sync"] }),
];

for (const graph of [...inFull("two"), "nested"]) {
  for (const { point, durability } of WHILE_USING) {
    for (const kind of durability) {
      test(`${graph} (${kind}), killed ${point}: the second question does not get the first answer (agent-kill.3)`, async () => {
        const { thread, question } = await bench.pause(graph);
        const path = `/threads/${thread}/runs/wait`;
        await meet(kill(point, thread), "POST", path, { ...resumeBody(graph, "answer 1"), durability: kind });
        const second = await openQuestion(thread, "second");
        assert.notEqual(second.id, question.id);
        assert.deepEqual(second.ns, question.ns);
        const answer = { ...resumeBody(graph, "answer 2"), durability: kind };
        if (IS_LONG) await meet(kill(secondPoint(point), thread), "POST", path, answer);
        else await bench.post(path, answer);
        const expected: Record<string, string> = { first: "answer 1", second: "answer 2" };
        if (graph === "nested") {
          await openQuestion(thread, "third");
          await bench.resume(thread, graph, "answer 3");
          expected["third"] = "answer 3";
        }
        assert.equal(await bench.settled(thread), "idle");
        assert.deepEqual(await bench.values(thread), expected);
        for (const node of ["first", "second"]) {
          for (const { value } of bench.listEffects(thread, node)) assert.equal(value, expected[node]);
        }
      });
    }
  }
}

/** The node ends after its second answer instead of asking again. */
function secondPoint(point: string): string {
  return point === "node: after answer"
    ? "node: after second answer"
    : point === "after commit: pause"
      ? "after commit: finish"
      : point;
}

async function openQuestion(thread: string, value: string): Promise<Question> {
  assert.equal(await bench.settled(thread), "interrupted");
  const question = only(await bench.questions(thread), `the ${value} question is open`);
  assert.equal(question.value, value);
  return question;
}

const KILLED_MIN = FULL ? 50 : IS_LONG ? 9 : IS_BRIEF ? 1 : 6;
test("every row met its fault", () => assert.ok(killed >= KILLED_MIN, `${killed} processes were killed`));
