// Flattened messages and lists: names beside the ones that the rules know stay with their item.
import { describe } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { table, type Case, type Given } from "../testkit.ts";

const CALL = { id: "c1", name: "weather", arguments: "{}" };
const CALLED = { id: "c1", type: "function", function: { name: "weather", arguments: "{}" } };

function named(prefix: string, given: Given): Given {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [`${prefix}.${name}`, value]));
}

const completion = (name: string, given: Given, becomes: JsonObject): Case => ({
  name,
  span: { attributes: { "gen_ai.operation.name": "chat", ...named("gen_ai.completion.0", given) } },
  run: { outputs: { messages: [{ role: "assistant", content: "", ...becomes }] } },
});

const openInference = (name: string, given: Given, becomes: JsonObject): Case => ({
  name,
  span: {
    attributes: { "openinference.span.kind": "LLM", ...named("llm.input_messages.0.message", given) },
  },
  run: { inputs: { messages: [{ role: "user", content: "", ...becomes }] } },
});

const retriever = (name: string, kind: string, given: Given, sides: { readonly [side: string]: Json }): Case => ({
  name,
  span: { attributes: { "openinference.span.kind": kind, ...given } },
  run: sides,
});

describe("calls of a flattened completion", () => {
  table([
    completion("a list as JSON text", { tool_calls: JSON.stringify([CALL]) }, { tool_calls: [CALLED] }),
    completion("text that is no list", { tool_calls: "later" }, { tool_calls: "later" }),
    completion(
      "an older call beside calls",
      { "tool_calls.0.name": "weather", "function_call.name": "time", "function_call.arguments": "{}" },
      {
        tool_calls: [
          { type: "function", function: { name: "weather", arguments: "{}" } },
          { type: "function", function: { name: "time", arguments: "{}" } },
        ],
      },
    ),
    completion(
      "an older call as JSON text",
      { function_call: '{"name":"weather","arguments":"{}"}' },
      { tool_calls: [{ type: "function", function: { name: "weather", arguments: "{}" } }] },
    ),
    completion("an older call as text", { function_call: "weather" }, { function_call: "weather" }),
    completion("a role that is no text", { role: 7n, content: "x" }, { content: "x", original_role: 7 }),
    completion(
      "a value, and a longer name that ends in value",
      { content: "whole", "content.value": "part" },
      { content: { own_value: "whole", value: "part" } },
    ),
  ]);
});

describe("OpenInference's messages", () => {
  table([
    openInference(
      "contents as JSON text",
      { contents: '[{"message_content":{"type":"text","text":"Hi"}}]' },
      { content: "Hi" },
    ),
    openInference("contents as other text", { contents: "Hi", content: "Ho" }, { content: "Ho", contents: "Hi" }),
    openInference(
      "a number of calls beside them",
      {
        "tool_calls.count": 1n,
        "tool_calls.0.tool_call.id": "c1",
        "tool_calls.0.tool_call.function.name": "weather",
        "tool_calls.0.index": 4n,
      },
      { tool_calls: [{ ...CALLED, index: 4 }], original_tool_calls: { count: 1 } },
    ),
    openInference(
      "details beside a block and an image",
      {
        "contents.0.message_content.type": "image",
        "contents.0.message_content.image.image.url": "https://x/1.png",
        "contents.0.message_content.image.detail": "high",
        "contents.0.cache": "on",
      },
      { content: [{ type: "image_url", image_url: { url: "https://x/1.png", detail: "high" }, cache: "on" }] },
    ),
  ]);
});

describe("OpenInference's documents and tools", () => {
  table([
    retriever(
      "a rank beside a document",
      "RETRIEVER",
      { "retrieval.documents.0.document.content": "Rain", "retrieval.documents.0.rank": 2n },
      { outputs: { documents: [{ page_content: "Rain", metadata: { rank: 2 }, type: "Document" }] } },
    ),
    retriever(
      "scores beside the documents of a reranker",
      "RERANKER",
      {
        "reranker.query": "rain",
        "reranker.input_documents.0.document.content": "Rain",
        "reranker.input_documents.0.score": 0.5,
        "reranker.output_documents.0.document.content": "Rain",
        "reranker.output_documents.0.x": "y",
      },
      {
        inputs: { query: "rain", documents: [{ content: "Rain", score: 0.5 }] },
        outputs: { documents: [{ page_content: "Rain", metadata: { x: "y" }, type: "Document" }] },
      },
    ),
    {
      name: "a member beside a tool's schema",
      span: {
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.tools.0.tool.json_schema": '{"name":"weather"}',
          "llm.tools.0.tool.note": "n",
          "llm.tools.0.extra": "e",
        },
      },
      run: { params: { tools: [{ name: "weather", note: "n", extra: "e" }] } },
    },
  ]);
});
