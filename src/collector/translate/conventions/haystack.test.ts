// Haystack: tags of haystack-ai 2.20 through its OpenTelemetryTracer.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Haystack", () => {
  table([
    {
      name: "a component: name, type, content",
      span: {
        name: "haystack.component.run",
        attributes: {
          "haystack.component.name": "llm",
          "haystack.component.type": "OpenAIChatGenerator",
          "haystack.component.input": '{"messages":[{"role":"user","content":"Hi"}]}',
          "haystack.component.output": '{"replies":["Hello"]}',
          "haystack.component.visits": 1,
        },
      },
      run: {
        name: "llm",
        type: "llm",
        inputs: { messages: [{ role: "user", content: "Hi" }] },
        outputs: { replies: ["Hello"] },
        metadata: {
          component_type: "OpenAIChatGenerator",
          otel: { kind: "internal", scope: { version: "1.0" }, attributes: { "haystack.component.visits": 1 } },
        },
      },
    },
    {
      name: "a pipeline",
      span: {
        name: "haystack.pipeline.run",
        attributes: {
          "haystack.pipeline.input_data": '{"llm":{"query":"Hi"}}',
          "haystack.pipeline.output_data": '{"llm":{"replies":["Hello"]}}',
        },
      },
      run: { type: "chain", inputs: { llm: { query: "Hi" } }, outputs: { llm: { replies: ["Hello"] } } },
    },
    {
      name: "an agent: content and tools",
      span: {
        name: "haystack.agent.run",
        attributes: {
          "haystack.agent.input": '{"q":1}',
          "haystack.agent.output": '{"a":2}',
          "haystack.agent.tools": '[{"name":"weather"}]',
        },
      },
      run: { inputs: { q: 1 }, outputs: { a: 2 }, params: { tools: [{ name: "weather" }] } },
    },
  ]);
});
