// Sender: see package.json for its version. One weather question.
import { LangfuseSpanProcessor } from "@langfuse/otel";
import { startObservation } from "@langfuse/tracing";
import { exporter, startProvider } from "./exporter.mjs";

const provider = startProvider(
  new LangfuseSpanProcessor({ exporter, exportMode: "immediate", publicKey: "pk", secretKey: "sk" }),
);
const generation = startObservation(
  "answer",
  {
    model: "gpt-5",
    modelParameters: { temperature: 0.5 },
    input: [{ role: "user", content: "Weather in Paris?" }],
    output: { role: "assistant", content: "It rains." },
    usageDetails: { input: 11, output: 7, total: 18 },
    costDetails: { total: 0.25 },
    metadata: { team: "core" },
  },
  { asType: "generation" },
);
generation.end();
const failed = startObservation("weather", { level: "ERROR", statusMessage: "no network" }, { asType: "tool" });
failed.end();
await provider.forceFlush();
await provider.shutdown();
