// Exporter: the tracer provider of every sender: spans go to the address in argv, one by one, as they end.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";

export const url = process.argv[2];
export const exporter = new OTLPTraceExporter({ url, headers: { "x-api-key": "sender-key" } });

/** A registered provider. `processor` replaces the plain one. */
export function startProvider(processor = new SimpleSpanProcessor(exporter)) {
  const provider = new NodeTracerProvider({ spanProcessors: [processor] });
  provider.register();
  return provider;
}

/** An OpenAI endpoint that answers every chat with one tool call. */
export async function startOpenAi() {
  const { createServer } = await import("node:http");
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.setHeader("content-type", "application/json").end(
        JSON.stringify({
          id: "chatcmpl-1",
          object: "chat.completion",
          created: 1,
          model: "gpt-5-2026",
          choices: [
            {
              index: 0,
              finish_reason: "tool_calls",
              message: {
                role: "assistant",
                content: null,
                tool_calls: [
                  { id: "call-1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
                ],
              },
            },
          ],
          usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
        }),
      );
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { baseURL: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

/** One request with a system message, a user message and a tool. */
export async function askOpenAi(OpenAI) {
  const { baseURL, close } = await startOpenAi();
  const client = new OpenAI({ apiKey: "none", baseURL });
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
