// A help desk that gives refunds to an agent of another server, over A2A. That agent waits for the approval of a
// person; the help desk waits with it. The address of the other agent is the context of the assistant.
import { AIMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Part, Task } from "@a2a-js/sdk";
import * as z from "zod";

const Context = z.object({ refunds_url: z.url() });
const CARD = "/.well-known/agent-card.json?assistant_id=refund-approval";

async function askRefunds(
  { messages }: typeof MessagesAnnotation.State,
  { context, configurable }: LangGraphRunnableConfig,
) {
  // Loaded with the first request: the samples start without it.
  const { Role, TaskState } = await import("@a2a-js/sdk");
  const { ClientFactory } = await import("@a2a-js/sdk/client");
  const client = await new ClientFactory().createFromUrl(Context.parse(context).refunds_url, CARD);
  // The node runs again after a crash. A message with the same id finds the task that the first one started.
  const messageId = String(configurable?.["idempotency_key"]);
  const part: Part = {
    content: { $case: "text", value: messages.at(-1)?.text ?? "" },
    metadata: undefined,
    filename: "",
    mediaType: "text/plain",
  };
  const message = { messageId, role: Role.ROLE_USER, parts: [part], contextId: "", taskId: "", metadata: undefined };
  const sent = { message: { ...message, extensions: [], referenceTaskIds: [] } };
  let task = await client.sendMessage({ ...sent, tenant: "", configuration: undefined, metadata: undefined });
  while ("status" in task && task.status?.state === TaskState.TASK_STATE_INPUT_REQUIRED) {
    const name = { tenant: "", id: task.id };
    for await (const event of client.resubscribeTask(name)) void event; // ends with the decision of the person
    task = await client.getTask(name);
  }
  return { messages: [new AIMessage("status" in task ? resultOf(task) : "The other agent did not start a task.")] };
}

/** The result, or the reason why there is none. */
function resultOf({ artifacts, status }: Task): string {
  const parts = artifacts[0]?.parts ?? status?.message?.parts;
  const texts = (parts ?? []).flatMap(({ content }) => (content?.$case === "text" ? [content.value] : []));
  return `The refunds agent says: ${texts.join("\n")}`;
}

export const graph = new StateGraph(MessagesAnnotation, Context)
  // The other server may restart while it waits: the node then finds its task again.
  .addNode("ask_refunds", askRefunds, { retryPolicy: { maxAttempts: 10, initialInterval: 250 } })
  .addEdge(START, "ask_refunds")
  .compile();
