// Members of messages: a second name for one thing stays when it says something else.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { table, type Case, type Given } from "../testkit.ts";
import { withRest } from "./members.ts";
import { toToolCall } from "./tool-forms.ts";

const WEATHER = { type: "function", function: { name: "weather", arguments: "{}" } };

const message = (name: string, given: Json, becomes: readonly Json[]): Case => ({
  name,
  span: {
    attributes: { "gen_ai.operation.name": "chat", "gen_ai.input.messages": JSON.stringify([given]) },
  },
  run: { inputs: { messages: becomes } },
});

const part = (name: string, given: Json, block: Json): Case =>
  message(name, { role: "user", parts: [given] }, [{ role: "user", content: [block] }]);

const inputs = (name: string, attributes: Given, becomes: JsonObject): Case => ({
  name,
  span: { attributes },
  run: { inputs: becomes },
});

const event = (name: string, type: string, attributes: Given, becomes: JsonObject): Case => ({
  name,
  span: { attributes: { "gen_ai.operation.name": "chat" }, events: [{ name: type, attributes }] },
  run: { inputs: { messages: [becomes] } },
});

describe("members of a tool call", () => {
  const calls: readonly (readonly [string, Json, Json])[] = [
    ["the function's name as text", { function: "weather", arguments: "{}" }, WEATHER],
    [
      "a second id, name and input",
      { id: "c1", tool_call_id: "c2", name: "weather", toolName: "rain", args: {}, input: { a: 1 } },
      { id: "c1", ...WEATHER, tool_call_id: "c2", toolName: "rain", input: { a: 1 } },
    ],
    ["a second name that says the same", { id: "c1", toolCallId: "c1", ...WEATHER }, { id: "c1", ...WEATHER }],
    ["another type", { ...WEATHER, type: "custom" }, { ...WEATHER, original_type: "custom" }],
    ["a known type", { type: "tool_use", name: "weather", input: {} }, WEATHER],
    [
      "a function without arguments",
      { function: { name: "weather", strict: true } },
      { type: "function", function: { name: "weather", strict: true, arguments: "{}" } },
    ],
  ];
  for (const [name, given, becomes] of calls) test(name, () => assert.deepEqual(toToolCall(given), becomes));

  test("a name of the language is only a name", () => {
    const rest = withRest({ a: 1 }, JSON.parse('{"__proto__":{"b":2},"a":3}') as JsonObject, new Set());
    assert.equal(JSON.stringify(rest), '{"a":1,"__proto__":{"b":2},"original_a":3}');
  });
});

describe("members of parts", () => {
  table([
    message(
      "a result with two contents",
      {
        role: "tool",
        tool_call_id: "c2",
        name: "rain",
        parts: [{ type: "tool_call_response", id: "c1", name: "weather", response: "a", result: "b", output: "c" }],
      },
      [
        {
          role: "tool",
          tool_call_id: "c1",
          original_tool_call_id: "c2",
          name: "weather",
          original_name: "rain",
          content: "a",
          result: "b",
          output: "c",
        },
      ],
    ),
    message("a role of its own on a result", { role: "robot", parts: [{ type: "tool-result", result: "a" }] }, [
      { role: "tool", content: "a", original_role: "robot" },
    ]),
    message(
      "calls that are no list, beside parts",
      { role: "assistant", parts: [{ type: "tool_call", name: "weather", arguments: "{}" }], tool_calls: "x" },
      [{ role: "assistant", content: "", tool_calls: [WEATHER], original_tool_calls: "x" }],
    ),
    part(
      "a blob with content that is no text stays whole",
      { type: "blob", mime_type: "application/pdf", modality: "document", content: { a: 1 } },
      { type: "blob", mime_type: "application/pdf", modality: "document", content: { a: 1 } },
    ),
    part(
      "a blob with both data and content",
      { type: "blob", mime_type: "image/png", content: "aGk=", data: "aGo=" },
      { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" }, data: "aGo=" },
    ),
    message(
      "names beside and inside a call",
      {
        role: "model",
        parts: [{ functionCall: { id: "c1", name: "weather", args: {}, note: "a" }, id: "c2", note: "b" }],
      },
      [
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "c1", ...WEATHER, note: "a", original_id: "c2", original_note: "b" }],
        },
      ],
    ),
  ]);
});

describe("members of requests and events", () => {
  table([
    inputs(
      "AI SDK: both prompt and messages",
      { "ai.prompt": JSON.stringify({ prompt: "p", messages: [{ role: "user", content: "m" }] }) },
      { messages: [{ role: "user", content: "m" }], prompt: "p" },
    ),
    inputs(
      "LiveKit: messages beside items, and an output with content",
      {
        "lk.chat_ctx": JSON.stringify({
          messages: "x",
          items: [{ type: "function_call_output", call_id: "c1", tool_call_id: "c2", output: "a", content: "b" }],
        }),
      },
      {
        messages: [
          { role: "tool", tool_call_id: "c1", content: "a", original_tool_call_id: "c2", original_content: "b" },
        ],
        original_messages: "x",
      },
    ),
    inputs(
      "ADK: a config that is no object",
      { "gcp.vertex.agent.llm_request": JSON.stringify({ contents: [], messages: "x", config: "c" }) },
      { contents: [], messages: "x", config: "c" },
    ),
    event(
      "a body and a content",
      "gen_ai.user.message",
      { "gen_ai.event.content": '{"content":"a"}', content: "b", "event.content": "c" },
      { role: "user", content: "a", "event.event.content": "b", "event.content": "c" },
    ),
    event(
      "two ids of a tool's call",
      "gen_ai.tool.message",
      { content: "a", id: "c1", tool_call_id: "c2" },
      { role: "tool", content: "a", id: "c1", tool_call_id: "c2" },
    ),
  ]);
});

describe("members of responses", () => {
  const answer = (name: string, attributes: Given, becomes: JsonObject): Case => ({
    name,
    span: { attributes },
    run: { outputs: becomes },
  });
  table([
    answer(
      "ADK: messages beside the content",
      {
        "gcp.vertex.agent.llm_response": JSON.stringify({
          content: { role: "model", parts: [{ text: "Rain." }] },
          messages: "x",
          usage_metadata: { a: 1 },
          usage: "y",
        }),
      },
      {
        messages: [{ role: "assistant", content: "Rain." }],
        original_messages: "x",
        usage: { a: 1 },
        original_usage: "y",
      },
    ),
    answer(
      "Genkit: messages beside the message",
      { "genkit:output": JSON.stringify({ message: { role: "model", content: [{ text: "Rain." }] }, messages: "x" }) },
      { messages: [{ role: "assistant", content: "Rain." }], original_messages: "x" },
    ),
    answer(
      "Sentry: calls in two places",
      {
        "gen_ai.response.text": JSON.stringify([{ role: "assistant", content: "a", tool_calls: "x" }]),
        "gen_ai.response.tool_calls": JSON.stringify([{ name: "weather", arguments: "{}" }]),
      },
      { messages: [{ role: "assistant", content: "a", tool_calls: [WEATHER], original_tool_calls: "x" }] },
    ),
    {
      name: "an embedded text with more than its content",
      span: {
        attributes: {
          "gen_ai.operation.name": "embeddings",
          "gen_ai.prompt.0.content": "rain",
          "gen_ai.prompt.0.note": "n",
        },
      },
      run: {
        inputs: { input: "rain" },
        metadata: {
          otel: {
            kind: "internal",
            scope: { version: "1.0" },
            attributes: { "gen_ai.prompt.0.content": "rain", "gen_ai.prompt.0.note": "n" },
          },
        },
      },
    },
  ]);
});
