// Sender: see package.json for its version. One weather question.
import { OpenAIInstrumentation } from "@traceloop/instrumentation-openai";
import OpenAI from "openai";
import { askOpenAi, startProvider } from "./exporter.mjs";

const provider = startProvider();
const instrumentation = new OpenAIInstrumentation();
instrumentation.setTracerProvider(provider);
instrumentation.manuallyInstrument(OpenAI);
await askOpenAi(OpenAI);
await provider.shutdown();
