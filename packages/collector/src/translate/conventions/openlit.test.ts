// OpenLIT: attributes of openlit 1.36 (`semcov`), where it differs from the conventions.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("OpenLIT", () => {
  table([
    ...["framework", "agent"].map((operation) => ({
      name: `the operation "${operation}" is a chain: its tokens are a sum`,
      span: {
        attributes: {
          "gen_ai.operation.name": operation,
          "gen_ai.system": "langchain",
          "gen_ai.request.model": "gpt-5",
          "gen_ai.usage.input_tokens": 3,
        },
      },
      run: { type: "chain" as const, usage: null, metadata: { aggregate_usage: { input_tokens: 3, total_tokens: 3 } } },
    })),
    {
      name: "a workflow: content and agent",
      span: {
        attributes: {
          "gen_ai.operation.name": "workflow",
          "gen_ai.workflow.input": "Weather?",
          "gen_ai.workflow.output": "Rain.",
          "gen_ai.agent.role": "forecaster",
        },
      },
      run: {
        type: "chain",
        inputs: { input: "Weather?" },
        outputs: { output: "Rain." },
        metadata: {
          otel: { kind: "internal", scope: { version: "1.0" }, attributes: { "gen_ai.agent.role": "forecaster" } },
        },
      },
    },
    {
      name: "a model call: reasoning tokens and cost",
      span: {
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.usage.input_tokens": 3,
          "gen_ai.usage.output_tokens": 5,
          "gen_ai.usage.reasoning_tokens": 4,
          "gen_ai.usage.cost": 0.5,
        },
      },
      run: {
        type: "llm",
        usage: {
          total_cost: 0.5,
          input_tokens: 3,
          output_tokens: 5,
          total_tokens: 8,
          output_token_details: { reasoning: 4 },
        },
      },
    },
    {
      name: "an image",
      span: { attributes: { "gen_ai.operation.name": "image", "gen_ai.request.image_size": "1024x1024" } },
      run: { type: "llm", params: { image_size: "1024x1024" } },
    },
    {
      name: "the TypeScript SDK: content in attributes",
      span: {
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.content.prompt": "user: Hi",
          "gen_ai.content.completion": "Hello",
        },
      },
      run: { type: "llm", inputs: { input: "user: Hi" }, outputs: { text: "Hello" } },
    },
    {
      name: "a query of a vector database",
      span: { attributes: { "gen_ai.operation.name": "vectordb", "db.query.text": "hello" } },
      run: { type: "retriever", inputs: { query: "hello" } },
    },
    {
      name: "the address of an image",
      span: { attributes: { "gen_ai.operation.name": "image", "gen_ai.response.image": ["https://x/1.png"] } },
      run: { type: "llm", outputs: { output: ["https://x/1.png"] } },
    },
  ]);
});
