// Sender: see package.json for its version. One weather question to OpenAI, traced by OpenLIT.
import { trace } from "@opentelemetry/api";
import { logs } from "@opentelemetry/api-logs";
import OpenAI from "openai";
import openlit from "openlit";
import { askOpenAi, url } from "./exporter.mjs";

openlit.default.init({
  otlpEndpoint: new URL(url).origin,
  otlpHeaders: { "x-api-key": "sender-key" },
  disableBatch: true,
  disableMetrics: true,
  pricingJson: {}, // it would fetch one
  instrumentations: { openai: { OpenAI } },
});
await askOpenAi(OpenAI);
await trace.getTracerProvider().getDelegate().forceFlush();
await logs.getLoggerProvider().forceFlush();
process.exit(0);
