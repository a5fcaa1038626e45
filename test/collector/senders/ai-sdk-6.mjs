// Sender: see package.json for its version. One weather question whose answer calls a tool, and the answer after it.
import { generateText, stepCountIs, tool } from "ai-6";
import { MockLanguageModelV3 } from "ai-6/test";
import { z } from "zod";
import { startProvider } from "./exporter.mjs";
import { scriptAnswers } from "./fake-models.mjs";

const provider = startProvider();
const model = new MockLanguageModelV3({
  provider: "openai",
  modelId: "gpt-5",
  doGenerate: scriptAnswers(),
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
