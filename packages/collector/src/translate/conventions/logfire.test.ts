// Logfire: attributes of logfire 4 (Python) and of the npm package logfire 0.22.9.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Logfire", () => {
  table([
    {
      name: "the answer of a stream",
      span: {
        scope: "logfire.openai",
        attributes: {
          "gen_ai.request.model": "gpt-5",
          request_data: '{"model":"gpt-5","messages":[{"role":"user","content":"Hi"}]}',
          response_data: '{"combined_chunk_content":"Hello","chunk_count":3}',
        },
      },
      run: { outputs: { messages: [{ role: "assistant", content: "Hello" }], chunk_count: 3 } },
    },
    {
      name: "the model call of an instrumented client: request and response, name, tags",
      span: {
        name: "Chat Completion with {request_data[model]!r}",
        scope: "logfire.openai",
        attributes: {
          "logfire.msg": "Chat Completion with 'gpt-5'",
          "logfire.msg_template": "Chat Completion with {request_data[model]!r}",
          "logfire.span_type": "span",
          "logfire.json_schema": "{}",
          "logfire.tags": ["LLM", "nightly"],
          "gen_ai.system": "openai",
          "gen_ai.request.model": "gpt-5",
          "gen_ai.response.model": "gpt-5-2026",
          "gen_ai.usage.input_tokens": 3,
          request_data: '{"messages":[{"role":"user","content":"Hi"}],"model":"gpt-5"}',
          response_data: '{"message":{"role":"assistant","content":"Hello"},"usage":{"total_tokens":5}}',
        },
      },
      run: {
        name: "Chat Completion with 'gpt-5'",
        type: "llm",
        inputs: { messages: [{ role: "user", content: "Hi" }], model: "gpt-5" },
        outputs: { messages: [{ role: "assistant", content: "Hello" }], usage: { total_tokens: 5 } },
        tags: ["LLM", "nightly"],
        metadata: { ls_model_name: "gpt-5-2026" },
      },
    },
  ]);
});
