// Property: each attribute value of a span is in its run, or repeats an alias, or is transport noise.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { knownNames } from "./attributes/known-keys.ts";
import { shaped } from "./messages/testkit.ts";
import { CONTEXT, type Given, buildSpan } from "./testkit.ts";
import { createExplainer } from "./translate.ts";

const explain = createExplainer({ filterNonGenAi: false, project: "" });
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

/** Names of one item of a family: those that the rules know, their siblings, and lists as a value. */
const ITEM_NAMES = [
  "role",
  "content",
  "content.value",
  "contents",
  "contents.0.message_content.type",
  "contents.0.message_content.text",
  "contents.0.message_content.image.image.url",
  "contents.0.message_content.image.detail",
  "contents.0.cache",
  "tool_calls",
  "tool_calls.count",
  "tool_calls.0.id",
  "tool_calls.0.type",
  "tool_calls.0.name",
  "tool_calls.0.tool_call.id",
  "tool_calls.0.tool_call.function.name",
  "tool_calls.0.index",
  "function_call",
  "function_call.name",
  "function_call.arguments",
  "function_call_name",
  "function_call_arguments_json",
  "completion.text",
  "x",
];
const ELEMENT_NAMES = [
  "document",
  "document.content",
  "document.text",
  "document.id",
  "tool.json_schema",
  "tool",
  "rank",
];
const FAMILIES: readonly (readonly string[])[] = [
  ...["gen_ai.prompt.0", "gen_ai.completion.0", "llm.input_messages.0.message", "llm.output_messages.0.message"].map(
    (prefix) => ITEM_NAMES.map((name) => `${prefix}.${name}`),
  ),
  [...ITEM_NAMES.map((name) => `llm.choices.0.${name}`), "llm.output_messages.0.x", "llm.output_messages.0.message.x"],
  ...["retrieval.documents", "reranker.input_documents", "reranker.output_documents", "llm.tools"].map((family) =>
    ELEMENT_NAMES.map((name) => `${family}.0.${name}`),
  ),
];

/** Names of one tree, which random subsets of all names rarely have together. */
const TREES = [/^llm\./, /^embedding\./, /^mastra\./, /^gen_ai\.(?:prompt|completion|content|request|response)/].map(
  (tree) => NAMES.filter((name) => tree.test(name)),
);

const drawAttributes = fc
  .oneof(
    fc.subarray(NAMES, { minLength: 1, maxLength: 12 }),
    ...TREES.map((names) => fc.subarray(names, { minLength: 1, maxLength: 4 })),
    ...FAMILIES.map((names) => fc.subarray([...names], { minLength: 2, maxLength: 6 })),
  )
  .chain((names) => fc.tuple(...names.map((name, at) => fc.tuple(fc.constant(name), shaped(`mark-${at}-`)))))
  .chain((entries) =>
    fc
      .dictionary(fc.constantFrom(...KINDS), fc.constantFrom(...KIND_VALUES), { maxKeys: 2 })
      .map((kinds): Given => ({ ...kinds, ...Object.fromEntries(entries) })),
  );

test("every attribute survives, next to any other", () => {
  fc.assert(
    fc.property(drawAttributes, (given) => {
      const { run, attributes } = explain(buildSpan({ attributes: given }), CONTEXT);
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
  "event.content",
  "role",
  "id",
  "tool_call_id",
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

const drawEvents = fc
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
      drawEvents,
      fc.constantFrom("chat", "execute_tool", "retrieval", "embeddings", "invoke_agent", ""),
      (events, operation) => {
        const attributes: Given = operation === "" ? {} : { "gen_ai.operation.name": operation };
        const { run } = explain(buildSpan({ attributes, events }), CONTEXT);
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
