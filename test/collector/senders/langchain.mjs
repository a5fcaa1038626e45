// Sender: see package.json for its version. A chat model whose answer calls a tool.
import { LangChainInstrumentation } from "@arizeai/openinference-instrumentation-langchain";
import * as callbackManager from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { startProvider } from "./exporter.mjs";

const provider = startProvider();
new LangChainInstrumentation({ tracerProvider: provider }).manuallyInstrument(callbackManager);
const message = new AIMessage({
  content: "",
  tool_calls: [{ id: "call-1", name: "weather", args: { city: "Paris" } }],
  usage_metadata: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
  response_metadata: { model_name: "gpt-5-2026" },
});

class Model extends BaseChatModel {
  _llmType() {
    return "model";
  }
  invocationParams() {
    return { model: "gpt-5", temperature: 0.5 };
  }
  _generate() {
    return Promise.resolve({ generations: [{ text: "", message }] });
  }
}

const picture = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
const question = new HumanMessage([{ type: "text", text: "Weather in Paris?" }, picture]);
const callbacks = new callbackManager.CallbackManager();
await new Model({}).invoke([new SystemMessage("Be kind."), question], { callbacks });
await provider.forceFlush();
await provider.shutdown();
