// A graph whose state exists only as types, exported in every supported way.
import type { BaseMessage } from "@langchain/core/messages";
import { Annotation, entrypoint, StateGraph } from "@langchain/langgraph";
import { deep } from "./nested.ts";

interface Endless {
  readonly name: string;
  readonly below: readonly Endless[];
}

type Tree = string | readonly Tree[];

interface HumanMessage {
  readonly before?: HumanMessage;
}

type Branded = string & { readonly brand: unique symbol };

const State = Annotation.Root({
  text: Annotation<string>,
  number: Annotation<number>,
  flag: Annotation<boolean>,
  anything: Annotation<unknown>,
  list: Annotation<readonly number[]>,
  pair: Annotation<readonly [string, number]>,
  rest: Annotation<readonly [string, ...number[]]>,
  maybe: Annotation<string | null>,
  table: Annotation<Record<string, number>>,
  choice: Annotation<"small" | "big">,
  mixed: Annotation<true | 7 | "x">,
  either: Annotation<string | string[] | null>,
  open: Annotation<string | { readonly run: () => void } | Date>,
  object: Annotation<{
    /** How much */
    readonly amount: number;
    readonly note?: string;
    readonly may: string | undefined;
  }>,
  endless: Annotation<Endless>,
  tree: Annotation<Tree>,
  message: Annotation<HumanMessage>,
  branded: Annotation<Branded>,
  date: Annotation<Date>,
  map: Annotation<Map<string, string>>,
  chat: Annotation<BaseMessage[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
});

const Context = Annotation.Root({ model: Annotation<"big" | "small">, warmth: Annotation<number> });

const build = () =>
  new StateGraph(State, Context)
    .addNode("work", () => ({}))
    .addEdge("__start__", "work")
    .addEdge("work", "__end__");

export const compiled = build().compile();
export const uncompiled = build();
export const promised = Promise.resolve(compiled);
export const wrapped = { graph: compiled };
export const factory = (_config: object) => build();
export const slowFactory = async (_config: object) => {
  await Promise.resolve();
  return build().compile();
};
export const called = entrypoint("called", async (job: { readonly topic: string }) => ({ text: job.topic }));
export const noGraph = { answer: 42 };

/** The outer graph describes its own state only. */
export const outer = new StateGraph(Annotation.Root({ text: Annotation<string> }))
  .addNode("inner", compiled)
  .addNode("below", deep)
  .addEdge("__start__", "inner")
  .addEdge("inner", "below")
  .addEdge("below", "__end__")
  .compile();
