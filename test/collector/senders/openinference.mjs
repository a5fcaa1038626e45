// Sender: see package.json for its version. One weather question.
import { OpenAIInstrumentation } from "@arizeai/openinference-instrumentation-openai";
import OpenAI from "openai";
import { askOpenAi, startProvider } from "./exporter.mjs";

const provider = startProvider();
new OpenAIInstrumentation({ tracerProvider: provider }).manuallyInstrument(OpenAI);
await askOpenAi(OpenAI);
await provider.shutdown();
