// An agent that writes a mail and lets a person approve, edit or reject it before it is sent. The model is a script,
// so that no key is needed: put a real one in the place of `model`.
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

type State = typeof MessagesAnnotation.State;

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly urgent: boolean;
}

/** What a person may answer. */
type Decision =
  | { readonly type: "approve" }
  | { readonly type: "edit"; readonly edited_action: { readonly args: Mail } }
  | { readonly type: "reject"; readonly message?: string };

/** Asks for a mail about what it was told last. */
function model(messages: readonly BaseMessage[]): AIMessage {
  const args = { to: "team@example.com", subject: messages.at(-1)?.text ?? "", urgent: false };
  return new AIMessage({ content: "", tool_calls: [{ type: "tool_call", id: "call_1", name: "send_mail", args }] });
}

function draft({ messages }: State) {
  return { messages: [model(messages)] };
}

/** The run stops at interrupt(), for days if need be; when somebody has answered, the node runs again from its first line. */
function review({ messages }: State) {
  const call = (messages.at(-1) as AIMessage).tool_calls?.[0];
  if (call === undefined) return new Command({ goto: END });
  const answer = interrupt({
    action_requests: [{ name: call.name, args: call.args, description: "The agent wants to send this mail." }],
    review_configs: [{ action_name: call.name, allowed_decisions: ["approve", "edit", "reject"] }],
  }) as { readonly decisions: readonly Decision[] };
  const [decision] = answer.decisions;
  if (decision?.type === "reject") return say(`Not sent: ${decision.message ?? "it was rejected"}`);
  return say(send(decision?.type === "edit" ? decision.edited_action.args : (call.args as Mail)));
}

function say(text: string) {
  return new Command({ update: { messages: [new AIMessage(text)] }, goto: END });
}

/** Here a mail service would be called, with a key of its own for each mail: a node may run again after a crash. */
function send({ to, subject, urgent }: Mail): string {
  return `Sent to ${to}: ${subject}${urgent ? " (urgent)" : ""}`;
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("draft", draft)
  .addNode("review", review, { ends: [END] })
  .addEdge(START, "draft")
  .addEdge("draft", "review")
  .compile();
