// Tool results of the AI SDK: a failed one differs from a good one.
import { describe } from "node:test";
import type { Json } from "@holdpoint/base/json/json.ts";
import { table, type Case } from "../testkit.ts";

const result = (name: string, output: Json, becomes: Json): Case => ({
  name,
  span: {
    attributes: {
      "ai.operationId": "ai.generateText.doGenerate",
      "ai.prompt.messages": JSON.stringify([
        { role: "tool", content: [{ type: "tool-result", toolCallId: "c1", toolName: "weather", output }] },
      ]),
    },
  },
  run: {
    inputs: { messages: [{ role: "tool", tool_call_id: "c1", name: "weather", ...(becomes as object) }] },
  },
});

describe("tool results of the AI SDK", () => {
  table([
    result("text", { type: "text", value: "rain" }, { content: "rain" }),
    result(
      "a failure as text, with options",
      { type: "error-text", value: "no such city", providerOptions: { x: { cache: true } } },
      { content: "no such city", status: "error", output: { providerOptions: { x: { cache: true } } } },
    ),
    result(
      "a failure as JSON",
      { type: "error-json", value: { code: 404 } },
      { content: '{"code":404}', status: "error" },
    ),
    result(
      "a type that is not known",
      { type: "later", value: "rain" },
      { content: "rain", output: { type: "later" } },
    ),
    result(
      "a denied call has no value",
      { type: "execution-denied", reason: "no" },
      { content: '{"type":"execution-denied","reason":"no"}' },
    ),
  ]);
});
