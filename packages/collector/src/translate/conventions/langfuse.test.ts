// Langfuse: attributes of @langfuse/tracing 5.11.1 (names in @langfuse/core 5.11.1).
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { table, translated } from "../testkit.ts";

describe("Langfuse", () => {
  table([
    {
      name: "a generation: model, parameters, usage, costs, first token, metadata",
      span: {
        name: "answer",
        scope: "langfuse-sdk",
        attributes: {
          "langfuse.observation.type": "generation",
          "langfuse.observation.input": '[{"role":"user","content":"Hi"}]',
          "langfuse.observation.output": '{"role":"assistant","content":"Hello"}',
          "langfuse.observation.model.name": "gpt-5",
          "langfuse.observation.model.parameters": '{"temperature":0.2}',
          "langfuse.observation.usage_details": '{"input":10,"output":2,"total":12}',
          "langfuse.observation.cost_details": '{"input":0.1,"output":0.2,"total":0.3}',
          "langfuse.observation.completion_start_time": '"2025-11-21T09:00:00.500Z"',
          "langfuse.observation.prompt.name": "greet",
          "langfuse.observation.prompt.version": 3,
          "langfuse.observation.metadata.team": "core",
          "langfuse.trace.metadata.tier": '{"level":1}',
          "langfuse.environment": "test",
          "langfuse.trace.tags": ["a", "b"],
          "langfuse.session.id": "s1",
          "langfuse.user.id": "u1",
        },
      },
      run: {
        type: "llm",
        inputs: { messages: [{ role: "user", content: "Hi" }] },
        outputs: { messages: [{ role: "assistant", content: "Hello" }] },
        params: { model: "gpt-5", temperature: 0.2 },
        usage: {
          input_tokens: 10,
          output_tokens: 2,
          total_tokens: 12,
          input_cost: 0.1,
          output_cost: 0.2,
          total_cost: 0.3,
        },
        events: [{ name: "new_token", time: "2025-11-21T09:00:00.500000000Z" }],
        metadata: {
          ls_model_name: "gpt-5",
          team: "core",
          tier: { level: 1 },
          environment: "test",
          thread_id: "s1",
          user_id: "u1",
          prompt_name: "greet",
          prompt_version: 3,
        },
        tags: ["a", "b"],
      },
    },
    {
      name: "level ERROR is an error although the span's status is unset",
      span: {
        attributes: {
          "langfuse.observation.type": "tool",
          "langfuse.observation.level": "ERROR",
          "langfuse.observation.status_message": "no connection",
        },
      },
      run: { type: "tool", error: "no connection" },
    },
    {
      name: "level WARNING is none, and stays",
      span: { attributes: { "langfuse.observation.level": "WARNING" } },
      run: {
        error: "",
        metadata: {
          otel: {
            kind: "internal",
            scope: { version: "1.0" },
            attributes: { "langfuse.observation.level": "WARNING" },
          },
        },
      },
    },
    {
      name: "parts of the tokens come on top without a total",
      span: {
        attributes: {
          "langfuse.observation.type": "generation",
          "langfuse.observation.usage_details":
            '{"input":10,"output":5,"cache_read_input_tokens":2,"output_reasoning_tokens":1}',
        },
      },
      run: {
        usage: {
          input_tokens: 12,
          output_tokens: 6,
          total_tokens: 18,
          input_token_details: { cache_read: 2 },
          output_token_details: { reasoning: 1 },
        },
      },
    },
    {
      name: "a total says that the parts are inside",
      span: {
        attributes: {
          "langfuse.observation.type": "generation",
          "langfuse.observation.usage_details": '{"input":10,"output":5,"total":15,"input_cached_tokens":2}',
        },
      },
      run: {
        usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15, input_token_details: { cache_read: 2 } },
      },
    },
    {
      name: "a total says that the parts come on top",
      span: {
        attributes: {
          "langfuse.observation.type": "generation",
          "langfuse.observation.usage_details": '{"input":10,"output":5,"total":17,"input_cached_tokens":2}',
        },
      },
      run: {
        usage: { input_tokens: 12, output_tokens: 5, total_tokens: 17, input_token_details: { cache_read: 2 } },
      },
    },
  ]);

  test("the span at the top of what Langfuse exports has a parent that does not come", () => {
    const attributes = { "langfuse.internal.is_app_root": true };
    assert.equal(translated({ parent: "aaaaaaaaaaaaaaaa", attributes }).parentIs, "remote");
    assert.equal(translated({ parent: "aaaaaaaaaaaaaaaa" }).parentIs, undefined);
  });
});
