// LangWatch: attributes of the langwatch SDK 0.14.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("LangWatch", () => {
  table([
    {
      name: "a model call: values with their type",
      span: {
        attributes: {
          "langwatch.span.type": "llm",
          "langwatch.input": '{"type":"chat_messages","value":[{"role":"user","content":"Hi"}]}',
          "langwatch.output": '{"type":"chat_messages","value":[{"role":"assistant","content":"Hello"}]}',
          "langwatch.thread.id": "t1",
          "langwatch.user.id": "u1",
        },
      },
      run: {
        type: "llm",
        inputs: { messages: [{ role: "user", content: "Hi" }], type: "chat_messages" },
        outputs: { messages: [{ role: "assistant", content: "Hello" }], type: "chat_messages" },
        metadata: { thread_id: "t1", user_id: "u1" },
      },
    },
    {
      name: "a search",
      span: { attributes: { "langwatch.span.type": "rag", "langwatch.input": "Hi" } },
      run: { type: "retriever" },
    },
  ]);
});
