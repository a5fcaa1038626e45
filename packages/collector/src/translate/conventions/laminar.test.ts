// Laminar: attributes of @lmnr-ai/lmnr 0.7.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Laminar", () => {
  table([
    {
      name: "a model call of an observed function, in a session",
      span: {
        name: "answer",
        scope: "lmnr.tracer",
        attributes: {
          "lmnr.span.type": "LLM",
          "lmnr.span.input": '[{"role":"user","content":"Hi"}]',
          "lmnr.span.output": '[{"role":"assistant","content":"Hello"}]',
          "lmnr.association.properties.session_id": "s1",
          "lmnr.association.properties.user_id": "u1",
          "lmnr.association.properties.tags": ["a"],
          "lmnr.association.properties.metadata.team": "core",
        },
      },
      run: {
        type: "llm",
        inputs: { messages: [{ role: "user", content: "Hi" }] },
        outputs: { messages: [{ role: "assistant", content: "Hello" }] },
        metadata: { thread_id: "s1", user_id: "u1", team: "core" },
        tags: ["a"],
      },
    },
    {
      name: "a tool keeps its arguments and its result",
      span: {
        attributes: { "lmnr.span.type": "TOOL", "lmnr.span.input": '{"city":"Rome"}', "lmnr.span.output": "12" },
      },
      run: { type: "tool", inputs: { city: "Rome" }, outputs: { output: "12" } },
    },
  ]);
});
