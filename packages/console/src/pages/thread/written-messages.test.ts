// Test of messages that come over the thread protocol (thread/written-messages.1, thread/written-messages.2).
import assert from "node:assert/strict";
import { test } from "node:test";
import { SILENCE, withMessageEvent, type MessagesById } from "./written-messages.ts";

const RUN = "r-1";
let next = 0;
const event = (data: object, namespace: readonly string[] = ["model:t"], run = RUN): object => ({
  type: "event",
  event_id: `${run}:${next++}`,
  method: "messages",
  params: { namespace, data },
});
const of = { message_id: "a" };
const TOLD = [
  event({ event: "message-start", id: "a", role: "ai" }),
  event({ event: "content-block-start", index: 0, content: { type: "reasoning", reasoning: "" }, ...of }),
  event({ event: "content-block-delta", index: 0, delta: { type: "reasoning-delta", reasoning: "Hm." }, ...of }),
  event({ event: "content-block-start", index: 1, content: { type: "text", text: "" }, ...of }),
  event({ event: "content-block-delta", index: 1, delta: { type: "text-delta", text: "Hel" }, ...of }),
  event({ event: "content-block-delta", index: 1, delta: { type: "text-delta", text: "lo" }, ...of }),
];
const told = (events: readonly object[], from: MessagesById = SILENCE): MessagesById =>
  events.reduce((messagesById: MessagesById, one) => withMessageEvent(messagesById, one, RUN), from);
const MESSAGE = {
  id: "a",
  type: "ai",
  name: null,
  content: [
    { type: "reasoning", reasoning: "Hm." },
    { type: "text", text: "Hello" },
  ],
};

test("a message grows by its pieces, and a replay gives the same (thread/written-messages.1)", () => {
  assert.deepEqual([...told(TOLD).values()], [MESSAGE]);
  assert.deepEqual([...told([...TOLD, ...TOLD]).values()], [MESSAGE]);
});

test("a tool call is whole at the end of its block; older clients send its arguments so far", () => {
  const call = { type: "tool_call", id: "c", name: "search", args: { q: "x" } };
  const events = [
    event({ event: "message-start", id: "a" }),
    event({ event: "content-block-start", index: 0, content: { type: "tool_call_chunk", id: "c", args: "" }, ...of }),
    event({ event: "content-block-delta", index: 0, delta: { type: "tool-call-delta", args: '{"q"' }, ...of }),
    event({
      event: "content-block-delta",
      index: 0,
      delta: { type: "block-delta", fields: { args: '{"q":"x"}' } },
      ...of,
    }),
  ];
  assert.deepEqual(told(events).get("a")?.["content"], [{ type: "tool_call_chunk", id: "c", args: '{"q":"x"}' }]);
  const whole = event({ event: "content-block-finish", index: 0, content: call, ...of });
  assert.deepEqual(told([...events, whole]).get("a")?.["content"], [call]);
});

test("a message of a subgraph names it", () => {
  const messagesById = told([event({ event: "message-start", id: "a" }, ["outer:1", "inside:2", "model:3"])]);
  assert.equal(messagesById.get("a")?.["name"], "outer › inside");
});

for (const [what, other] of [
  ["an event of another run", event({ event: "message-start", id: "b" }, [], "r-2")],
  ["a piece of an unknown message", event({ event: "content-block-start", index: 0, content: {}, message_id: "z" })],
  ["an unknown event", event({ event: "usage", usage: {}, ...of })],
  ["a text", "nothing"],
] as const) {
  test(`${what} changes nothing (thread/written-messages.2)`, () => {
    const before = told(TOLD);
    assert.equal(withMessageEvent(before, other, RUN), before);
  });
}
