// Questions at the root of a graph: one that echoes its answer, two in one node, side by side, in a row, in a loop.
import { Annotation, interrupt, Send, StateGraph } from "@langchain/langgraph";
import * as z from "zod";
import { note } from "./note.ts";

const list = Annotation<unknown[]>({ reducer: (before, now) => before.concat(now), default: () => [] });

const Echo = Annotation.Root({ notes: Annotation<string>, payload: Annotation<unknown>, answer: Annotation<unknown> });

/** Interrupts with the input's value, and stores the answer unchanged. */
export const echo = new StateGraph(Echo)
  .addNode("ask", (state) => {
    note(state.notes, "before");
    const answer: unknown = interrupt(state.payload ?? "?");
    note(state.notes, "after");
    return { answer: [answer] };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();

const Pair = Annotation.Root({
  notes: Annotation<string>,
  first: Annotation<unknown>,
  second: Annotation<unknown>,
});

export const twoInOneNode = new StateGraph(Pair)
  .addNode("ask_twice", (state) => {
    note(state.notes, "start");
    const first: unknown = interrupt({ question: "first" });
    note(state.notes, "between");
    const second: unknown = interrupt({ question: "second", first });
    note(state.notes, "end");
    return { first, second };
  })
  .addEdge("__start__", "ask_twice")
  .addEdge("ask_twice", "__end__")
  .compile();

const Branches = Annotation.Root({ notes: Annotation<string>, done: list });

function branch(name: string) {
  return (state: typeof Branches.State) => {
    note(state.notes, `${name} start`);
    const answer: unknown = interrupt({ from: name });
    note(state.notes, `${name} end`);
    return { done: [`${name}=${JSON.stringify(answer)}`] };
  };
}

/** Three branches interrupt, one finishes. The last branch interrupts first: the graph decides the order, not time. */
export const parallel = new StateGraph(Branches)
  .addNode("zebra", branch("zebra"))
  .addNode("quiet", (state) => {
    note(state.notes, "quiet");
    return { done: ["quiet"] };
  })
  .addNode("lion", branch("lion"))
  .addNode("ape", branch("ape"))
  .addNode("collect", (state) => {
    note(state.notes, "collect");
    return {};
  })
  .addEdge("__start__", "zebra")
  .addEdge("__start__", "quiet")
  .addEdge("__start__", "lion")
  .addEdge("__start__", "ape")
  .addEdge(["zebra", "quiet", "lion", "ape"], "collect")
  .addEdge("collect", "__end__")
  .compile();

const FanOut = Annotation.Root({
  notes: Annotation<string>,
  items: Annotation<string[]>,
  item: Annotation<string>,
  done: list,
});

/** One `Send` for every item; an item that begins with "auto" needs no approval. */
export const sends = new StateGraph(FanOut)
  .addNode("plan", () => ({}))
  .addNode("review", (state: { readonly item: string; readonly notes?: string }) => {
    note(state.notes, `${state.item} start`);
    if (state.item.startsWith("auto")) return { done: [state.item] };
    const answer: unknown = interrupt({ review: state.item });
    note(state.notes, `${state.item} end`);
    return { done: [`${state.item}=${JSON.stringify(answer)}`] };
  })
  .addEdge("__start__", "plan")
  .addConditionalEdges("plan", (state) =>
    state.items.map((item) => new Send("review", { item, ...(state.notes ? { notes: state.notes } : {}) })),
  )
  .addEdge("review", "__end__")
  .compile();

const Series = Annotation.Root({ notes: Annotation<string>, answers: list });

function step(name: string) {
  return (state: typeof Series.State) => {
    note(state.notes, `${name} start`);
    const answer: unknown = interrupt({ step: name });
    note(state.notes, `${name} end`);
    return { answers: [answer] };
  };
}

export const series = new StateGraph(Series)
  .addNode("one", step("one"))
  .addNode("two", step("two"))
  .addNode("three", step("three"))
  .addNode("four", step("four"))
  .addEdge("__start__", "one")
  .addEdge("one", "two")
  .addEdge("two", "three")
  .addEdge("three", "four")
  .addEdge("four", "__end__")
  .compile();

/** Interrupts again until the answer "stop". */
export const loop = new StateGraph(Series)
  .addNode("again", (state) => {
    const answer: unknown = interrupt({ round: state.answers.length });
    note(state.notes, `round ${state.answers.length}`);
    return { answers: [answer] };
  })
  .addEdge("__start__", "again")
  .addConditionalEdges("again", (state) => (state.answers.at(-1) === "stop" ? "__end__" : "again"))
  .compile();

/** The interrupt's deadline and priority, options of the code: in these tests the input replaces the code. */
export function deadlineOption(payload: unknown): object {
  const { expires_at, expires_in_seconds, on_expiry, urgency } = (payload ?? {}) as Record<string, unknown>;
  return {
    ...(on_expiry === undefined ? {} : { "x-holdpoint-deadline": { expires_at, expires_in_seconds, on_expiry } }),
    ...(urgency === undefined ? {} : { "x-holdpoint-priority": urgency }),
  };
}

const interruptBy = (payload: unknown): unknown => interrupt(payload, { responseSchema: deadlineOption(payload) });

/** As `echo`, with a deadline from its code. */
export const timed = new StateGraph(Echo)
  .addNode("ask", (state) => {
    note(state.notes, "before");
    const answer = interruptBy(state.payload);
    note(state.notes, "after");
    return { answer: [answer] };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();

/** The question says which answers fit it. */
export const schema = new StateGraph(Echo)
  .addNode("ask", (state) => {
    const responseSchema = {
      type: "object" as const,
      properties: { approved: { type: "boolean" as const } },
      required: ["approved"],
      ...deadlineOption(state.payload),
    };
    const answer: unknown = interrupt(state.payload ?? "?", { responseSchema });
    return { answer };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();

/** Its response schema has a refinement, which JSON Schema cannot say: only the library applies it. */
export const refined = new StateGraph(Echo)
  .addNode("ask", (state) => {
    note(state.notes, "before");
    const even = z.number().refine((amount) => amount % 2 === 0, "not an even number");
    const responseSchema = even.meta({ ...deadlineOption(state.payload) });
    const answer: unknown = interrupt(state.payload ?? "?", { responseSchema });
    note(state.notes, "after");
    return { answer };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();

const Timed = Annotation.Root({ asks: Annotation<Record<string, unknown>>, done: list });

function timedBranch(name: string) {
  return (state: typeof Timed.State) => ({ done: [`${name}=${JSON.stringify(interruptBy(state.asks[name]))}`] });
}

/** Three branches, each of which interrupts with its part of the input. */
export const timedBranches = new StateGraph(Timed)
  .addNode("a", timedBranch("a"))
  .addNode("b", timedBranch("b"))
  .addNode("c", timedBranch("c"))
  .addEdge("__start__", "a")
  .addEdge("__start__", "b")
  .addEdge("__start__", "c")
  .compile();

function computedBranch(name: string) {
  return () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    return {
      done: [`${name}=${String(interrupt({ question: name, offset: Math.round(-0.2), expires_at: expiresAt }))}`],
    };
  };
}

/** Two branches that compute their payloads each time they run. */
export const computedBranches = new StateGraph(Timed)
  .addNode("a", computedBranch("a"))
  .addNode("b", computedBranch("b"))
  .addEdge("__start__", "a")
  .addEdge("__start__", "b")
  .compile();
