// Sender: see package.json for its version. An agent of Strands that calls a tool, with the spans of Strands itself.
import { startProvider } from "./exporter.mjs";
import { startModels } from "./fake-models.mjs";

const provider = startProvider();
const { origin, close } = await startModels();
const { Agent, tool } = await import("@strands-agents/sdk");
const { OpenAIModel } = await import("@strands-agents/sdk/models/openai");
const { z } = await import("zod");

const weather = tool({
  name: "weather",
  description: "The weather of a city",
  inputSchema: z.object({ city: z.string() }),
  callback: () => ({ rain: true }),
});
const agent = new Agent({
  name: "forecaster",
  systemPrompt: "Be kind.",
  model: new OpenAIModel({ api: "chat", modelId: "gpt-5", apiKey: "none", clientConfig: { baseURL: `${origin}/v1` } }),
  tools: [weather],
  printer: false,
});
await agent.invoke("Weather in Paris?");
close();
await provider.forceFlush();
await provider.shutdown();
process.exit(0);
