// Exporter: the tracer provider of every sender: spans go to the address in argv, one by one, as they end.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { startModels } from "./fake-models.mjs";

export const url = process.argv[2];
export const exporter = new OTLPTraceExporter({ url, headers: { "x-api-key": "sender-key" } });

/** A registered provider. `processor` replaces the plain one. */
export function startProvider(processor = new SimpleSpanProcessor(exporter)) {
  const provider = new NodeTracerProvider({ spanProcessors: [processor] });
  provider.register();
  return provider;
}

/** One request with a system message, a user message and a tool. */
export async function askOpenAi(OpenAI) {
  const { origin, close } = await startModels();
  const client = new OpenAI({ apiKey: "none", baseURL: `${origin}/v1` });
  await client.chat.completions.create({
    model: "gpt-5",
    messages: [
      { role: "system", content: "Be kind." },
      { role: "user", content: "Weather in Paris?" },
    ],
    tools: [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }],
  });
  close();
}
