// One question: a person revises a text. The smallest graph that pauses.
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ some_text: Annotation<string> });

function humanNode(state: typeof State.State) {
  const answer: string = interrupt({ text_to_revise: state.some_text });
  return { some_text: answer };
}

export const graph = new StateGraph(State)
  .addNode("human_node", humanNode)
  .addEdge(START, "human_node")
  .addEdge("human_node", END)
  .compile();
