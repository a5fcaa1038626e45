// Sender: see package.json for its version. One weather question.
import { OpenTelemetry } from "@ai-sdk/otel";
import { generateText, registerTelemetry } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { startProvider } from "./exporter.mjs";

const provider = startProvider();
registerTelemetry(new OpenTelemetry());
const model = new MockLanguageModelV4({
  provider: "openai",
  modelId: "gpt-5",
  doGenerate: {
    content: [
      { type: "text", text: "Let me look." },
      { type: "tool-call", toolCallId: "call-1", toolName: "weather", input: '{"city":"Paris"}' },
    ],
    finishReason: { unified: "tool-calls", raw: "tool_calls" },
    usage: {
      inputTokens: { total: 11, noCache: 11, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 7, text: 7, reasoning: 0 },
    },
    warnings: [],
  },
});
await generateText({ model, system: "Be kind.", prompt: "Weather in Paris?" });
await provider.forceFlush();
await provider.shutdown();
