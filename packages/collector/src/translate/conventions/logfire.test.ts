// Logfire: attributes of logfire 4 (Python) and of the npm package logfire 0.22.9.
import { describe } from "node:test";
import { table } from "../testkit.ts";

const RESPONSE = JSON.stringify({
  id: "resp_1",
  object: "response",
  output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello" }] }],
  usage: { input_tokens: 10, output_tokens: 4, total_tokens: 14 },
});
const USAGE = { input_tokens: 10, output_tokens: 4, total_tokens: 14 };
const ANSWERED = {
  messages: [{ role: "assistant", content: "Hello" }],
  id: "resp_1",
  object: "response",
  usage: USAGE,
};

describe("Logfire", () => {
  table([
    ...['[{"role":"user","content":"Hi"}]', "Hi"].map(
      (input) =>
        ({
          name: `a response of OpenAI's agents, whole: ${input}`,
          span: {
            scope: "logfire.openai_agents",
            attributes: { "gen_ai.request.model": "gpt-5", raw_input: input, response: RESPONSE },
          },
          run: {
            type: "llm",
            inputs: { messages: [{ role: "user", content: "Hi" }] },
            outputs: ANSWERED,
            usage: USAGE,
          },
        }) as const,
    ),
    {
      name: "a response of OpenAI's agents, beside its events",
      span: {
        scope: "logfire.openai_agents",
        attributes: {
          "gen_ai.request.model": "gpt-5",
          raw_input: '[{"role":"user","content":"Hi"}]',
          response: RESPONSE,
          events:
            '[{"event.name":"gen_ai.system.message","content":"Be kind","role":"system"},{"event.name":"gen_ai.user.message","content":"Hi","role":"user"},{"event.name":"gen_ai.choice","index":0,"message":{"content":"Hello","role":"assistant"}}]',
        },
      },
      run: {
        inputs: {
          messages: [
            { role: "system", content: "Be kind" },
            { role: "user", content: "Hi" },
          ],
        },
        outputs: ANSWERED,
        usage: USAGE,
      },
    },
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
