// Every source of every table, one by one: one attribute yields one field of the run.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { member } from "./attributes/indexed.ts";
import { translateContent, parseExtra, parsed, type Given } from "./testkit.ts";
import type { RunType } from "../shared/trace-run.ts";

describe("run type", () => {
  const TABLE: Readonly<Record<string, Readonly<Partial<Record<RunType, readonly string[]>>>>> = {
    "langsmith.span.kind": {
      tool: ["tool", "TOOL"],
      chain: ["chain"],
      llm: ["llm", "LLM"],
      retriever: ["retriever"],
      embedding: ["embedding"],
      prompt: ["prompt"],
      parser: ["parser"],
    },
    "gen_ai.operation.name": {
      llm: ["chat", "completion", "text_completion", "generate_content", "generate", "llm_request"],
      embedding: ["embeddings", "embedding"],
      retriever: ["retrieval", "search_memory", "vector_db_retrieve", "rerank"],
      tool: ["execute_tool"],
      chain: ["invoke_agent", "create_agent", "invoke_workflow", "plan", "execute_task", "agent_step", "update_memory"],
    },
    "openinference.span.kind": {
      llm: ["LLM"],
      embedding: ["EMBEDDING"],
      retriever: ["RETRIEVER", "RERANKER"],
      tool: ["TOOL"],
      prompt: ["PROMPT"],
      chain: ["AGENT", "CHAIN", "GUARDRAIL", "EVALUATOR"],
    },
    "ai.operationId": {
      llm: ["ai.generateText.doGenerate", "ai.streamText.doStream", "ai.generateObject.doGenerate"],
      embedding: ["ai.embed.doEmbed", "ai.embedMany.doEmbed"],
      tool: ["ai.toolCall"],
      chain: ["ai.generateText", "ai.streamObject", "ai.embed"],
    },
    "operation.name": { llm: ["ai.generateText.doGenerate my function"], tool: ["ai.toolCall f"] },
    "llm.request.type": { llm: ["chat", "completion", "anything"], embedding: ["embedding"], retriever: ["rerank"] },
    "traceloop.llm.request.type": { llm: ["chat"] },
    "traceloop.span.kind": { tool: ["tool"], chain: ["workflow", "task", "agent", "other"] },
    "genkit:metadata:subtype": {
      llm: ["model", "background-model"],
      embedding: ["embedder"],
      retriever: ["retriever"],
      tool: ["tool", "tool.v2"],
      chain: ["flow"],
    },
    "span.type": { llm: ["llm_request"], tool: ["tool"], chain: ["interaction", "web"] },
    "langfuse.observation.type": {
      llm: ["generation"],
      embedding: ["embedding"],
      retriever: ["retriever"],
      chain: ["span"],
    },
    "mlflow.spanType": { llm: ["CHAT_MODEL", "LLM"], tool: ["TOOL"], chain: ["AGENT"] },
    "gen_ai.tool.name": { tool: ["weather"] },
    "gen_ai.tool.call.id": { tool: ["c1"] },
    "ai.toolCall.name": { tool: ["weather"] },
    "mcp.method.name": { tool: ["tools/call"], chain: ["tools/list"] },
    "llm.prompt_template.variables": { prompt: ["{}"] },
    "gen_ai.request.model": { chain: ["a model alone says nothing"] },
  };
  for (const [key, types] of Object.entries(TABLE))
    test(`from ${key}`, () => {
      for (const [type, values] of Object.entries(types))
        for (const value of values)
          assert.equal(translateContent({ attributes: { [key]: value } }).runType, type, value);
    });

  const MODELS = ["gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "ai.model.id"];
  const SIGNS: readonly Given[] = [
    { "gen_ai.usage.input_tokens": 1 },
    { "llm.token_count.prompt": 1 },
    { "gen_ai.input.messages": "[]" },
    { "gen_ai.prompt.0.content": "x" },
    { "llm.input_messages.0.message.content": "x" },
  ];
  test("a model with usage or messages is an llm", () => {
    for (const model of MODELS)
      for (const sign of SIGNS)
        assert.equal(translateContent({ attributes: { [model]: "m", ...sign } }).runType, "llm");
    const events = [{ name: "gen_ai.choice" }];
    assert.equal(translateContent({ attributes: { "gen_ai.request.model": "m" }, events }).runType, "llm");
  });

  test("each rule takes precedence over the next", () => {
    const ORDER: readonly (readonly [string, string, RunType])[] = [
      ["langsmith.span.kind", "parser", "parser"],
      ["gen_ai.operation.name", "chat", "llm"],
      ["gen_ai.tool.name", "t", "tool"],
      ["openinference.span.kind", "PROMPT", "prompt"],
      ["ai.operationId", "ai.embed.doEmbed", "embedding"],
      ["llm.request.type", "chat", "llm"],
      ["traceloop.span.kind", "tool", "tool"],
      ["mlflow.spanType", "RETRIEVER", "retriever"],
    ];
    for (const [at, [key, , type]] of ORDER.entries()) {
      const attributes = Object.fromEntries(ORDER.slice(at).map(([name, value]) => [name, value]));
      assert.equal(translateContent({ attributes }).runType, type, key);
    }
  });
});

describe("usage", () => {
  const TABLE: Readonly<Record<string, readonly string[]>> = {
    input_tokens: [
      "gen_ai.usage.input_tokens",
      "gen_ai.usage.prompt_tokens",
      "llm.token_count.prompt",
      "ai.usage.inputTokens",
      "ai.usage.promptTokens",
      "llm.usage.prompt_tokens",
      "ai.usage.tokens",
      "input_tokens",
    ],
    output_tokens: [
      "gen_ai.usage.output_tokens",
      "gen_ai.usage.completion_tokens",
      "llm.token_count.completion",
      "ai.usage.outputTokens",
      "ai.usage.completionTokens",
      "output_tokens",
    ],
    total_tokens: [
      "gen_ai.usage.total_tokens",
      "llm.token_count.total",
      "ai.usage.totalTokens",
      "llm.usage.total_tokens",
    ],
    "input_token_details.cache_read": [
      "gen_ai.usage.cache_read.input_tokens",
      "gen_ai.usage.cache_read_input_tokens",
      "gen_ai.usage.cache_read_tokens",
      "gen_ai.usage.input_cached_tokens",
      "gen_ai.usage.details.cache_read_input_tokens",
      "gen_ai.usage.details.cache_read_tokens",
      "llm.token_count.prompt_details.cache_read",
      "ai.usage.cachedInputTokens",
      "ai.usage.inputTokenDetails.cacheReadTokens",
      "cache_read_tokens",
    ],
    "input_token_details.cache_creation": [
      "gen_ai.usage.cache_creation.input_tokens",
      "gen_ai.usage.cache_write.input_tokens",
      "gen_ai.usage.cache_creation_input_tokens",
      "gen_ai.usage.cache_write_tokens",
      "gen_ai.usage.details.cache_creation_input_tokens",
      "llm.token_count.prompt_details.cache_write",
      "cache_creation_tokens",
    ],
    "input_token_details.audio": ["gen_ai.usage.audio.input_tokens", "llm.token_count.prompt_details.audio"],
    "output_token_details.audio": ["gen_ai.usage.audio.output_tokens", "llm.token_count.completion_details.audio"],
    "output_token_details.reasoning": [
      "gen_ai.usage.reasoning.output_tokens",
      "gen_ai.usage.reasoning_tokens",
      "gen_ai.usage.details.reasoning_tokens",
      "llm.token_count.completion_details.reasoning",
      "ai.usage.reasoningTokens",
      "llm.usage.reasoning_tokens",
    ],
    total_cost: ["gen_ai.usage.cost", "operation.cost", "llm.cost.total"],
    input_cost: ["llm.cost.prompt"],
    output_cost: ["llm.cost.completion"],
  };
  const BASE = { "langsmith.span.kind": "llm" };
  for (const [target, keys] of Object.entries(TABLE))
    test(`${target} from each of its sources, in this order`, () => {
      for (const [place, key] of keys.entries()) {
        // This source takes precedence over all later ones, so the span has those as well, with other numbers.
        const later = Object.fromEntries(keys.slice(place + 1).map((name, n) => [name, 900 + n]));
        const counts = target.includes("details") ? { "gen_ai.usage.input_tokens": 100_000 } : {};
        const { metadata } = parseExtra(translateContent({ attributes: { ...BASE, ...counts, ...later, [key]: 7 } }));
        assert.equal(member(metadata["usage_metadata"], ...target.split(".")), 7, key);
      }
    });

  test("as a whole", () => {
    const WHOLE: readonly (readonly [string, string, JsonObject])[] = [
      ["langsmith.usage_metadata", '{"input_tokens":1,"input_cost":0.5}', { input_tokens: 1, input_cost: 0.5 }],
      ["langsmith.metadata.usage_metadata", '{"output_tokens":2}', { output_tokens: 2 }],
      [
        "langfuse.observation.usage_details",
        '{"input":1,"output":2}',
        { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
      ],
    ];
    for (const [key, value, usage] of WHOLE) {
      const { metadata } = parseExtra(
        translateContent({ attributes: { ...BASE, "gen_ai.usage.input_tokens": 99, [key]: value } }),
      );
      assert.deepEqual(metadata["usage_metadata"], usage, key);
    }
  });
});

describe("content", () => {
  const check = (side: "inputs" | "outputs", rows: readonly (readonly [Given, Json])[]): void => {
    for (const [attributes, wanted] of rows)
      test(`${side} from ${Object.keys(attributes).at(-1)}`, () => {
        assert.deepEqual(parsed(translateContent({ attributes })[side]), wanted);
      });
  };
  const tool = { "langsmith.span.kind": "tool" };
  const object = '{"a":1}';
  check("inputs", [
    ...[
      "gen_ai.tool.call.arguments",
      "ai.toolCall.args",
      "ai.toolCall.input",
      "tool_arguments",
      "tool.parameters",
      "gcp.vertex.agent.tool_call_args",
      "gen_ai.tool.input",
      "flue.tool.arguments",
      "tool_input",
      "mcp.request.argument",
      "input.value",
    ].map((key): [Given, Json] => [{ ...tool, [key]: object }, { a: 1 }]),
    ...[
      "input.value",
      "traceloop.entity.input",
      "gen_ai.prompt",
      "prompt",
      "input",
      "gen_ai.task.input",
      "user_prompt",
      "mlflow.spanInputs",
      "genkit:input",
      "lk.input_text",
      "lk.user_transcript",
      "lk.chat_ctx",
      "langfuse.observation.input",
      "langfuse.trace.input",
      "tool_input",
    ].map((key): [Given, Json] => [{ [key]: "words" }, { input: "words" }]),
    [{ "gen_ai.agent.system_prompt": "Be kind." }, { messages: [{ role: "system", content: "Be kind." }] }],
    [{ "langsmith.span.kind": "retriever", "reranker.query": "q" }, { query: "q" }],
    [{ "langsmith.span.kind": "embedding", "ai.value": '"q"' }, { input: "q" }],
    [{ "llm.prompts.0.prompt.text": "a", "llm.prompts.1.prompt.text": "b" }, { prompts: ["a", "b"] }],
    [{ "llm.prompt_template.template": "Tell {x}" }, { prompt: "Tell {x}" }],
  ]);
  check("outputs", [
    ...[
      "gen_ai.tool.call.result",
      "ai.toolCall.result",
      "ai.toolCall.output",
      "tool_response",
      "gcp.vertex.agent.tool_response",
      "gen_ai.tool.output",
      "output.value",
    ].map((key): [Given, Json] => [{ ...tool, [key]: object }, { a: 1 }]),
    ...["output.value", "traceloop.entity.output", "gen_ai.completion", "all_messages_events"].map(
      (key): [Given, Json] => [{ [key]: "words" }, { text: "words" }],
    ),
    ...[
      "final_result",
      "output",
      "gen_ai.task.output",
      "response.model_output",
      "mlflow.spanOutputs",
      "genkit:output",
      "langfuse.observation.output",
      "langfuse.trace.output",
    ].map((key): [Given, Json] => [{ [key]: "words" }, { output: "words" }]),
    [{ "ai.response.object": object }, { a: 1 }],
    [{ "ai.result.object": object }, { a: 1 }],
    [{ "ai.embedding": "[1,2,3]" }, { embeddings: { count: 1, dimensions: 3 } }],
    [{ "llm.choices.0.completion.text": "x" }, { messages: [{ role: "assistant", content: "x" }] }],
  ]);
});

describe("names, models and metadata", () => {
  test("run names", () => {
    const NAMES: readonly (readonly [Given, string, string])[] = [
      [{ "langsmith.trace.name": "n" }, "span", "n"],
      [{ "langsmith.metadata.ls_run_name": "n" }, "span", "n"],
      [{ "ai.operationId": "ai.generateText", "ai.telemetry.functionId": "n" }, "span", "n"],
      [{ "ai.operationId": "ai.generateText.doGenerate", "ai.telemetry.functionId": "n" }, "span", "span"],
      [{ "traceloop.entity.name": "n" }, "span", "n"],
      [{ "openinference.span.kind": "TOOL", "tool.name": "n" }, "span", "n"],
      [{ "openinference.span.kind": "CHAIN", "tool.name": "n" }, "span", "span"],
      [{ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "n" }, "invoke_agent", "n"],
      [{ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "n" }, "invoke_agent x", "invoke_agent x"],
      [{ "genkit:name": "n" }, "span", "n"],
      [{}, "", "unnamed"],
    ];
    for (const [attributes, name, wanted] of NAMES) assert.equal(translateContent({ name, attributes }).name, wanted);
  });

  test("the model that answered is priced, the requested one is a parameter", () => {
    const MODELS = [
      "langsmith.metadata.ls_model_name",
      "gen_ai.response.model",
      "ai.response.model",
      "llm.response.model_name",
      "gen_ai.request.model",
      "ai.model.id",
      "llm.model_name",
      "llm.request.model_name",
      "embedding.model_name",
      "reranker.model_name",
      "model",
      "model_name",
    ];
    for (let at = 0; at < MODELS.length; at++) {
      const attributes = Object.fromEntries(MODELS.slice(at).map((key) => [key, key]));
      assert.equal(parseExtra(translateContent({ attributes })).metadata["ls_model_name"], MODELS[at]);
    }
    const both = { "gen_ai.request.model": "alias", "gen_ai.response.model": "served" };
    assert.equal(parseExtra(translateContent({ attributes: both })).params["model"], "alias");
  });

  test("providers", () => {
    for (const key of [
      "langsmith.metadata.ls_provider",
      "gen_ai.provider.name",
      "gen_ai.system",
      "llm.provider",
      "llm.system",
    ])
      assert.equal(
        parseExtra(translateContent({ attributes: { [key]: "groq" } })).metadata["ls_provider"],
        "groq",
        key,
      );
    const VERCEL = {
      "openai.chat": "openai",
      "google.generative-ai": "google_genai",
      "google.vertex.chat": "google_vertexai",
    };
    for (const [sent, said] of Object.entries(VERCEL))
      assert.equal(
        parseExtra(translateContent({ attributes: { "ai.model.provider": sent } })).metadata["ls_provider"],
        said,
      );
  });

  test("threads and users", () => {
    const TABLE = {
      thread_id: [
        "gen_ai.conversation.id",
        "session.id",
        "gcp.vertex.agent.session_id",
        "ai.telemetry.metadata.sessionId",
        "ai.telemetry.metadata.threadId",
        "traceloop.association.properties.chat_id",
        "traceloop.association.properties.thread_id",
        "langsmith.metadata.thread_id",
      ],
      session_id: ["langsmith.metadata.session_id", "traceloop.association.properties.session_id"],
      conversation_id: ["langsmith.metadata.conversation_id"],
      user_id: ["user.id", "enduser.id", "ai.telemetry.metadata.userId", "traceloop.association.properties.user_id"],
    };
    for (const [name, keys] of Object.entries(TABLE))
      for (const key of keys)
        assert.equal(parseExtra(translateContent({ attributes: { [key]: "x" } })).metadata[name], "x", key);
  });

  test("tags from a list or from text", () => {
    for (const key of ["langsmith.span.tags", "tag.tags", "ai.telemetry.metadata.tags", "langfuse.trace.tags"]) {
      assert.deepEqual(translateContent({ attributes: { [key]: ["a", "b"] } }).tags, ["a", "b"], key);
      assert.deepEqual(translateContent({ attributes: { [key]: "a, b,,a" } }).tags, ["a", "b"], key);
    }
  });
});
