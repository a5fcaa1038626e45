// Sender: see package.json for its version. One weather question to OpenAI, traced by OpenTelemetry's own
// instrumentation: the span has the numbers, and log records have the content. It knows OpenAI's client up to version
// 6, which has another name here, so the hook of `require` does not find it.
import { createRequire } from "node:module";
import { OpenAIInstrumentation } from "@opentelemetry/instrumentation-openai";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import { askOpenAi, startProvider, url } from "./exporter.mjs";

const provider = startProvider();
const logs = new OTLPLogExporter({ url: url.replace("traces", "logs"), headers: { "x-api-key": "sender-key" } });
const loggers = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter: logs })] });
const instrumentation = new OpenAIInstrumentation({ captureMessageContent: true });
instrumentation.setTracerProvider(provider);
instrumentation.setLoggerProvider(loggers);
const openai = createRequire(import.meta.url)("openai-6");
for (const { patch } of instrumentation.getModuleDefinitions()) patch(openai);
await askOpenAi(openai);
await loggers.forceFlush();
await provider.forceFlush();
await loggers.shutdown();
await provider.shutdown();
