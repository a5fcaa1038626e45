// Two questions at the same time, each in a node of its own. The plan is made when both are answered.
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  destination: Annotation<string>,
  dates: Annotation<string>,
  budget_eur: Annotation<number>,
  plan: Annotation<string>,
});

function askDates({ destination }: typeof State.State) {
  const dates: string = interrupt({ question: `When do you want to be in ${destination}?` });
  return { dates };
}

function askBudget({ destination }: typeof State.State) {
  const budget: number = interrupt({ question: `What may ${destination} cost, in euros?` });
  return { budget_eur: budget };
}

function makePlan({ destination, dates, budget_eur }: typeof State.State) {
  return { plan: `${destination}, ${dates}, for at most ${budget_eur} EUR` };
}

export const graph = new StateGraph(State)
  .addNode("ask_dates", askDates)
  .addNode("ask_budget", askBudget)
  .addNode("make_plan", makePlan)
  .addEdge(START, "ask_dates")
  .addEdge(START, "ask_budget")
  .addEdge(["ask_dates", "ask_budget"], "make_plan")
  .addEdge("make_plan", END)
  .compile();
