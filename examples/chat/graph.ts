// A chat in which the assistant drafts a reply to a customer and sends it only after a person has approved it. The
// model is a script that writes word by word, so that no key is needed; put the chat model of any provider in its
// place.
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { AIMessage } from "@langchain/core/messages";
import { END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

type State = typeof MessagesAnnotation.State;

const CHARACTER_MS = 8;

async function draft({ messages }: State) {
  const request = messages.at(-1)?.text ?? "";
  const text =
    `Here is a draft about “${request}”:\n\nDear customer, thank you for your message. ` +
    "We have looked into it, and you will hear from us within two days. Kind regards, your support team.";
  const model = new FakeListChatModel({ responses: [text], sleep: CHARACTER_MS });
  return { messages: [await model.invoke(messages)] };
}

function review({ messages }: State) {
  const answer: { readonly approved: boolean } = interrupt({
    question: "Send this reply?",
    draft: messages.at(-1)?.text ?? "",
  });
  return { messages: [new AIMessage(answer.approved ? "The reply was sent." : "The reply was not sent.")] };
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode("draft", draft)
  .addNode("review", review)
  .addEdge(START, "draft")
  .addEdge("draft", "review")
  .addEdge("review", END)
  .compile();
