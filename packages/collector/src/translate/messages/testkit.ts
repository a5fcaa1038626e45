// Test kit: values in the shapes that the rules read, with a mark in every text. Used by tests only.
import * as fc from "fast-check";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { AttributeValue } from "../../otlp/span.ts";

/** Values that no other attribute of the span has, in the shapes that the rules read. */
export const shaped = (mark: string): fc.Arbitrary<AttributeValue> =>
  fc.constantFrom<AttributeValue>(
    `${mark}a`,
    JSON.stringify({ [`${mark}a`]: `${mark}b` }),
    JSON.stringify([{ role: "user", content: `${mark}a`, name: `${mark}b` }]),
    JSON.stringify([{ role: "assistant", parts: PARTS(mark), finish_reason: `${mark}z` }]),
    JSON.stringify([`${mark}a`]),
    JSON.stringify({ system: `${mark}a`, messages: [{ role: "user", content: `${mark}b` }], model: `${mark}c` }),
    JSON.stringify({ id: `${mark}a`, choices: [{ index: 0, logprobs: `${mark}b`, message: ANSWER(mark) }] }),
    JSON.stringify({ generations: [[{ text: `${mark}a`, info: `${mark}b`, message: CONSTRUCTED(mark) }]] }),
    JSON.stringify({ message: { role: "model", content: [{ text: `${mark}a` }] }, usage: { other: `${mark}b` } }),
    JSON.stringify({ replies: [{ role: "assistant", meta: { model: `${mark}a` }, content: [{ text: `${mark}b` }] }] }),
    JSON.stringify({ text: `${mark}a`, toolCalls: [{ toolName: `${mark}b`, args: {} }], files: [`${mark}c`] }),
    JSON.stringify({ items: [{ type: "message", role: "user", content: [`${mark}a`], id: `${mark}b` }] }),
    JSON.stringify({ content: { role: "model", parts: [{ text: `${mark}a` }] }, usage_metadata: { x: `${mark}b` } }),
    JSON.stringify({ contents: [{ role: "user", parts: [{ text: `${mark}a` }] }], config: { top_k: `${mark}b` } }),
    JSON.stringify([{ id: `${mark}a`, content: `${mark}b`, text: `${mark}c`, metadata: { id: `${mark}d` } }]),
    JSON.stringify([{ role: "user", content: CLOUD(mark), more: `${mark}z` }]),
    JSON.stringify({ contents: [{ role: "user", parts: CLOUD(mark) }], more: `${mark}z` }),
    JSON.stringify({ messages: [{ role: "tool", content: HAYSTACK(mark), meta: { x: `${mark}z` } }] }),
    JSON.stringify([{ role: "user", parts: ALIASES(mark), name: `${mark}y`, tool_calls: `${mark}z` }]),
    JSON.stringify([{ role: "tool", tool_call_id: `${mark}y`, name: `${mark}z`, parts: RESULTS(mark) }]),
    JSON.stringify([{ role: "model", content: CLASHES(mark) }]),
    JSON.stringify({ prompt: `${mark}a`, messages: [{ role: "user", content: `${mark}b` }], system: `${mark}c` }),
    JSON.stringify({ messages: `${mark}a`, items: LIVEKIT(mark) }),
    JSON.stringify({ messages: `${mark}a`, usage: `${mark}b`, content: { parts: [{ text: `${mark}c` }] } }),
    JSON.stringify({ messages: `${mark}a`, contents: [{ parts: [{ text: `${mark}b` }] }], config: `${mark}c` }),
    [`${mark}a`, `${mark}b`],
    { keys: ["a"], values: [`${mark}a`] },
  );

const PARTS = (mark: string): Json => [
  { type: "text", content: `${mark}a` },
  { type: "reasoning", content: `${mark}b`, signature: `${mark}c` },
  { type: "tool_call", id: `${mark}d`, name: `${mark}e`, arguments: { x: `${mark}f` }, index: `${mark}g` },
  { type: "blob", modality: "video", mime_type: `video/${mark}h`, content: `${mark}i`, note: `${mark}j` },
  { type: "uri", modality: "image", uri: `${mark}k` },
  { type: "tool_call_response", id: `${mark}l`, response: { y: `${mark}m` }, note: `${mark}n` },
];
/** Several names for one thing, with different values. */
const ALIASES = (mark: string): Json => [
  { type: "tool_call", id: `${mark}a`, toolCallId: `${mark}b`, tool_call_id: `${mark}c`, ...CALL_ALIASES(mark) },
  { type: "tool_call", function: `${mark}j`, input: `${mark}k` },
  { type: "blob", modality: `${mark}l`, mime_type: `x/${mark}m`, content: `${mark}n`, data: `${mark}o` },
  { type: "blob", modality: { x: `${mark}p` }, content: { x: `${mark}q` } },
  { type: "reasoning", content: `${mark}r`, reasoning: `${mark}s` },
  { type: "text", content: `${mark}t`, text: `${mark}u` },
];
const CALL_ALIASES = (mark: string): JsonObject => ({
  name: `${mark}d`,
  toolName: `${mark}e`,
  arguments: `${mark}f`,
  args: { x: `${mark}g` },
  input: `${mark}h`,
  function: { strict: `${mark}i` },
});
const RESULTS = (mark: string): Json => [
  { type: "tool_call_response", id: `${mark}a`, toolCallId: `${mark}b`, response: `${mark}c`, result: `${mark}d` },
  { type: "tool-result", name: `${mark}e`, toolName: `${mark}f`, result: `${mark}g`, output: `${mark}h` },
  { type: "tool-result", output: { type: `${mark}i`, value: `${mark}j`, providerOptions: `${mark}k` } },
];
/** The same name beside and inside. */
const CLASHES = (mark: string): Json => [
  { functionCall: { id: `${mark}a`, name: `${mark}b`, args: {}, x: `${mark}c` }, id: `${mark}d`, x: `${mark}e` },
  {
    toolResult: { toolUseId: `${mark}f`, content: `${mark}g`, role: `${mark}h` },
    role: `${mark}i`,
    content: `${mark}j`,
  },
  { media: { url: `https://${mark}k`, contentType: "image/png", x: `${mark}l` }, x: `${mark}m`, type: `${mark}n` },
];
const LIVEKIT = (mark: string): Json => [
  {
    type: "function_call_output",
    call_id: `${mark}b`,
    tool_call_id: `${mark}c`,
    output: `${mark}d`,
    content: `${mark}e`,
  },
  { type: "function_call", call_id: `${mark}f`, id: `${mark}g`, name: `${mark}h`, toolName: `${mark}i`, args: "{}" },
];
const CLOUD = (mark: string): Json => [
  { function_call: { id: `${mark}a`, name: `${mark}b`, args: { x: `${mark}c` }, wait: `${mark}d` }, sig: `${mark}e` },
  { functionResponse: { id: `${mark}f`, name: `${mark}g`, response: `${mark}h`, more: `${mark}i` }, note: `${mark}j` },
  { toolUse: { toolUseId: `${mark}k`, name: `${mark}l`, input: {}, kind: `${mark}m` } },
  { toolResult: { toolUseId: `${mark}n`, status: `${mark}o`, content: [{ text: `${mark}p` }] } },
  { toolRequest: { ref: `${mark}q`, name: `${mark}r`, input: 1, partial: `${mark}s` }, metadata: `${mark}t` },
  { media: { url: `https://${mark}u`, contentType: `image/${mark}v`, more: `${mark}w` }, metadata: `${mark}x` },
];
const HAYSTACK = (mark: string): Json => [
  {
    tool_call_result: {
      result: `${mark}a`,
      origin: { id: `${mark}b`, tool_name: `${mark}c`, arguments: { x: `${mark}d` } },
    },
  },
  { tool_call: { id: `${mark}e`, tool_name: `${mark}f`, arguments: {}, extra: `${mark}g` } },
];
const ANSWER = (mark: string): Json => ({
  role: "assistant",
  content: `${mark}o`,
  refusal: `${mark}p`,
  tool_calls: [
    { id: `${mark}q`, type: "function", function: { name: `${mark}r`, arguments: "{}", strict: `${mark}s` } },
  ],
});
const CONSTRUCTED = (mark: string): Json => ({
  lc: 1,
  type: "constructor",
  id: ["langchain_core", "messages", "AIMessage"],
  kwargs: { content: `${mark}t`, additional_kwargs: { x: `${mark}u` }, response_metadata: { model: `${mark}v` } },
});
