// npm test: the agent pauses before it sends, and goes on with the answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { HumanMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { graph } from "./agent.ts";

graph.checkpointer = new MemorySaver();

test("the mail is sent when a person has approved it", async () => {
  const config = { configurable: { thread_id: "one" } };
  const paused = await graph.invoke({ messages: [new HumanMessage("The release is out")] }, config);
  assert.ok("__interrupt__" in paused);
  const done = await graph.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), config);
  assert.match(done.messages.at(-1)?.text ?? "", /^Sent to team@example\.com: The release is out$/);
});
