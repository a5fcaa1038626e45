// A loop: a draft is written and shown to a person, again and again, until it is approved.
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  topic: Annotation<string>,
  draft: Annotation<string>,
  comments: Annotation<string[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
  approved: Annotation<boolean>,
});

type Answer = { readonly approved: true } | { readonly approved: false; readonly comment: string };

function write({ topic, comments }: typeof State.State) {
  const wishes = comments.map((comment) => ` [${comment}]`).join("");
  return { draft: `Draft ${comments.length + 1} about ${topic}.${wishes}` };
}

function review({ draft, comments }: typeof State.State) {
  const answer: Answer = interrupt({ round: comments.length + 1, draft });
  return answer.approved ? { approved: true } : { approved: false, comments: [answer.comment] };
}

export const graph = new StateGraph(State)
  .addNode("write", write)
  .addNode("review", review)
  .addEdge(START, "write")
  .addEdge("write", "review")
  .addConditionalEdges("review", ({ approved }) => (approved ? END : "write"))
  .compile();
