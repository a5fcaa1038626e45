// Sender: see package.json for its version. An agent of Google's ADK that calls a tool, with the spans of ADK itself.
import { startProvider } from "./exporter.mjs";
import { startModels } from "./fake-models.mjs";

const provider = startProvider();
const { origin, close } = await startModels();
process.env.GOOGLE_GEMINI_BASE_URL = origin;
const { FunctionTool, Gemini, InMemoryRunner, LlmAgent } = await import("@google/adk");
const { z } = await import("zod");

const weather = new FunctionTool({
  name: "weather",
  description: "The weather of a city",
  parameters: z.object({ city: z.string() }),
  execute: () => ({ rain: true }),
});
const agent = new LlmAgent({
  name: "forecaster",
  instruction: "Be kind.",
  model: new Gemini({ model: "gemini-2.5-flash", apiKey: "none" }),
  tools: [weather],
});
const runner = new InMemoryRunner({ agent, appName: "sender" });
const { id } = await runner.sessionService.createSession({ appName: "sender", userId: "u1" });
const newMessage = { role: "user", parts: [{ text: "Weather in Paris?" }] };
let answer = "";
for await (const { content } of runner.runAsync({ userId: "u1", sessionId: id, newMessage }))
  answer = content?.parts?.at(-1)?.text ?? answer;
if (answer !== "It rains.") throw new Error(`unexpected answer: ${answer}`);
close();
await provider.forceFlush();
await provider.shutdown();
process.exit(0);
