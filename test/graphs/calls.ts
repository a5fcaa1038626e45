// Graphs whose tasks interrupt: the functional API, and nodes that call tasks.
import { Annotation, END, entrypoint, interrupt, START, StateGraph, task } from "@langchain/langgraph";

/** The interrupt's value, with its answer. */
const ask = (question: string): string => `${question}=${String(interrupt(question))}`;

const twice = task("twice", (name: string) => [ask(`${name}1`), ask(`${name}2`)]);
const often = task("often", (name: string) => [ask(`${name}1`), ask(`${name}2`), ask(`${name}3`)]);
const around = task("around", async (name: string) => [ask(`${name}0`), ...(await twice(name)), ask(`${name}9`)]);

export const tasksInSequence = entrypoint({ name: "tasksInSequence" }, async (names: string[]) => {
  const answers: string[] = [];
  for (const name of names) answers.push(...(await twice(name)));
  return { answers };
});

export const oneTaskOften = entrypoint({ name: "oneTaskOften" }, async (names: string[]) => ({
  answers: await often(names[0] ?? "q"),
}));

export const tasksInParallel = entrypoint({ name: "tasksInParallel" }, async (names: string[]) => ({
  answers: (await Promise.all(names.map((name) => twice(name)))).flat(),
}));

export const tasksInTasks = entrypoint({ name: "tasksInTasks" }, async (names: string[]) => {
  const before = ask("before");
  const inside = await Promise.all(names.map((name) => around(name)));
  return { answers: [before, ...inside.flat(), ask("after")] };
});

const Answers = Annotation.Root({
  names: Annotation<string[]>,
  answers: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

/** A node that calls tasks, parallel to one that interrupts itself. */
export const nodeThatCalls = new StateGraph(Answers)
  .addNode("caller", async ({ names }) => {
    const own = ask("caller");
    return { answers: [own, ...(await Promise.all(names.map((name) => around(name)))).flat()] };
  })
  .addNode("beside", () => ({ answers: [ask("beside1"), ask("beside2")] }))
  .addEdge(START, "caller")
  .addEdge(START, "beside")
  .addEdge("caller", END)
  .addEdge("beside", END)
  .compile();

/** A node that runs a graph of the functional API. */
export const nodeThatRuns = new StateGraph(Answers)
  .addNode("runner", ({ names }) => tasksInTasks.invoke(names))
  .addEdge(START, "runner")
  .addEdge("runner", END)
  .compile();
