// A refund that a person approves, edits or rejects before the tool runs. The model is a script, so that no key is
// needed; the messages are those of any model that calls tools.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import * as z from "zod";

type State = typeof MessagesAnnotation.State;

const refund = tool(
  ({ order_id, amount_eur }, config) => {
    // A node may run again after a crash. The payment service recognizes a repeat by this key and pays once.
    const key = String(config.configurable?.["idempotency_key"]);
    return `Paid back ${amount_eur} EUR for order ${order_id}, request ${key}.`;
  },
  {
    name: "refund",
    description: "Pays money back to a customer.",
    schema: z.object({ order_id: z.string(), amount_eur: z.number().positive() }),
  },
);

/** Asks for a refund of the order that the customer names, and reports the result. */
function reply(messages: readonly BaseMessage[]): AIMessage {
  const last = messages.at(-1);
  if (last instanceof ToolMessage) {
    const done = last.status !== "error";
    return new AIMessage(done ? "Your refund is on its way." : `We cannot refund this. ${last.text}`);
  }
  const order = /\d+/.exec(last?.text ?? "")?.[0] ?? "unknown";
  const call = {
    type: "tool_call" as const,
    id: `call_${order}`,
    name: refund.name,
    args: { order_id: order, amount_eur: 129.9 },
  };
  return new AIMessage({ content: "", tool_calls: [call] });
}

/** Put the chat model of any provider in its place. */
class ScriptedModel extends BaseChatModel {
  override _llmType(): string {
    return "scripted";
  }

  override async _generate(messages: BaseMessage[]) {
    const message = reply(messages);
    return { generations: [{ message, text: message.text }] };
  }
}

const script = new ScriptedModel({});

async function model({ messages }: State) {
  return { messages: [await script.invoke(messages)] };
}

/** The server refuses an answer that does not fit, and the question stays open. */
const Answer = z.object({
  decisions: z.tuple([
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("approve") }),
      z.object({
        type: z.literal("edit"),
        edited_action: z.object({ name: z.literal(refund.name), args: refund.schema }),
      }),
      z.object({ type: z.literal("reject"), message: z.string().optional() }),
    ]),
  ]),
});

function approval({ messages }: State) {
  const request = messages.findLast((message) => message instanceof AIMessage);
  const call = request?.tool_calls?.[0];
  if (request === undefined || call === undefined) return new Command({ goto: END });

  const question = {
    action_requests: [{ name: call.name, args: call.args, description: "A customer asks for money back." }],
    review_configs: [{ action_name: call.name, allowed_decisions: ["approve", "edit", "reject"] }],
  };
  const answer: z.infer<typeof Answer> = interrupt(question, { responseSchema: Answer });
  const [decision] = answer.decisions;

  switch (decision.type) {
    case "approve":
      return new Command({ goto: "tools" });
    case "edit": {
      const edited = new AIMessage({
        ...(request.id === undefined ? {} : { id: request.id }), // the same id: it takes the place of the request
        content: request.content,
        tool_calls: [{ ...call, ...decision.edited_action }],
      });
      return new Command({ update: { messages: [edited] }, goto: "tools" });
    }
    case "reject": {
      const content = decision.message ?? "The refund was rejected.";
      const refusal = new ToolMessage({ tool_call_id: call.id ?? "", name: call.name, status: "error", content });
      return new Command({ update: { messages: [refusal] }, goto: "model" });
    }
    default:
      return decision satisfies never;
  }
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", model)
  .addNode("approval", approval, { ends: ["tools", "model", END] })
  .addNode("tools", new ToolNode([refund]))
  .addEdge(START, "model")
  .addConditionalEdges("model", ({ messages }) =>
    (messages.at(-1) as AIMessage).tool_calls?.length ? "approval" : END,
  )
  .addEdge("tools", "model")
  .compile();
