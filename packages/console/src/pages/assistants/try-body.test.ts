// Test of the request that a tried run begins with.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tryBody, enterValue, type Entry, type TryForm } from "./try-body.ts";

const NONE: Entry = { kind: "none" };
const PLAIN: TryForm = {
  assistantId: "a",
  input: NONE,
  context: NONE,
  options: { thread: "", durability: "", multitask: "", onPaused: "" },
  stops: { before: [], after: [] },
};

const VALUES: readonly { readonly name: string; readonly entry: Entry; readonly is: unknown }[] = [
  { name: "nothing is an empty object", entry: NONE, is: { ok: true, value: {} } },
  {
    name: "a message is a list of one",
    entry: { kind: "message", text: "Hello" },
    is: { ok: true, value: { messages: [{ role: "user", content: "Hello" }] } },
  },
  { name: "an empty message is none", entry: { kind: "message", text: " " }, is: { ok: false } },
  {
    name: "a form that is whole is its value",
    entry: { kind: "form", value: { n: 1 }, isWhole: true },
    is: { ok: true, value: { n: 1 } },
  },
  {
    name: "a form with something missing is none",
    entry: { kind: "form", value: { n: null }, isWhole: false },
    is: { ok: false },
  },
  { name: "JSON is what it says", entry: { kind: "json", text: "[1]" }, is: { ok: true, value: [1] } },
  { name: "half of JSON is none", entry: { kind: "json", text: "[1" }, is: { ok: false } },
];

for (const { name, entry, is } of VALUES) test(name, () => assert.deepEqual(enterValue(entry), is));

test("a run requests the stream modes of the thread page, and only the chosen options", () => {
  const { stream_mode: modes, stream_resumable: resumable, ...rest } = tryBody(PLAIN);
  assert.deepEqual(rest, { assistant_id: "a", input: {} });
  assert.deepEqual([modes, resumable], [["values", "updates", "messages-tuple"], true]);
});

test("stops, context, durability and strategy go along; a star stops everywhere", () => {
  const body = tryBody({
    ...PLAIN,
    context: { kind: "json", text: '{"tone":"kind"}' },
    options: { thread: "", durability: "exit", multitask: "reject", onPaused: "enqueue" },
    stops: { before: [" send ", ""], after: ["plan", "*"] },
  });
  assert.deepEqual(body["interrupt_before"], ["send"]);
  assert.deepEqual(body["interrupt_after"], "*");
  assert.deepEqual(body["context"], { tone: "kind" });
  assert.deepEqual([body["durability"], body["multitask_strategy"], body["on_paused"]], ["exit", "reject", "enqueue"]);
});
