// Mastra: attributes of @mastra/otel-exporter 1.4.0 with @mastra/core 1.71.0.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Mastra", () => {
  table([
    {
      name: "a workflow step: content under the span's type",
      span: {
        attributes: {
          "mastra.span.type": "workflow_step",
          "mastra.workflow_step.input": '{"city":"Paris"}',
          "mastra.workflow_step.output": '{"sky":"rain"}',
          "mastra.workflow_step.status": "success",
          "mastra.metadata.threadId": "t1",
          "mastra.tags": '["nightly"]',
        },
      },
      run: {
        type: "chain",
        inputs: { city: "Paris" },
        outputs: { sky: "rain" },
        tags: ["nightly"],
        metadata: {
          threadId: "t1",
          thread_id: "t1",
          otel: {
            kind: "internal",
            scope: { version: "1.0" },
            attributes: { "mastra.span.type": "workflow_step", "mastra.workflow_step.status": "success" },
          },
        },
      },
    },
    {
      name: "an agent: instructions beside a text",
      span: {
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "mastra.span.type": "agent_run",
          "mastra.agent_run.input": "Weather in Paris?",
          "mastra.agent_run.output": '{"text":"It rains.","files":[]}',
          "gen_ai.system_instructions": "Be kind.",
          "gen_ai.tool.definitions": '["weather"]',
        },
      },
      run: {
        type: "chain",
        inputs: {
          messages: [
            { role: "system", content: "Be kind." },
            { role: "user", content: "Weather in Paris?" },
          ],
        },
        outputs: { messages: [{ role: "assistant", content: "It rains." }] },
        params: { tools: ["weather"] },
      },
    },
    ...(["model_generation", "model_step"] as const).map((type) => ({
      name: `a ${type} around the model call is a chain, with its calls`,
      span: {
        attributes: {
          "gen_ai.operation.name": type === "model_step" ? "agent_step" : type,
          "mastra.span.type": type,
          [`mastra.${type}.output`]:
            '{"text":"","toolCalls":[{"toolCallId":"c1","toolName":"weather","args":{"city":"Paris"}}],"warnings":[]}',
        },
      },
      run: {
        type: "chain" as const,
        outputs: {
          warnings: [],
          messages: [
            {
              role: "assistant",
              content: "",
              tool_calls: [
                { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
              ],
            },
          ],
        },
      },
    })),
    {
      name: "a model call: finish reasons as JSON text are a list",
      span: {
        attributes: {
          "gen_ai.operation.name": "chat",
          "mastra.span.type": "model_inference",
          "gen_ai.response.finish_reasons": '["tool-calls"]',
        },
      },
      run: { type: "llm", metadata: { finish_reasons: ["tool-calls"] } },
    },
    {
      name: "a generation: audio tokens, time of the first token",
      span: {
        attributes: {
          "gen_ai.operation.name": "chat",
          "mastra.span.type": "model_generation",
          "gen_ai.usage.input_tokens": 10,
          "gen_ai.usage.output_tokens": 4,
          "gen_ai.usage.audio_input_tokens": 6,
          "gen_ai.usage.audio_output_tokens": 3,
          "mastra.completion_start_time": "2025-11-21T09:00:00.250Z",
        },
      },
      run: {
        type: "llm",
        usage: {
          input_tokens: 10,
          output_tokens: 4,
          total_tokens: 14,
          input_token_details: { audio: 6 },
          output_token_details: { audio: 3 },
        },
        events: [{ name: "new_token", time: "2025-11-21T09:00:00.250000000Z" }],
      },
    },
    {
      name: "a second model call of an agent: the time of the first call's token is before it, and none of its own",
      span: {
        attributes: {
          "gen_ai.operation.name": "chat",
          "mastra.span.type": "model_inference",
          "mastra.completion_start_time": "2025-11-21T08:59:59.900Z",
        },
      },
      run: { type: "llm", events: null },
    },
    {
      name: "a span type that is newer than the table",
      span: {
        attributes: {
          "mastra.span.type": "browser_action",
          "mastra.browser_action.input": '{"url":"https://x"}',
          "mastra.browser_action.output": '{"ok":true}',
        },
      },
      run: { type: "chain", inputs: { url: "https://x" }, outputs: { ok: true } },
    },
    {
      name: "two of them: the second one stays an attribute",
      span: { attributes: { "mastra.new_one.input": '"a"', "mastra.new_two.input": '"b"' } },
      run: {
        inputs: { input: "a" },
        metadata: {
          otel: { kind: "internal", scope: { version: "1.0" }, attributes: { "mastra.new_two.input": '"b"' } },
        },
      },
    },
  ]);
});
