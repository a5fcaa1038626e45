// Property: each attribute value of a span is in its run, or repeats an alias, or is transport noise.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Json } from "../../base/json/json.ts";
import type { AttributeValue } from "../otlp/span.ts";
import { knownNames } from "./attributes/known-keys.ts";
import { CONTEXT, type Given, spanOf } from "./testkit.ts";
import { createExplainer } from "./translate.ts";

const explain = createExplainer({ filterNonGenAi: false, genericOtel: false, project: "" });
const LONG = { numRuns: 20_000 };
const SHORT = { numRuns: 300, seed: 1 };

/** Vectors become their number and length, attachments become bytes. */
const SUMMARISED = /^ai\.embeddings?$|^embedding\.embeddings\.0\.x|^langsmith\.attachments$/;
const KINDS = [
  "langsmith.span.kind",
  "gen_ai.operation.name",
  "openinference.span.kind",
  "ai.operationId",
  "llm.request.type",
  "traceloop.span.kind",
];
const KIND_VALUES = ["llm", "chat", "tool", "execute_tool", "retriever", "embeddings", "AGENT", "ai.toolCall", "x"];

/** Values that no other attribute of the span has, in the shapes that the rules read. */
const shaped = (mark: string): fc.Arbitrary<AttributeValue> =>
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

/** Names that no rule knows, too. */
const NAMES = [
  ...knownNames().filter((name) => !SUMMARISED.test(name) && !KINDS.includes(name)),
  "acme.anything",
  "gen_ai.unheard.of",
  "llm.input_messages.0.message.tool_calls.0.tool_call.function.name",
  "llm.input_messages.0.message.content",
  "llm.input_messages.0.message.content.0.text",
  "llm.output_messages.0.message.contents.0.message_content.image.image.url",
  "llm.output_messages.0.message.contents.0.message_content.id",
  "llm.choices.0.completion.text",
  "llm.prompts.0.prompt.text",
  "llm.prompts.0.prompt.id",
  "embedding.embeddings.0.embedding.text",
  "embedding.embeddings.0.embedding.id",
  "mastra.newer.input",
  "mastra.newest.input",
  "gen_ai.prompt.x",
];

/** Names of one tree, which random subsets of all names rarely have together. */
const TREES = [/^llm\./, /^embedding\./, /^mastra\./, /^gen_ai\.(?:prompt|completion|content|request|response)/].map(
  (tree) => NAMES.filter((name) => tree.test(name)),
);

const attributesOf = fc
  .oneof(
    fc.subarray(NAMES, { minLength: 1, maxLength: 12 }),
    ...TREES.map((names) => fc.subarray(names, { minLength: 1, maxLength: 4 })),
  )
  .chain((names) => fc.tuple(...names.map((name, at) => fc.tuple(fc.constant(name), shaped(`mark-${at}-`)))))
  .chain((entries) =>
    fc
      .dictionary(fc.constantFrom(...KINDS), fc.constantFrom(...KIND_VALUES), { maxKeys: 2 })
      .map((kinds): Given => ({ ...kinds, ...Object.fromEntries(entries) })),
  );

test("every attribute survives, next to any other", () => {
  fc.assert(
    fc.property(attributesOf, (given) => {
      const { run, attributes } = explain(spanOf({ attributes: given }), CONTEXT);
      const text = JSON.stringify(run);
      const fields = new Map(attributes.map((one) => [one.attribute, one.fields.join(", ")]));
      for (const [name, value] of Object.entries(given)) {
        if (/left out/.test(fields.get(name) ?? "")) continue;
        for (const [mark] of JSON.stringify(value).matchAll(/mark-\d+-[a-z]/g))
          assert.ok(text.includes(mark), `${mark} of ${name} went to ${fields.get(name)}, and is not there`);
      }
    }),
    process.env["HOLDPOINT_FAULTS"] === "full" ? LONG : SHORT,
  );
});

const EVENT_NAMES = [
  "gen_ai.system.message",
  "gen_ai.user.message",
  "gen_ai.assistant.message",
  "gen_ai.tool.message",
  "gen_ai.choice",
  "gen_ai.content.prompt",
  "gen_ai.content.completion",
  "gen_ai.client.inference.operation.details",
  "gen_ai.evaluation.result",
  "db.query.result",
  "db.search.result",
  "tool.output",
  "exception",
];
const EVENT_KEYS = [
  "content",
  "role",
  "id",
  "name",
  "tool_calls",
  "gen_ai.event.content",
  "message",
  "finish_reason",
  "index",
  "message.content",
  "message.role",
  "tool.result",
  "tool_calls.0.id",
  "tool_calls.0.function.name",
  "body",
  "gen_ai.prompt",
  "gen_ai.completion",
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "acme.anything",
  "gen_ai.system_instructions",
  "gen_ai.tool.definitions",
  "gen_ai.usage.input_tokens",
  "exception.message",
  "db.query.result.id",
  "db.query.result.document",
  "db.query.result.metadata",
  "db.search.result.entity",
];

const eventsOf = fc
  .array(fc.tuple(fc.constantFrom(...EVENT_NAMES), fc.subarray(EVENT_KEYS, { minLength: 1, maxLength: 5 })), {
    minLength: 1,
    maxLength: 3,
  })
  .chain((list) =>
    fc.tuple(
      ...list.map(([name, keys], at) =>
        fc
          .tuple(...keys.map((key, n) => fc.tuple(fc.constant(key), shaped(`mark-${at * 10 + n}-`))))
          .map((entries) => ({ name, attributes: Object.fromEntries(entries) as Given })),
      ),
    ),
  );

test("every attribute of an event survives, on every type of run", () => {
  fc.assert(
    fc.property(
      eventsOf,
      fc.constantFrom("chat", "execute_tool", "retrieval", "embeddings", "invoke_agent", ""),
      (events, operation) => {
        const attributes: Given = operation === "" ? {} : { "gen_ai.operation.name": operation };
        const { run } = explain(spanOf({ attributes, events }), CONTEXT);
        const text = JSON.stringify(run);
        for (const event of events)
          for (const [name, value] of Object.entries(event.attributes))
            for (const [mark] of JSON.stringify(value).matchAll(/mark-\d+-[a-z]/g))
              assert.ok(text.includes(mark), `${mark} of ${event.name} ${name} on ${operation} is not there`);
      },
    ),
    process.env["HOLDPOINT_FAULTS"] === "full" ? LONG : SHORT,
  );
});
