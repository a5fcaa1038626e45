// Gateways and inference servers: OpenRouter Broadcast (2026), vLLM 0.29, SGLang.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("gateways and inference servers", () => {
  table([
    {
      name: "OpenRouter: costs, parts of the tokens, session and user",
      span: {
        name: "chat openai/gpt-4o",
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": "OpenAI",
          "gen_ai.request.model": "openai/gpt-4o",
          "gen_ai.usage.input_tokens": 150,
          "gen_ai.usage.output_tokens": 50,
          "gen_ai.usage.input_tokens.cached": 10,
          "gen_ai.usage.output_tokens.reasoning": 5,
          "gen_ai.usage.total_cost": 0.0035,
          "gen_ai.usage.input_cost": 0.002,
          "gen_ai.usage.output_cost": 0.0015,
          "gen_ai.response.finish_reason": "stop",
          "gen_ai.prompt": '{"messages":[{"role":"user","content":"Hi"}]}',
          "gen_ai.completion": '{"completion":"Hello","reasoning":"Greet."}',
          "session.id": "s1",
          "user.id": "u1",
        },
      },
      run: {
        type: "llm",
        inputs: { messages: [{ role: "user", content: "Hi" }] },
        outputs: {
          messages: [
            {
              role: "assistant",
              content: [
                { type: "reasoning", reasoning: "Greet." },
                { type: "text", text: "Hello" },
              ],
            },
          ],
        },
        usage: {
          input_cost: 0.002,
          output_cost: 0.0015,
          total_cost: 0.0035,
          input_tokens: 150,
          output_tokens: 50,
          total_tokens: 200,
          input_token_details: { cache_read: 10 },
          output_token_details: { reasoning: 5 },
        },
        metadata: { thread_id: "s1", user_id: "u1", finish_reasons: "stop" },
      },
    },
    {
      name: "vLLM: a model call without a model",
      span: {
        name: "llm_request",
        scope: "vllm.llm_engine",
        attributes: {
          "gen_ai.request.id": "cmpl-1",
          "gen_ai.usage.prompt_tokens": 128,
          "gen_ai.usage.completion_tokens": 512,
          "gen_ai.latency.time_in_queue": 0.001,
          "gen_ai.latency.time_to_first_token": 0.5,
          "gen_ai.latency.e2e": 0.9,
        },
      },
      run: {
        type: "llm",
        usage: { input_tokens: 128, output_tokens: 512, total_tokens: 640 },
        events: [{ name: "new_token", time: "2025-11-21T09:00:00.623456789Z" }],
      },
    },
    {
      name: "SGLang: cached tokens",
      span: {
        attributes: {
          "gen_ai.response.model": "qwen",
          "gen_ai.usage.prompt_tokens": 100,
          "gen_ai.usage.cached_tokens": 64,
          "gen_ai.usage.completion_tokens": 7,
        },
      },
      run: {
        type: "llm",
        usage: {
          input_tokens: 100,
          output_tokens: 7,
          total_tokens: 107,
          input_token_details: { cache_read: 64 },
        },
      },
    },
  ]);
});
