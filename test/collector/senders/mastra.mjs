// Sender: see package.json for its version. An agent that calls a tool.
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { Observability } from "@mastra/observability";
import { OtelExporter } from "@mastra/otel-exporter";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { url } from "./exporter.mjs";
import { scriptAnswers } from "./fake-models.mjs";

const model = new MockLanguageModelV4({
  provider: "openai.chat",
  modelId: "gpt-5",
  doGenerate: scriptAnswers(),
});
const weather = createTool({
  id: "weather",
  description: "The weather of a city",
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => Promise.resolve({ rain: true, city }),
});
const forecaster = new Agent({
  id: "forecaster",
  name: "forecaster",
  instructions: "Be kind.",
  model,
  tools: { weather },
});
const custom = { endpoint: url, protocol: "http/protobuf", headers: { "x-api-key": "sender-key" } };
const exporters = [new OtelExporter({ provider: { custom }, signals: { logs: false } })];
const observability = new Observability({ configs: { otel: { serviceName: "sender", exporters } } });
const mastra = new Mastra({ agents: { forecaster }, observability, logger: false });
await mastra.getAgent("forecaster").generate("Weather in Paris?", {
  tracingOptions: { tags: ["t1"], metadata: { team: "core", threadId: "th-1" } },
});
await observability.shutdown();
process.exit(0);
