// Koog and Gemini CLI: content in attributes of their own (koog 469cd36, gemini-cli 04fbf50).
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Koog", () => {
  table(
    ["node", "subgraph", "planner.plan", "planner.state"].map((part) => ({
      name: `the content of a ${part}`,
      span: { attributes: { [`koog.${part}.input`]: '{"a":1}', [`koog.${part}.output`]: '{"b":2}' } },
      run: { type: "chain" as const, inputs: { a: 1 }, outputs: { b: 2 } },
    })),
  );
});

describe("Gemini CLI", () => {
  table([
    {
      name: "a tool call of a development trace",
      span: {
        name: "tool_call",
        attributes: {
          "gen_ai.operation.name": "tool_call",
          "gen_ai.tool.name": "ls",
          "gen_ai.tool.call_id": "c1",
          "input-json": '{"path":"."}',
          "output-json": '{"files":[]}',
        },
      },
      run: {
        type: "tool",
        name: "ls",
        inputs: { path: "." },
        outputs: { files: [] },
        params: { tool_call_id: "c1" },
      },
    },
    {
      name: "a prompt of the user",
      span: {
        attributes: { "gen_ai.operation.name": "user_prompt", "input-json": '"Hi"', "output-json": '"Hello"' },
      },
      run: { type: "chain", inputs: { input: "Hi" }, outputs: { output: "Hello" } },
    },
    {
      name: "a model call without content",
      span: { attributes: { "gen_ai.operation.name": "llm_call", "gen_ai.request.model": "gemini-3-pro" } },
      run: { type: "llm", metadata: { ls_model_name: "gemini-3-pro" } },
    },
  ]);
});
