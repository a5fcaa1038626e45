// Graphs for tests of assistants: one returns its config and context, the others each declare their state in another
// way.
import { Annotation, entrypoint, MessagesAnnotation, StateGraph, type Runtime } from "@langchain/langgraph";
import { withLangGraph } from "@langchain/langgraph/zod";
import * as z from "zod";

const Shown = Annotation.Root({ config: Annotation<unknown>, context: Annotation<unknown> });

/** Records its node's config. */
export const settings = new StateGraph(Shown)
  .addNode("show", (_, { configurable, context }: Runtime) => {
    const shown = ["model", "tone", "thread_id"].map((name) => [name, configurable?.[name]]);
    return { config: Object.fromEntries(shown) as object, context: context ?? null };
  })
  .addEdge("__start__", "show")
  .addEdge("show", "__end__")
  .compile();

const Tree = z.object({
  name: z.string(),
  get children() {
    return z.array(Tree);
  },
});

const Zod4 = z.object({
  topic: z.string().describe("What it is about"),
  count: z.number().int().default(3),
  size: z.enum(["small", "big"]).optional(),
  list: withLangGraph(z.array(z.string()), {
    reducer: { schema: z.union([z.string(), z.array(z.string())]), fn: (list, more) => list.concat(more) },
    jsonSchemaExtra: { title: "The list" },
    default: (): string[] => [],
  }),
  tree: Tree.optional(),
  when: z.date().optional(),
});

const nothing = (): object => ({});

/** A state in zod 4: defaults, a reducer with a separate schema, a recursive field, one without a JSON form. */
export const zod4 = new StateGraph({
  state: Zod4,
  context: z.object({ user: z.string(), dry: z.boolean().optional() }),
})
  .addNode("work", nothing)
  .addEdge("__start__", "work")
  .addEdge("work", "__end__")
  .compile();

/** Input and output of their own. */
export const parts = new StateGraph({
  state: z.object({ question: z.string(), draft: z.string(), answer: z.string() }),
  input: z.object({ question: z.string() }),
  output: z.object({ answer: z.string() }),
})
  .addNode("check", nothing)
  .addNode("work", nothing)
  .addEdge("__start__", "check")
  .addEdge("check", "work")
  .addEdge("work", "__end__")
  .compile();

const middle = new StateGraph(z.object({ question: z.string(), answer: z.string() }))
  .addNode("inner", parts)
  .addNode("after", nothing)
  .addEdge("__start__", "inner")
  .addEdge("inner", "after")
  .addEdge("after", "__end__")
  .compile();

interface Item {
  /** How many */
  readonly count: number;
  readonly tags?: readonly string[];
  readonly kind: "a" | "b";
  readonly next: Item | null;
}

/** At run time only names, messages and the kind of a default exist; the types contain the rest. */
export const annotated = new StateGraph(
  Annotation.Root({
    ...MessagesAnnotation.spec,
    topic: Annotation<string>,
    item: Annotation<Item>,
    trail: Annotation<string[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
    count: Annotation<number>({ reducer: (_, now) => now, default: () => 7 }),
  }),
)
  .addNode("outer", middle)
  .addNode("work", nothing)
  .addEdge("__start__", "outer")
  .addConditionalEdges("outer", () => "work", { again: "outer", on: "work" })
  .addEdge("work", "__end__")
  .compile();

export const body = entrypoint("body", async (job: { readonly topic: string }) => ({ text: job.topic }));
