// Azure AI Agents: spans and events of azure-ai-agents 1.1 (Python).
import { describe } from "node:test";
import { table } from "../testkit.ts";
import type { Json } from "@holdpoint/base/json/json.ts";

const PLACE = { "gen_ai.thread.id": "thread_1", "gen_ai.agent.id": "asst_1", "gen_ai.thread.run.id": "run_1" };
const said = (role: string, body: Json, more = {}) => ({
  name: `gen_ai.${role}.message`,
  attributes: { "gen_ai.system": "az.ai.agents", ...PLACE, ...more, "gen_ai.event.content": JSON.stringify(body) },
});
const ASKED = said("user", { content: { text: { value: "Weather?" } }, role: "user" });
const ANSWERED = said("assistant", { content: { text: { value: "12 degrees." } }, role: "assistant" });
const CALLED = said("assistant", {
  tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: { city: "Rome" } } }],
});
const RESULT = said("tool", { content: "12", id: "c1" });
const QUESTION = { role: "user", content: "Weather?" };
const ANSWER = { role: "assistant", content: "12 degrees." };

describe("Azure AI Agents", () => {
  table([
    {
      name: "the turn of the assistant is the answer of a run",
      span: {
        name: "process_thread_run",
        attributes: { "gen_ai.operation.name": "process_thread_run", ...PLACE, "gen_ai.usage.input_tokens": 120 },
        events: [said("system", { content: "Be kind" }), ASKED, CALLED, RESULT, ANSWERED],
      },
      run: {
        inputs: { messages: [{ role: "system", content: "Be kind" }, QUESTION] },
        outputs: {
          messages: [
            {
              role: "assistant",
              tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }],
            },
            { role: "tool", tool_call_id: "c1", content: "12" },
            ANSWER,
          ],
        },
        events: null,
      },
    },
    {
      name: "a run without a question",
      span: { attributes: { "gen_ai.operation.name": "process_thread_run", ...PLACE }, events: [ANSWERED] },
      run: { inputs: {}, outputs: { messages: [ANSWER] }, events: null },
    },
    {
      name: "a list of messages is what it returns",
      span: { attributes: { "gen_ai.operation.name": "list_messages", ...PLACE }, events: [ANSWERED, ASKED] },
      run: { inputs: {}, outputs: { messages: [ANSWER, QUESTION] } },
    },
    {
      name: "a history that ends with the assistant, beside an answer",
      span: {
        attributes: { "gen_ai.operation.name": "chat", ...PLACE, "gen_ai.output.messages": JSON.stringify([ANSWER]) },
        events: [ASKED, ANSWERED],
      },
      run: { inputs: { messages: [QUESTION, ANSWER] }, outputs: { messages: [ANSWER] } },
    },
    {
      name: "a place that the span does not have stays with the message",
      span: { attributes: { ...PLACE, "gen_ai.thread.id": "thread_2" }, events: [ASKED] },
      run: { inputs: { messages: [{ ...QUESTION, "gen_ai.thread.id": "thread_1" }] } },
    },
  ]);
});
