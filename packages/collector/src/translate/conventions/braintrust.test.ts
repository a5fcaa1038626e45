// Braintrust and AgentOps: attributes of their SDKs over OTLP (braintrust-sdk-java, -go and -dotnet; agentops).
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Braintrust", () => {
  table([
    {
      name: "a model call: type, content, model, tokens, tags",
      span: {
        name: "Chat Completion",
        attributes: {
          "braintrust.span_attributes": '{"type":"llm","name":"Chat Completion"}',
          "braintrust.input_json": '[{"role":"user","content":"Hi"}]',
          "braintrust.output_json": '[{"index":0,"message":{"role":"assistant","content":"Hello"}}]',
          "braintrust.metadata": '{"provider":"openai","model":"gpt-5","temperature":0}',
          "braintrust.metrics":
            '{"prompt_tokens":5,"completion_tokens":2,"tokens":7,"prompt_cached_tokens":1,"completion_reasoning_tokens":1}',
          "braintrust.tags": ["a"],
        },
      },
      run: {
        type: "llm",
        inputs: { messages: [{ role: "user", content: "Hi" }] },
        outputs: { messages: [{ role: "assistant", content: "Hello" }] },
        usage: {
          input_tokens: 5,
          output_tokens: 2,
          total_tokens: 7,
          input_token_details: { cache_read: 1 },
          output_token_details: { reasoning: 1 },
        },
        metadata: { ls_model_name: "gpt-5", temperature: 0 },
        tags: ["a"],
      },
    },
    {
      name: "a tool",
      span: {
        attributes: {
          "braintrust.span_attributes": '{"type":"tool"}',
          "braintrust.input_json": '{"city":"Paris"}',
          "braintrust.output_json": '"Sunny"',
        },
      },
      run: { type: "tool", inputs: { city: "Paris" }, outputs: { output: "Sunny" } },
    },
    {
      name: "an evaluation: what it expected stays",
      span: {
        attributes: {
          "braintrust.span_attributes": '{"type":"eval"}',
          "braintrust.input_json": '{"q":1}',
          "braintrust.output_json": '{"a":2}',
          "braintrust.expected": '{"a":3}',
        },
      },
      run: {
        type: "chain",
        inputs: { q: 1 },
        outputs: { a: 2 },
        metadata: {
          otel: {
            kind: "internal",
            scope: { version: "1.0" },
            attributes: {
              "braintrust.span_attributes": '{"type":"eval"}',
              "braintrust.expected": '{"a":3}',
            },
          },
        },
      },
    },
  ]);
});

describe("AgentOps", () => {
  table([
    {
      name: "a decorated tool",
      span: {
        attributes: {
          "agentops.span.kind": "tool",
          "tool.name": "weather",
          "agentops.entity.input": '{"city":"Paris"}',
          "agentops.entity.output": '"rain"',
        },
      },
      run: { type: "tool", name: "weather", inputs: { city: "Paris" }, outputs: { output: "rain" } },
    },
  ]);
});
