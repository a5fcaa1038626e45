// An agent that writes a mail and asks a person to approve, edit or reject it before sending. The model is scripted and
// needs no API key: replace `model` with a real one.
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

type State = typeof MessagesAnnotation.State;

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly urgent: boolean;
}

/** The possible answers of a person. */
type Decision =
  | { readonly type: "approve" }
  | { readonly type: "edit"; readonly edited_action: { readonly args: Mail } }
  | { readonly type: "reject"; readonly message?: string };

/** Requests a mail about the last user message. */
function model(messages: readonly BaseMessage[]): AIMessage {
  const args = { to: "team@example.com", subject: messages.at(-1)?.text ?? "", urgent: false };
  return new AIMessage({ content: "", tool_calls: [{ type: "tool_call", id: "call_1", name: "send_mail", args }] });
}

function draft({ messages }: State) {
  return { messages: [model(messages)] };
}

/** The run pauses at interrupt(), for days if necessary; after the answer, the node runs again from its first line. */
function review({ messages }: State) {
  const call = (messages.at(-1) as AIMessage).tool_calls?.[0];
  if (call === undefined) return new Command({ goto: END });
  const answer = interrupt({
    action_requests: [{ name: call.name, args: call.args, description: "The agent wants to send this mail." }],
    review_configs: [{ action_name: call.name, allowed_decisions: ["approve", "edit", "reject"] }],
  }) as { readonly decisions: readonly Decision[] };
  const [decision] = answer.decisions;
  if (decision?.type === "reject") return say(`Not sent: ${decision.message ?? "rejected"}`);
  return say(send(decision?.type === "edit" ? decision.edited_action.args : (call.args as Mail)));
}

function say(text: string) {
  return new Command({ update: { messages: [new AIMessage(text)] }, goto: END });
}

/** Call a mail service here, with an idempotency key per mail: a node may run again after a crash. */
function send({ to, subject, urgent }: Mail): string {
  return `Sent to ${to}: ${subject}${urgent ? " (urgent)" : ""}`;
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("draft", draft)
  .addNode("review", review, { ends: [END] })
  .addEdge(START, "draft")
  .addEdge("draft", "review")
  .compile();
