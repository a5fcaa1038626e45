// Sender: see package.json for its version. A flow whose model calls a tool, an embedder, and a flow that fails.
import { createRequire } from "node:module";
import { genkit, z } from "genkit";
import { enableTelemetry } from "genkit/tracing";
import { url } from "./exporter.mjs";

// Genkit has an SDK of its own, of OpenTelemetry 1.25: only the exporter next to it accepts its spans.
const own = createRequire(createRequire(import.meta.url).resolve("@opentelemetry/sdk-node"));
const { OTLPTraceExporter } = own("@opentelemetry/exporter-trace-otlp-proto");
const { SimpleSpanProcessor } = own("@opentelemetry/sdk-trace-base");
const processor = new SimpleSpanProcessor(new OTLPTraceExporter({ url, headers: { "x-api-key": "sender-key" } }));
await enableTelemetry({ spanProcessors: [processor] });

const ai = genkit({});
const city = z.object({ city: z.string() });
const weather = ai.defineTool({ name: "weather", description: "The weather of a city", inputSchema: city }, () =>
  Promise.resolve({ rain: true }),
);
const usage = { inputTokens: 11, outputTokens: 7, totalTokens: 18, cachedContentTokens: 3 };
const answers = [
  [{ toolRequest: { ref: "call-1", name: "weather", input: { city: "Paris" } } }],
  [{ text: "It rains." }],
];
ai.defineModel({ name: "fake/gpt-5", supports: { tools: true, systemRole: true } }, () =>
  Promise.resolve({ message: { role: "model", content: answers.shift() }, finishReason: "stop", usage }),
);
const embedder = ai.defineEmbedder({ name: "fake/embed" }, (texts) =>
  Promise.resolve({ embeddings: texts.map(() => ({ embedding: [0.1, 0.2] })) }),
);
const forecast = ai.defineFlow({ name: "forecast", inputSchema: z.string() }, async (prompt) => {
  const { text } = await ai.generate({ model: "fake/gpt-5", system: "Be kind.", prompt, tools: [weather] });
  return text;
});
const broken = ai.defineFlow({ name: "broken" }, () => Promise.reject(new Error("no network")));
await forecast("Weather in Paris?");
await ai.embed({ embedder, content: "rain" });
await broken().catch(() => undefined);
await processor.forceFlush();
process.exit(0);
