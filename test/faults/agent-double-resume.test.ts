// Many callers answer one pause at the same time (promises A3, A4).
//   agent-double-resume.1. One caller gets 200, every other 409; the node sees the winner's value, and its side effect
//        happens once.
//   agent-double-resume.2. With the same Idempotency-Key all callers get the first answer, and the node ran once.
//   agent-double-resume.3. The audit of the thread is the questions answered: one for each round.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Bench, FULL, resumeBody } from "../harness/faults/fault-server.ts";

const CALLERS = 100;
const ROUNDS = FULL ? 200 : 5;
const bench = new Bench();
before(() => bench.start());
after(() => bench.end());

interface Refusal {
  readonly code: string;
  readonly answered?: { readonly run_id: string; readonly same_value: boolean };
}

test(`of ${CALLERS} callers that answer one pause, one wins (${ROUNDS} rounds; agent-double-resume.1, agent-double-resume.3)`, async () => {
  let [accepted, refused] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const { thread } = await bench.pause("ask");
    const answers = await Promise.all(
      Array.from({ length: CALLERS }, (_, caller) => bench.resume(thread, "ask", { round, caller })),
    );
    const winners = answers.flatMap((answer, caller) => (answer.status === 200 ? [caller] : []));
    const losers = answers.filter((answer) => answer.status === 409);
    assert.equal(winners.length, 1, `round ${round}: winners ${winners.join(", ")}`);
    assert.equal(losers.length, CALLERS - 1, `round ${round}: ${answers.map(({ status }) => status).join(" ")}`);
    const expected = { round, caller: winners[0] };
    assert.deepEqual(await bench.values(thread), { log: ["prepared", expected, "recorded"] });
    assert.deepEqual(
      bench.listEffects(thread, "answered").map(({ value }) => value),
      [expected],
    );
    assert.equal(bench.listEffects(thread, "record").length, 1);
    const runs = await bench.runs(thread);
    assert.equal(runs.length, 2, "the run that paused and the one that answered");
    for (const { body } of losers) {
      const { answered, code } = body as Refusal;
      assert.match(code, /^(thread_busy|no_pending_interrupt)$/);
      if (answered === undefined) continue;
      assert.equal(answered.run_id, runs[0]?.run_id);
      assert.equal(answered.same_value, false);
    }
    accepted += winners.length;
    refused += losers.length;
  }
  console.log(`double resume: ${ROUNDS} rounds, ${accepted} accepted, ${refused} refused`);
  assert.equal(accepted, ROUNDS);
});

test(`${CALLERS} repeats with one Idempotency-Key are one execution with one answer (${ROUNDS} rounds; agent-double-resume.2)`, async () => {
  let repeats = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { thread } = await bench.pause("ask");
    const key = { "idempotency-key": `round ${round} of ${thread}` };
    const path = `/threads/${thread}/runs/wait`;
    const answers = await Promise.all(
      Array.from({ length: CALLERS }, () => bench.call("POST", path, resumeBody("ask", { round }), key)),
    );
    const late = await bench.call("POST", path, resumeBody("ask", { round }), key);
    for (const { status, text } of [...answers, late]) {
      assert.equal(status, 200, text);
      assert.deepEqual(JSON.parse(text), { log: ["prepared", { round }, "recorded"] });
    }
    const runs = new Set([...answers, late].map(({ headers }) => headers.get("content-location")));
    assert.equal(runs.size, 1);
    assert.equal(bench.listEffects(thread, "answered").length, 1);
    assert.equal((await bench.runs(thread)).length, 2);
    const other = await bench.call("POST", path, resumeBody("ask", { round, other: true }), key);
    assert.equal(other.status, 422, other.text);
    repeats += answers.length;
  }
  console.log(`idempotent resume: ${ROUNDS} rounds, ${repeats} repeats, ${ROUNDS} executions`);
  assert.equal(repeats, ROUNDS * CALLERS);
});
