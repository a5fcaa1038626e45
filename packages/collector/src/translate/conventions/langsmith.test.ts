// The LangSmith SDK in OpenTelemetry mode: whole inputs and outputs, ids, names and metadata of the run it traced
// itself.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { translateContent, parsed, table, translated } from "../testkit.ts";

const RUN = "0e01bf50-474d-4536-810f-67d3ee7ea3e7";
const TRACE = "5b8efff7-9803-8103-d269-b633813fc60c";

describe("LangSmith SDK", () => {
  table([
    {
      name: "an exception beside status OK is an error, on the SDK's own spans only",
      span: {
        status: [1, ""],
        attributes: { "langsmith.span.kind": "tool" },
        events: [{ name: "exception", attributes: { "exception.message": "broke" } }],
      },
      run: { type: "tool", error: "broke" },
    },
    {
      name: "a model run: its messages, usage keeps its details",
      span: {
        name: "ChatOpenAI",
        scope: "langsmith",
        status: [1, ""],
        attributes: {
          "langsmith.span.kind": "llm",
          "langsmith.trace.name": "ChatOpenAI",
          "langsmith.trace.session_name": "shop",
          "langsmith.span.tags": "a, b ,",
          "langsmith.metadata.ls_provider": "openai",
          "langsmith.metadata.ls_model_name": "gpt-4o",
          "langsmith.metadata.thread_id": "t1",
          "langsmith.metadata.nested": '{"a":[1]}',
          "langsmith.metadata.version": "2",
          "langsmith.usage_metadata":
            '{"input_tokens":10,"output_tokens":4,"total_tokens":14,"input_token_details":{"cache_read":6}}',
          "gen_ai.operation.name": "chat",
          "gen_ai.system": "langchain",
          "gen_ai.request.model": "gpt-4o",
          "gen_ai.usage.input_tokens": 10,
          "gen_ai.prompt": '{"messages":[[{"lc":1,"id":["HumanMessage"],"kwargs":{"content":"Hi"}}]]}',
          "gen_ai.completion": '{"generations":[[{"text":"Ho"}]]}',
          "gen_ai.serialized.name": "ChatOpenAI",
        },
      },
      run: {
        name: "ChatOpenAI",
        type: "llm",
        inputs: { messages: [{ role: "user", content: "Hi" }] },
        outputs: { messages: [{ role: "assistant", content: "Ho" }] },
        usage: { input_tokens: 10, output_tokens: 4, total_tokens: 14, input_token_details: { cache_read: 6 } },
        metadata: { ls_provider: "openai", ls_model_name: "gpt-4o", thread_id: "t1", nested: { a: [1] }, version: "2" },
        tags: ["a", "b"],
        project: "shop",
        error: "",
      },
    },
    {
      name: "a retriever keeps its own inputs and outputs although the SDK calls it embeddings",
      span: {
        attributes: {
          "langsmith.span.kind": "Retriever",
          "gen_ai.operation.name": "embeddings",
          "gen_ai.prompt": '{"query":"tea"}',
          "gen_ai.completion": '{"documents":[]}',
        },
      },
      run: { type: "retriever", inputs: { query: "tea" }, outputs: { documents: [] } },
    },
    {
      name: "a span of the AI SDK that went through the SDK's exporter keeps text and tool calls",
      span: {
        name: "ai.generateText.doGenerate",
        attributes: {
          "langsmith.span.kind": "llm",
          "langsmith.is_root": true,
          "langsmith.metadata.sessionId": "s1",
          "langsmith.usage_metadata": '{"input_tokens":3,"output_tokens":1,"total_tokens":4}',
          "ai.operationId": "ai.generateText.doGenerate",
          "ai.prompt.messages": '[{"role":"user","content":"Hi"}]',
          "ai.response.text": "Ho",
          "ai.response.toolCalls": '[{"toolCallId":"c","toolName":"f","input":{}}]',
          "gen_ai.prompt": '{"input":[{"role":"user","content":"Hi"}]}',
          "gen_ai.completion": '[{"toolCallId":"c","toolName":"f","input":{}}]',
        },
      },
      run: {
        type: "llm",
        inputs: { messages: [{ role: "user", content: "Hi" }] },
        outputs: {
          messages: [
            {
              role: "assistant",
              content: "Ho",
              tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
            },
          ],
        },
        usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
      },
    },
    {
      name: "a provider in the backend's own words is not changed",
      span: { attributes: { "langsmith.metadata.ls_provider": "mistral", "gen_ai.system": "mistral_ai" } },
      run: { metadata: { ls_provider: "mistral" }, without: ["otel_provider"] },
    },
    {
      name: "the kind wins over the name of a tool",
      span: { attributes: { "langsmith.span.kind": "chain", "gen_ai.tool.name": "weather" } },
      run: { type: "chain" },
    },
    {
      name: "token details as Python prints them",
      span: {
        attributes: {
          "langsmith.span.kind": "llm",
          "gen_ai.usage.input_tokens": 10,
          "gen_ai.usage.input_token_details": "{'cache_read': 6, 'audio': 0}",
          "gen_ai.usage.output_token_details": '{"reasoning":3}',
        },
      },
      run: {
        usage: {
          input_tokens: 10,
          total_tokens: 10,
          input_token_details: { cache_read: 6, audio: 0 },
          output_token_details: { reasoning: 3 },
        },
      },
    },
  ]);

  test("ids and order are declared; only UUIDs count", () => {
    const run = translated({
      parent: "d2d12a2700a9bd4d",
      attributes: {
        "langsmith.trace.id": TRACE,
        "langsmith.span.id": RUN.toUpperCase(),
        "langsmith.span.dotted_order": "x",
        "langsmith.is_root": true,
      },
    });
    assert.deepEqual(run.declared, { traceId: TRACE, runId: RUN, dottedOrder: "x" });
    assert.equal(run.isRoot, true);
    assert.equal(translated({ attributes: { "langsmith.span.id": "mine" } }).declared, null);
    assert.equal(
      translated({ parent: "d2d12a2700a9bd4d", attributes: { "langsmith.root_span": "true" } }).isRoot,
      true,
    );
    assert.equal(translated({ parent: "d2d12a2700a9bd4d" }).isRoot, false);
  });

  test("a parent named by its span id replaces the span's own parent", () => {
    const attributes = { "langsmith.traceable_parent_otel_span_id": "00F067AA0BA902B7" };
    const run = translated({ parent: "d2d12a2700a9bd4d", attributes });
    assert.equal(run.parentSpanId, "00f067aa0ba902b7");
    assert.equal(translated({ attributes: { "langsmith.traceable_parent_otel_span_id": "?" } }).parentSpanId, "");
  });

  test("a span without a parent that names its parent run is no root", () => {
    const run = translated({ attributes: { "langsmith.span.parent_id": RUN } });
    assert.equal(run.parentSpanId, "0e01bf50474d4536");
    assert.equal(run.isRoot, false);
    const padded = "00000000-0000-0000-00f0-67aa0ba902b7";
    assert.equal(translated({ attributes: { "langsmith.span.parent_id": padded } }).parentSpanId, "00f067aa0ba902b7");
    const attributes = { "langsmith.span.parent_id": RUN };
    assert.equal(translated({ parent: "d2d12a2700a9bd4d", attributes }).parentSpanId, "d2d12a2700a9bd4d");
    assert.equal(translated({ attributes: { "langsmith.span.parent_id": "?" } }).isRoot, true);
  });

  test("attachments are read, their names made safe, broken ones left out", () => {
    const list = [
      { name: "a.png", content: "aGk=", mime_type: "image/png" },
      { name: "a.png", content: "aG8=", mime_type: 'x"\r\n' },
      { name: "bad", content: "<>" },
      7,
    ];
    const content = translateContent({ attributes: { "langsmith.attachments": JSON.stringify(list) } });
    assert.deepEqual(
      content.attachments.map((one) => [one.name, one.mimeType, Buffer.from(one.bytes).toString()]),
      [
        ["a_png", "image/png", "hi"],
        ["a_png_2", "application/octet-stream", "ho"],
      ],
    );
  });

  test("example, project id and serialized have their own fields", () => {
    const content = translateContent({
      attributes: {
        "langsmith.reference_example_id": RUN,
        "langsmith.trace.session_id": TRACE,
        "session.id": "not a project",
        "gen_ai.serialized.name": "Chat",
        "gen_ai.serialized.doc": "Talks.",
      },
    });
    assert.equal(content.referenceExampleId, RUN);
    assert.equal(content.sessionId, TRACE);
    assert.deepEqual(parsed(content.serialized), { name: "Chat", doc: "Talks." });
  });
});
