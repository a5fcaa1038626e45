// Test of the messages shown during a run (thread/live.1, thread/live.2).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StreamEvent } from "../../api/events.ts";
import { mergeMessages, NOTHING_YET, withEvent } from "./live.ts";

const HUMAN = { type: "human", id: "h", content: "Hi" };
const piece = (content: string): StreamEvent => ({
  event: "messages",
  data: [{ type: "AIMessageChunk", id: "a", content }, { langgraph_node: "model" }],
});

const RUN: readonly StreamEvent[] = [
  { event: "metadata", data: { run_id: "r" } },
  { event: "values", data: { messages: [HUMAN] } },
  piece("Hel"),
  piece("lo"),
];

test("chunks of a message join into one, after the earlier messages", () => {
  const live = RUN.reduce(withEvent, NOTHING_YET);
  assert.deepEqual(mergeMessages(live, null), [HUMAN, { type: "AIMessageChunk", id: "a", content: "Hello" }]);
});

test("a run that is read again from the beginning shows the same (thread/live.1)", () => {
  const once = RUN.reduce(withEvent, NOTHING_YET);
  assert.deepEqual([...RUN, ...RUN].reduce(withEvent, NOTHING_YET), once);
});

test("a message that is in the state is not shown a second time", () => {
  const whole = { type: "ai", id: "a", content: "Hello" };
  const live = [...RUN, { event: "values", data: { messages: [HUMAN, whole] } }].reduce(withEvent, NOTHING_YET);
  assert.deepEqual(mergeMessages(live, null), [HUMAN, whole]);
});

test("before anything has come, the state of the thread is shown", () => {
  assert.deepEqual(mergeMessages(NOTHING_YET, { messages: [HUMAN] }), [HUMAN]);
  assert.deepEqual(mergeMessages(NOTHING_YET, undefined), []);
});

test("whole messages so far replace each other", () => {
  const partial = (content: string): StreamEvent => ({
    event: "messages/partial",
    data: [{ type: "ai", id: "a", content }],
  });
  const live = [partial("He"), partial("Hello")].reduce(withEvent, NOTHING_YET);
  assert.deepEqual(mergeMessages(live, null), [{ type: "ai", id: "a", content: "Hello" }]);
});

test("nodes that ended are noted in their order, questions are none of them", () => {
  const live = [
    { event: "updates", data: { one: {} } },
    { event: "updates", data: { two: null, __interrupt__: [] } },
  ].reduce(withEvent, NOTHING_YET);
  assert.deepEqual(live.nodesDone, ["one", "two"]);
  const below = withEvent(live, { event: "updates|two:7d|inside:8e", data: { three: {} } });
  assert.equal(below.nodesDone.at(-1), "two:inside:three");
});

for (const event of ["values|sub:1", "debug", "custom", "end"]) {
  test(`${event} changes nothing (thread/live.2)`, () => {
    assert.equal(withEvent(NOTHING_YET, { event, data: { a: 1 } }), NOTHING_YET);
  });
}

test("an error keeps its message", () => {
  const live = withEvent(NOTHING_YET, { event: "error", data: { error: "Error", message: "no model" } });
  assert.equal(live.error, "no model");
});
