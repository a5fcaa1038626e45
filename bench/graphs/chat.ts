// A conversation: a pause, and one more message of the assistant after it.
import { MessagesAnnotation, interrupt, StateGraph } from "@langchain/langgraph";

export const chat = new StateGraph(MessagesAnnotation)
  .addNode("reply", () => {
    const answer: string = interrupt("Reply?");
    return { messages: [{ role: "assistant", content: answer }] };
  })
  .addEdge("__start__", "reply")
  .addEdge("reply", "__end__")
  .compile();
