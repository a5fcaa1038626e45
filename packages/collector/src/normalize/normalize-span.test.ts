// Normalization as a round trip: the span of every sender that tests keep, in the attributes of the conventions, is read
// again as the same run.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Span } from "../otlp/span.ts";
import { type Case, collectCases, CONTEXT, buildSpan } from "../translate/testkit.ts";
import { createTranslator } from "../translate/translate.ts";
import { withPlainTexts } from "./gen-ai-messages.ts";
import { createNormalizer } from "./normalize-span.ts";

const CONVENTIONS = join(import.meta.dirname, "..", "translate", "conventions");
const cases: readonly Case[] = await collectCases(async () => {
  for (const file of globSync("*.test.ts", { cwd: CONVENTIONS })) await import(join(CONVENTIONS, file));
});
const normalize = createNormalizer();
const translate = createTranslator({ filterNonGenAi: false, project: "", inlineMedia: true });

/** What a person sees of a run; the sender's own words for the provider and the operation left out. */
function visible(span: Span): JsonObject {
  const { content } = translate(span, CONTEXT);
  assert.ok(content !== null);
  const { call, events, error, inputs, name, outputs, runType, tags, extra } = content;
  const { metadata, invocation_params: params = {} } = JSON.parse(extra) as Record<string, JsonObject>;
  const { ls_model_name: model, ls_model_type: type, ls_provider: provider, usage_metadata: usage } = metadata ?? {};
  const parse = (text: string): Json => (text === "" ? null : (JSON.parse(text) as Json));
  return {
    name,
    runType,
    inputs: withPlainTexts(parse(inputs) as JsonObject),
    outputs: outputs === "" ? null : withPlainTexts(parse(outputs) as JsonObject),
    events: parse(events),
    error,
    tags,
    model: model ?? null,
    type: type ?? null,
    provider: provider ?? null,
    usage: usage ?? metadata?.["aggregate_usage"] ?? null,
    params: { ...(model === undefined ? {} : { model: call.requestModel || model }), ...params },
  };
}

describe("the normalized span of every sender is the same run", () => {
  test("there are many", () => assert.ok(cases.length > 150, String(cases.length)));
  for (const { name, span } of cases)
    test(name, () => {
      const given = buildSpan(span);
      assert.deepEqual(visible(normalize(given)), visible(given));
    });
});

test("nine of ten are written in the conventions", () => {
  const changed = cases.filter(({ span }) => {
    const given = buildSpan(span);
    return normalize(given) !== given;
  });
  assert.ok(changed.length > cases.length * 0.9, `${changed.length} of ${cases.length}`);
});

const FOREIGN =
  /^(?:llm\.|input\.|output\.|ai\.prompt|ai\.response\.(?:text|toolCalls)|traceloop\.entity\.(?:input|output)|gen_ai\.(?:prompt|completion)\b)/;

/** One question and its answer, as senders of several dialects write them. */
const DIALECTS: readonly (readonly [string, Parameters<typeof buildSpan>[0]])[] = [
  [
    "OpenInference",
    {
      attributes: {
        "openinference.span.kind": "LLM",
        "llm.model_name": "m",
        "llm.provider": "openai",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Hi",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Hello",
        "llm.token_count.prompt": 5,
        "llm.token_count.completion": 2,
      },
    },
  ],
  [
    "OpenLLMetry",
    {
      attributes: {
        "llm.request.type": "chat",
        "gen_ai.system": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Hi",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "Hello",
        "gen_ai.usage.prompt_tokens": 5,
        "gen_ai.usage.completion_tokens": 2,
      },
    },
  ],
  [
    "AI SDK",
    {
      attributes: {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.model.id": "m",
        "ai.model.provider": "openai.chat",
        "ai.prompt.messages": '[{"role":"user","content":[{"type":"text","text":"Hi"}]}]',
        "ai.response.text": "Hello",
        "ai.usage.promptTokens": 5,
        "ai.usage.completionTokens": 2,
      },
    },
  ],
  [
    "span events",
    {
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 2,
      },
      events: [
        { name: "gen_ai.user.message", attributes: { content: "Hi" } },
        { name: "gen_ai.choice", attributes: { message: '{"role":"assistant","content":"Hello"}' } },
      ],
    },
  ],
];

describe("a second backend sees one dialect", () => {
  for (const [name, given] of DIALECTS)
    test(name, () => {
      const { attributes, events } = normalize(buildSpan(given));
      const said = Object.fromEntries(attributes.keys.map((key, at) => [key, attributes.values[at]]));
      const parts = (text: string): Json => [{ type: "text", content: text }];
      assert.deepEqual(JSON.parse(said["gen_ai.input.messages"] as string), [{ role: "user", parts: parts("Hi") }]);
      const [answer] = JSON.parse(said["gen_ai.output.messages"] as string) as JsonObject[];
      assert.deepEqual([answer?.["role"], answer?.["parts"]], ["assistant", parts("Hello")]);
      assert.deepEqual(
        ["operation.name", "provider.name", "request.model", "usage.input_tokens", "usage.output_tokens"].map(
          (key) => said[`gen_ai.${key}`],
        ),
        ["chat", "openai", "m", 5, 2],
      );
      assert.deepEqual([attributes.keys.filter((key) => FOREIGN.test(key)), events], [[], []]);
    });
});

test("the system, calls, results, reasoning and media have parts of their own", () => {
  const messages = [
    { role: "system", content: "Be kind." },
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        { type: "image_url", image_url: { url: "https://example.com/a.png" } },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      ],
    },
    {
      role: "assistant",
      content: [{ type: "reasoning", reasoning: "hm" }],
      tool_calls: [{ id: "c", type: "function", function: { name: "w", arguments: '{"city":"Paris"}' } }],
    },
    { role: "tool", tool_call_id: "c", content: "rain" },
  ];
  const attributes = {
    "langfuse.observation.type": "generation",
    "langfuse.observation.model.name": "m",
    "langfuse.observation.input": JSON.stringify(messages),
  };
  const made = normalize(buildSpan({ attributes })).attributes;
  const read = (key: string): Json => JSON.parse(made.values[made.keys.indexOf(key)] as string) as Json;
  assert.deepEqual(read("gen_ai.system_instructions"), [{ type: "text", content: "Be kind." }]);
  assert.deepEqual(read("gen_ai.input.messages"), [
    {
      role: "user",
      parts: [
        { type: "text", content: "Look" },
        { type: "uri", modality: "image", uri: "https://example.com/a.png" },
        { type: "blob", mime_type: "image/png", modality: "image", content: "AAAA" },
      ],
    },
    {
      role: "assistant",
      parts: [
        { type: "reasoning", content: "hm" },
        { type: "tool_call", id: "c", name: "w", arguments: { city: "Paris" } },
      ],
    },
    { role: "tool", parts: [{ type: "tool_call_response", id: "c", response: "rain" }] },
  ]);
});

test("a model that only bodies name is that of the request, of the answer, or both", () => {
  const asked = { model: "gpt-5", messages: [{ role: "user", content: "Hi" }] };
  const answered = { model: "gpt-5-1", choices: [{ message: { role: "assistant", content: "Hello" } }] };
  const { model: _model, ...nameless } = asked;
  for (const [body, wanted] of [
    [asked, ["gpt-5", "gpt-5-1"]],
    [nameless, [undefined, "gpt-5-1"]],
  ] as const) {
    const bodies = { "input.value": JSON.stringify(body), "output.value": JSON.stringify(answered) };
    const given = buildSpan({ attributes: { "openinference.span.kind": "LLM", ...bodies } });
    const made = normalize(given);
    const { keys, values } = made.attributes;
    const models = ["request", "response"].map((side) => values[keys.indexOf(`gen_ai.${side}.model`)]);
    assert.deepEqual(models, wanted);
    assert.deepEqual(visible(made), visible(given));
  }
});

test("a span that is not about generative AI stays as it came", () => {
  const span = buildSpan({ name: "GET /", attributes: { "http.request.method": "GET", message: "[]" } });
  assert.equal(normalize(span), span);
});

describe("hostile spans are normalized or stay, and never throw", () => {
  const call = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" };
  const deep = (text: string, count: number): string => text.repeat(count);
  const toolCall = { id: "c", function: { name: "f", arguments: `${deep('{"a":', 50_000)}1${deep("}", 50_000)}` } };
  const HOSTILE: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    [
      "arguments 50,000 levels deep",
      { "gen_ai.input.messages": JSON.stringify([{ role: "assistant", tool_calls: [toolCall] }]) },
    ],
    ["messages 50,000 levels deep", { "gen_ai.input.messages": deep("[", 50_000) + deep("]", 50_000) }],
    ["cut JSON", { "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"Hi' }],
    ["names of prototypes", { "gen_ai.input.messages": '[{"role":"user","__proto__":{"content":1},"constructor":2}]' }],
    [
      "a data URL of a megabyte",
      {
        "gen_ai.input.messages": JSON.stringify([
          { role: "user", content: [{ type: "image_url", image_url: { url: `data:${deep("a", 1_000_000)}` } }] },
        ]),
      },
    ],
    ["lone surrogates", { "gen_ai.input.messages": '[{"role":"user","content":"\\ud800"}]' }],
    [
      "10,000 messages",
      {
        "gen_ai.input.messages": JSON.stringify(Array.from({ length: 10_000 }, () => ({ role: "user", content: "x" }))),
      },
    ],
  ];
  for (const [name, attributes] of HOSTILE)
    test(name, () => {
      const given = buildSpan({ attributes: { ...call, ...attributes } });
      assert.deepEqual(visible(normalize(given)), visible(given));
    });
});
