// Tests of the checker itself: it accepts valid histories and rejects broken ones.
import assert from "node:assert/strict";
import { test } from "node:test";
import { linearize, printed, type Call, type Op, type Result } from "./linearizable.ts";

const START: Op = { verb: "start", question: "first" };
const DELETE: Op = { verb: "delete" };
const CANCEL: Op = { verb: "cancel" };
const ANSWER: Op = { verb: "answer", question: "first" };
const call = (op: Op, startedAt: number, endedAt: number, result: Result): Call => ({
  op,
  client: startedAt,
  startedAt,
  endedAt,
  result,
});
const isGood = (...history: Call[]): boolean => linearize(history) !== null;

test("histories that a thread explains are good", () => {
  const start = call(START, 0, 1, "ok");
  assert.ok(isGood(start, call(ANSWER, 2, 3, "ok"), call(ANSWER, 2, 3, "refused")));
  assert.ok(isGood(start, call(ANSWER, 2, Infinity, "lost"), call(ANSWER, 4, 5, "ok")), "it never took place");
  assert.ok(isGood(start, call(ANSWER, 2, Infinity, "lost"), call(ANSWER, 4, 5, "refused")), "it took place");
  assert.ok(isGood(start, call(DELETE, 2, 6, "ok"), call(ANSWER, 3, 4, "ok")), "calls at the same time");
  const cancelled = [start, call(ANSWER, 2, 5, "cancelled"), call(CANCEL, 3, 4, "ok")];
  assert.ok(isGood(...cancelled, call(ANSWER, 6, 7, "ok")), "the question of a cancelled answer is open again");
  assert.ok(isGood(...cancelled, call(ANSWER, 6, 7, "refused")), "or the run had consumed its answer");
  assert.ok(isGood(start, call(CANCEL, 2, 3, "ok"), call(ANSWER, 4, 5, "ok")), "a cancellation without a run");
});

test("broken histories are found bad", () => {
  const start = call(START, 0, 1, "ok");
  assert.ok(!isGood(start, call(ANSWER, 2, 3, "ok"), call(ANSWER, 2, 3, "ok")), "an answer that was used twice");
  assert.ok(!isGood(start, call(ANSWER, 2, 3, "refused")), "an open question that refuses its answer");
  assert.ok(!isGood(start, call(DELETE, 2, 3, "ok"), call(ANSWER, 4, 5, "ok")), "an answer after the deletion");
  assert.ok(!isGood(call(ANSWER, 0, 1, "ok"), call(START, 2, 3, "ok")), "an answer before its question");
  const cancelled = call(ANSWER, 2, 5, "cancelled");
  assert.ok(!isGood(start, cancelled, call(CANCEL, 6, 7, "ok")), "a run that no cancellation cancelled");
  assert.ok(!isGood(start, cancelled, call(CANCEL, 3, 4, "refused")), "nor a cancellation that failed");
  const twice = [call(ANSWER, 6, 7, "ok"), call(ANSWER, 8, 9, "ok")];
  assert.ok(
    !isGood(start, cancelled, call(CANCEL, 3, 4, "ok"), ...twice),
    "a reopened question that takes two answers",
  );
  assert.ok(!isGood(call(DELETE, 0, 1, "ok"), call(CANCEL, 2, 3, "ok")), "a cancellation on a deleted thread");
  assert.match(printed([call(ANSWER, 2, 3, "ok")]), /2–3 client 2: answer first → ok/);
});
