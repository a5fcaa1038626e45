// Haystack: tags of haystack-ai 2.20 and of the agent loop of 3.0, through its OpenTelemetryTracer.
import { describe } from "node:test";
import { table } from "../testkit.ts";

const META = {
  model: "gpt-5-2026",
  index: 0,
  finish_reason: "tool_calls",
  usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
};
const REPLY = {
  role: "assistant",
  meta: META,
  name: null,
  content: [{ text: "Let me look." }, { tool_call: { tool_name: "weather", arguments: { city: "Paris" }, id: "c1" } }],
};
const ANSWER = {
  role: "assistant",
  meta: META,
  content: "Let me look.",
  tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } }],
};

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
    {
      name: "a generator: messages, model and tokens of its replies",
      span: {
        name: "haystack.component.run",
        attributes: {
          "haystack.component.name": "llm",
          "haystack.component.type": "OpenAIChatGenerator",
          "haystack.component.input": JSON.stringify({
            messages: [{ role: "user", meta: {}, name: null, content: [{ text: "Weather?" }] }],
            tools: null,
          }),
          "haystack.component.output": JSON.stringify({ replies: [REPLY] }),
        },
      },
      run: {
        type: "llm",
        inputs: { tools: null, messages: [{ role: "user", content: "Weather?" }] },
        outputs: { messages: [ANSWER] },
        usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
        metadata: { ls_model_name: "gpt-5-2026" },
      },
    },
    {
      name: "a text generator: model and tokens of its meta",
      span: {
        attributes: {
          "haystack.component.type": "OpenAIGenerator",
          "haystack.component.output": JSON.stringify({ replies: ["Hello"], meta: [REPLY.meta] }),
        },
      },
      run: {
        outputs: { replies: ["Hello"], meta: [REPLY.meta] },
        usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
        metadata: { ls_model_name: "gpt-5-2026" },
      },
    },
    {
      name: "the model call of an agent's step",
      span: {
        name: "haystack.agent.step.llm",
        attributes: {
          "haystack.agent.step.llm.input": JSON.stringify({
            messages: [
              {
                role: "tool",
                meta: {},
                name: null,
                content: [
                  {
                    tool_call_result: {
                      result: "rain",
                      origin: { id: "c1", tool_name: "weather", arguments: {} },
                      error: false,
                    },
                  },
                ],
              },
            ],
          }),
          "haystack.agent.step.llm.output": JSON.stringify({ replies: [REPLY] }),
        },
      },
      run: {
        type: "llm",
        inputs: { messages: [{ role: "tool", tool_call_id: "c1", name: "weather", content: "rain", error: false }] },
        outputs: { messages: [ANSWER] },
        usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
      },
    },
    {
      name: "the tool of an agent's step",
      span: {
        name: "haystack.agent.step.tool",
        attributes: {
          "haystack.tool.name": "weather",
          "haystack.tool.description": "The weather of a city",
          "haystack.agent.step.tool.input": '{"city":"Paris"}',
          "haystack.agent.step.tool.output": '{"result":"rain"}',
        },
      },
      run: {
        name: "weather",
        type: "tool",
        inputs: { city: "Paris" },
        outputs: { result: "rain" },
        params: { tool_name: "weather", tool_description: "The weather of a city" },
      },
    },
    {
      name: "an embedder: model and tokens of its meta",
      span: {
        name: "haystack.component.run",
        attributes: {
          "haystack.component.type": "OpenAITextEmbedder",
          "haystack.component.output": '{"embedding":"…","meta":{"model":"te-3","usage":{"prompt_tokens":2}}}',
        },
      },
      run: {
        type: "embedding",
        usage: { input_tokens: 2, total_tokens: 2 },
        metadata: { ls_model_name: "te-3" },
      },
    },
    {
      name: "a tool's result names the arguments of its call",
      span: {
        name: "haystack.agent.step.llm",
        attributes: {
          "haystack.agent.step.llm.input": JSON.stringify({
            messages: [
              {
                role: "tool",
                content: [
                  {
                    tool_call_result: {
                      result: "rain",
                      origin: { id: "c1", tool_name: "weather", arguments: { city: "Paris" } },
                    },
                  },
                ],
              },
            ],
          }),
        },
      },
      run: {
        inputs: {
          messages: [
            { role: "tool", tool_call_id: "c1", name: "weather", content: "rain", arguments: { city: "Paris" } },
          ],
        },
      },
    },
  ]);
});
