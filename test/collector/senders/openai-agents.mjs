// Sender: see package.json for its version. An agent of @openai/agents that calls a tool, traced by OpenInference.
import { OpenAIAgentsInstrumentation } from "@arizeai/openinference-instrumentation-openai-agents";
import OpenAI from "openai";
import { z } from "zod";
import { startProvider } from "./exporter.mjs";
import { startModels } from "./fake-models.mjs";

const provider = startProvider();
const { origin, close } = await startModels();
const agents = await import("@openai/agents"); // a lint during its installation would miss members of a static import
new OpenAIAgentsInstrumentation({ tracerProvider: provider }).manuallyInstrument(agents);
agents.setDefaultOpenAIClient(new OpenAI({ apiKey: "none", baseURL: `${origin}/v1` }));
const weather = agents.tool({
  name: "weather",
  description: "The weather of a city",
  parameters: z.object({ city: z.string() }),
  execute: () => Promise.resolve({ rain: true }),
});
const agent = new agents.Agent({ name: "forecaster", instructions: "Be kind.", model: "gpt-5", tools: [weather] });
const { finalOutput } = await agents.run(agent, "Weather in Paris?");
if (finalOutput !== "It rains.") throw new Error(`unexpected answer: ${finalOutput}`);
close();
await provider.forceFlush();
await provider.shutdown();
process.exit(0);
