// Sender: see package.json for its version. One weather question whose answer calls a tool, and the answer after it.
import { generateText, stepCountIs, tool } from "ai-6";
import { MockLanguageModelV3 } from "ai-6/test";
import { z } from "zod";
import { startProvider } from "./exporter.mjs";

const provider = startProvider();
const usage = {
  inputTokens: { total: 11, noCache: 8, cacheRead: 3, cacheWrite: 0 },
  outputTokens: { total: 7, text: 5, reasoning: 2 },
};
const answers = [
  {
    content: [{ type: "tool-call", toolCallId: "call-1", toolName: "weather", input: '{"city":"Paris"}' }],
    finishReason: { unified: "tool-calls", raw: "tool_calls" },
  },
  { content: [{ type: "text", text: "It rains." }], finishReason: { unified: "stop", raw: "stop" } },
];
const model = new MockLanguageModelV3({
  provider: "openai",
  modelId: "gpt-5",
  doGenerate: () => Promise.resolve({ ...answers.shift(), usage, warnings: [] }),
});
const weather = tool({
  description: "The weather of a city",
  inputSchema: z.object({ city: z.string() }),
  execute: () => Promise.resolve({ rain: true }),
});
await generateText({
  model,
  system: "Be kind.",
  prompt: "Weather in Paris?",
  tools: { weather },
  stopWhen: stepCountIs(2),
  experimental_telemetry: { isEnabled: true, functionId: "forecast", metadata: { team: "core" } },
});
await provider.forceFlush();
await provider.shutdown();
