// MLflow 3 over OTLP: every value is JSON. Token usage is there since 3.4.0.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("MLflow", () => {
  table([
    {
      name: "a model call: type, model, provider, tokens, costs, tools",
      span: {
        name: "Completions",
        attributes: {
          "mlflow.spanType": '"CHAT_MODEL"',
          "mlflow.spanInputs": '{"messages":[{"role":"user","content":"Hi"}],"model":"gpt-5"}',
          "mlflow.spanOutputs": '{"choices":[{"message":{"role":"assistant","content":"Hello"}}]}',
          "mlflow.llm.model": '"gpt-5"',
          "mlflow.llm.provider": '"openai"',
          "mlflow.chat.tokenUsage": '{"input_tokens":5,"output_tokens":2,"total_tokens":7,"cache_read_input_tokens":1}',
          "mlflow.llm.cost": '{"input_cost":0.1,"output_cost":0.2,"total_cost":0.3}',
          "mlflow.chat.tools": '[{"type":"function","function":{"name":"weather"}}]',
        },
      },
      run: {
        type: "llm",
        inputs: { messages: [{ role: "user", content: "Hi" }], model: "gpt-5" },
        outputs: { messages: [{ role: "assistant", content: "Hello" }] },
        usage: {
          input_cost: 0.1,
          output_cost: 0.2,
          total_cost: 0.3,
          input_tokens: 5,
          output_tokens: 2,
          total_tokens: 7,
          input_token_details: { cache_read: 1 },
        },
        params: { tools: [{ type: "function", function: { name: "weather" } }] },
        metadata: { ls_model_name: "gpt-5", ls_provider: "openai" },
      },
    },
    {
      name: "a tool: its own input and output",
      span: {
        attributes: { "mlflow.spanType": '"TOOL"', "mlflow.spanInputs": '{"q":1}', "mlflow.spanOutputs": '"two"' },
      },
      run: { type: "tool", inputs: { q: 1 }, outputs: { output: "two" } },
    },
    {
      name: "a retriever",
      span: { attributes: { "mlflow.spanType": '"RETRIEVER"', "mlflow.spanInputs": '{"query":"q"}' } },
      run: { type: "retriever", inputs: { query: "q" } },
    },
  ]);
});
