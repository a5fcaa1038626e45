// Sentry: attributes of its SDKs for generative AI (sentry-javascript 006be84, gen-ai-attributes.ts; sentry-python).
import { describe } from "node:test";
import { table } from "../testkit.ts";

const CALL = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } };

describe("Sentry", () => {
  table([
    {
      name: "a model call: messages, answer, calls, tools, parts of the tokens",
      span: {
        name: "chat gpt-4o",
        attributes: {
          "gen_ai.operation.name": "chat",
          "sentry.op": "gen_ai.chat",
          "gen_ai.request.model": "gpt-4o",
          "gen_ai.request.messages": '[{"role":"system","content":"Be short."},{"role":"user","content":"Weather?"}]',
          "gen_ai.request.available_tools": '[{"type":"function","name":"weather"}]',
          "gen_ai.request.max_tokens": 10,
          "gen_ai.response.text": "Let me look.",
          "gen_ai.response.tool_calls": JSON.stringify([CALL]),
          "gen_ai.usage.input_tokens": 20,
          "gen_ai.usage.input_tokens.cached": 5,
          "gen_ai.usage.input_tokens.cache_write": 2,
          "gen_ai.usage.output_tokens": 10,
          "gen_ai.usage.output_tokens.reasoning": 8,
          "gen_ai.usage.total_tokens": 30,
          "gen_ai.cost.input_tokens": 0.1,
          "gen_ai.cost.output_tokens": 0.2,
          "gen_ai.cost.total_tokens": 0.3,
        },
      },
      run: {
        type: "llm",
        inputs: {
          messages: [
            { role: "system", content: "Be short." },
            { role: "user", content: "Weather?" },
          ],
        },
        outputs: { messages: [{ role: "assistant", content: "Let me look.", tool_calls: [CALL] }] },
        params: { max_tokens: 10, tools: [{ type: "function", name: "weather" }] },
        usage: {
          input_cost: 0.1,
          output_cost: 0.2,
          total_cost: 0.3,
          input_tokens: 20,
          output_tokens: 10,
          total_tokens: 30,
          input_token_details: { cache_read: 5, cache_creation: 2 },
          output_token_details: { reasoning: 8 },
        },
      },
    },
    {
      name: "the answer beside messages in the conventions' form",
      span: {
        attributes: {
          "gen_ai.operation.name": "responses",
          "gen_ai.request.model": "gpt-4o",
          "gen_ai.input.messages": '[{"role":"user","content":"Hi"}]',
          "gen_ai.system_instructions": '[{"type":"text","content":"Be nice."}]',
          "gen_ai.response.text": '["Hello","again"]',
        },
      },
      run: {
        type: "llm",
        inputs: {
          messages: [
            { role: "system", content: "Be nice." },
            { role: "user", content: "Hi" },
          ],
        },
        outputs: {
          messages: [
            { role: "assistant", content: "Hello" },
            { role: "assistant", content: "again" },
          ],
        },
      },
    },
    {
      name: "an agent: its messages and a generated object",
      span: {
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.request.messages": '[{"role":"user","content":"Hi"}]',
          "gen_ai.response.object": '{"a":1}',
        },
      },
      run: { type: "chain", inputs: { messages: [{ role: "user", content: "Hi" }] }, outputs: { a: 1 } },
    },
    {
      name: "an embedding",
      span: {
        attributes: {
          "gen_ai.operation.name": "embeddings",
          "gen_ai.request.model": "text-embedding-3-small",
          "gen_ai.embeddings.input": '["alpha","beta"]',
        },
      },
      run: { type: "embedding", inputs: { input: ["alpha", "beta"] } },
    },
    {
      name: "messages that no rule takes stay parameters",
      span: {
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.input.messages": '[{"role":"user","content":"Hi"}]',
          "gen_ai.request.messages": '[{"role":"user","content":"Other"}]',
        },
      },
      run: { params: { messages: '[{"role":"user","content":"Other"}]' } },
    },
  ]);
});
