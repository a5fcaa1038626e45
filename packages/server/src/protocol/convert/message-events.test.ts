// Tests of message-events.ts: chunks and messages as REST streams have them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { finishOpen, type MessageEvent, messageLine, NO_MESSAGES } from "./message-events.ts";

const METADATA = { langgraph_node: "speaks", langgraph_checkpoint_ns: "outer:1|speaks:2" };
type Line = readonly [mode: string, json: unknown];
const chunk = (more: object): Line => ["messages", [{ id: "m", type: "ai", tool_call_chunks: [], ...more }, METADATA]];

/** The events of lines, and then of a root state. */
function told(...lines: readonly Line[]): readonly MessageEvent[] {
  let open = NO_MESSAGES;
  const events: MessageEvent[] = [];
  for (const [mode, json] of lines) {
    const step = messageLine(open, mode, JSON.stringify(json));
    open = step.after;
    events.push(...step.events);
  }
  return [...events, ...finishOpen(open, 14).events];
}

const brief = (events: readonly MessageEvent[]): readonly unknown[] =>
  events.map(({ data: { event, delta, content, role, usage, reason } }) => [
    event,
    ...[delta, content, role, usage, reason].filter((one) => one !== undefined),
  ]);

const HI = [
  ["message-start", "ai"],
  ["content-block-start", { type: "text", text: "" }],
  ["content-block-delta", { type: "text-delta", text: "H" }],
  ["content-block-delta", { type: "text-delta", text: "i" }],
  ["content-block-finish", { type: "text", text: "Hi" }],
  ["message-finish"],
];

test("chunks are deltas, and the next state ends the message (message-events.2)", () => {
  const events = told(chunk({ content: "H" }), chunk({ content: "i" }));
  assert.deepEqual(brief(events), HI);
  for (const { namespace, node, data } of events) {
    assert.deepEqual([namespace, node, data["run_id"]], [["outer:1", "speaks:2"], "speaks", "m"]);
  }
});

test("messages so far are the same deltas, and the whole message ends them (message-events.2)", () => {
  const soFar = (content: string): Line => ["messages/partial", [{ id: "m", content, tool_call_chunks: [] }]];
  const announced: Line = ["messages/metadata", { m: { metadata: METADATA } }];
  const events = told(announced, soFar("H"), soFar("Hi"), ["messages/complete", [{ id: "m", content: "Hi" }]]);
  assert.deepEqual(brief(events), HI);
  assert.deepEqual(events[0]?.namespace, ["outer:1", "speaks:2"]);
});

test("both forms in one run are shown once (message-events.3)", () => {
  const soFar: Line = ["messages/partial", [{ id: "m", content: "H", tool_call_chunks: [] }]];
  assert.deepEqual(brief(told(chunk({ content: "H" }), soFar, chunk({ content: "i" }))), HI);
});

test("reasoning, text and tool calls are blocks that do not overlap, with usage and reason (message-events.2)", () => {
  const call = (more: object) => chunk({ content: "", tool_call_chunks: [{ index: 0, ...more }] });
  const events = told(
    chunk({ content: [{ type: "reasoning", reasoning: "Look." }] }),
    call({ id: "c", name: "search", args: '{"q":' }),
    call({ args: "1}" }),
    call({ index: 1, id: "d", name: "search", args: "{" }),
    chunk({ content: "", usage_metadata: { total_tokens: 3 }, response_metadata: { finish_reason: "tool_calls" } }),
  );
  assert.deepEqual(brief(events).slice(3), [
    ["content-block-finish", { type: "reasoning", reasoning: "Look." }],
    ["content-block-start", { type: "tool_call_chunk", id: "c", name: "search", args: "" }],
    ["content-block-delta", { type: "tool-call-delta", args: '{"q":' }],
    ["content-block-delta", { type: "tool-call-delta", args: "1}" }],
    ["content-block-finish", { type: "tool_call", id: "c", name: "search", args: { q: 1 } }],
    ["content-block-start", { type: "tool_call_chunk", id: "d", name: "search", args: "" }],
    ["content-block-delta", { type: "tool-call-delta", args: "{" }],
    [
      "content-block-finish",
      { type: "invalid_tool_call", id: "d", name: "search", args: "{", error: "The arguments are not JSON." },
    ],
    ["message-finish", { total_tokens: 3 }, "tool_calls"],
  ]);
});

test("a message that was not streamed is whole; the input of the run is not shown", () => {
  const tool = { id: "t", type: "tool", content: "found", tool_call_id: "c" };
  const events = told(["messages/complete", [{ id: "h", type: "human", content: "hello" }, tool]]);
  assert.deepEqual(
    brief(events).map((one) => (one as readonly unknown[])[0]),
    ["message-start", "content-block-start", "content-block-finish", "message-finish"],
  );
  assert.equal(events[0]?.data["tool_call_id"], "c");
});
