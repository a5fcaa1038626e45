// Graphs for what a run inherits, for answers that are not used, for values that a channel refuses, and for what a
// paused thread keeps.
import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { AIMessage } from "@langchain/core/messages";
import { Annotation, END, interrupt, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import * as z from "zod";
import { note } from "../note.ts";

const State = Annotation.Root({
  notes: Annotation<string>({ reducer: (_, now) => now, default: () => "" }),
  log: Annotation<string[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
  one: Annotation<string>,
  /** Throws at a negative number. */
  sum: Annotation<number>({
    reducer: (before, now) => {
      if (now < 0) throw new RangeError(`${now} is negative`);
      return before + now;
    },
    default: () => 0,
  }),
});
type Values = typeof State.State;

const Context = z.object({ user: z.string() });

interface Runtime {
  readonly context?: { readonly user?: string };
  readonly tags?: readonly string[];
}

/** Its context has a required member. */
export const withContext = new StateGraph(State, { context: Context } as never)
  .addNode("pay", (_state: Values, runtime: Runtime) => {
    const answer = String(interrupt("pay?"));
    return { log: [`${answer} as ${runtime.context?.user}, ${(runtime.tags ?? []).join("+")}`] };
  })
  .addNode("more", () => ({ log: ["more"] }))
  .addEdge(START, "pay")
  .addEdge("pay", "more")
  .addEdge("more", END)
  .compile();

/** Takes six steps after its answer: more than a low recursion limit allows. */
export const steps = new StateGraph(State)
  .addNode("ask", () => ({ log: [String(interrupt("go?"))] }))
  .addNode("step", () => ({ sum: 1 }))
  .addEdge(START, "ask")
  .addEdge("ask", "step")
  .addConditionalEdges("step", ({ sum }: Values) => (sum < 6 ? "step" : END))
  .compile();

/** `bad` throws, `hang` never returns. */
export const strict = new StateGraph(State)
  .addNode("ask", async ({ notes }: Values) => {
    const answer = String(interrupt("which?"));
    note(notes, answer);
    if (answer.startsWith("bad")) throw new TypeError(`${answer} is not good`);
    if (answer === "hang") await new Promise(() => undefined);
    return { log: [answer] };
  })
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile();

/** Asks once there is a file. */
export const slow = new StateGraph(State)
  .addNode("ask", async (state: Values) => {
    while (state.notes !== "" && !existsSync(state.notes)) await setTimeout(5);
    return { log: [String(interrupt("which?"))] };
  })
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile();

/** Fails for a config with `broken`. */
export function made({ configurable }: { readonly configurable?: { readonly broken?: boolean } }): typeof strict {
  if (configurable?.broken === true) throw new Error("no graph for this config");
  return strict;
}

const asks = (name: string) => (state: Values) => {
  const answer = String(interrupt(name));
  note(state.notes, name);
  if (answer.startsWith("bad")) throw new TypeError(`${answer} is not good`);
  return { log: [`${name}=${answer}`] };
};

/** Two questions beside each other, and a branch without one. */
export const beside = new StateGraph(State)
  .addNode("left", asks("left"))
  .addNode("right", asks("right"))
  .addNode("plain", ({ notes }: Values) => {
    note(notes, "plain");
    return { log: ["plain"] };
  })
  .addNode("after", () => ({ log: ["after"] }))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .addEdge(START, "plain")
  .addEdge("plain", "after")
  .addEdge("after", END)
  .compile();

/** The second question of a node comes after a used answer, beside a branch that has finished. */
export const twice = new StateGraph(State)
  .addNode("ask", ({ notes }: Values) => {
    const first = String(interrupt("first"));
    const second = String(interrupt("second"));
    note(notes, "ask");
    return { log: [`${first}, ${second}`] };
  })
  .addNode("plain", ({ notes }: Values) => {
    note(notes, "plain");
    return { log: ["plain"] };
  })
  .addEdge(START, "ask")
  .addEdge(START, "plain")
  .compile();

export const below = new StateGraph(State).addNode("sub", beside).addEdge(START, "sub").addEdge("sub", END).compile();

export const chat = new StateGraph(MessagesAnnotation)
  .addNode("ask", () => ({ messages: [new AIMessage(`got ${String(interrupt("go on?"))}`)] }))
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile();

/** Two branches write to a key that takes one value, once `go` is answered. */
export const conflicting = new StateGraph(State)
  .addNode("a", () => ({ one: `a ${String(interrupt("a?"))}` }))
  .addNode("b", () => ({ one: "b" }))
  .addEdge(START, "a")
  .addEdge(START, "b")
  .compile();

/** What a node returns after its answer: `negative`, `wizard`, `clash`, `send`; all else is fine. */
const results = (state: Values): Record<string, unknown> => {
  const answer = String(interrupt("what?"));
  note(state.notes, answer);
  if (answer === "negative") return { sum: -1 };
  return { log: [answer], one: answer };
};
export const refusing = new StateGraph(State)
  .addNode("ask", results)
  .addNode("sent", (_state: Values) => ({ sum: -2 }))
  .addConditionalEdges("ask", ({ log }: Values) => (log.includes("send") ? [new Send("sent", {})] : [END]))
  .addEdge(START, "ask")
  .compile();
export const refusingBelow = new StateGraph(State)
  .addNode("sub", refusing)
  .addEdge(START, "sub")
  .addEdge("sub", END)
  .compile();

/** As a query builder: it runs once somebody awaits it. */
class Query extends Promise<never> {
  readonly text = "select 1";
}

/** Values that have no stored form, by name. */
const LOST: Readonly<Record<string, () => unknown>> = {
  promise: () => Promise.resolve(1),
  thenable: () => new Query(() => undefined),
  blob: () => new Blob(["x"]),
  headers: () => new Headers({ a: "b" }),
  form: () => new FormData(),
  response: () => new Response("x"),
  weak: () => new WeakMap(),
  generator: () =>
    (function* () {
      yield 1;
    })(),
  iterator: () => new Map([[1, 2]]).entries(),
  signal: () => new AbortController().signal,
  params: () => new URLSearchParams("a=b"),
  error: () => Object.assign(new TypeError("no"), { code: "E_NO" }),
  map: () => new Map([["a", 1]]),
  set: () => new Set([1]),
};
const Kept = Annotation.Root({ kind: Annotation<string>, value: Annotation<unknown> });
export const lost = new StateGraph(Kept)
  .addNode("give", ({ kind }) => ({ value: { inner: LOST[kind]?.() } }))
  .addEdge(START, "give")
  .compile();

const Carrying = Annotation.Root({
  payload: Annotation<unknown>,
  log: Annotation<string[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
});

/** Says with what its answer arrived; a rejection is too much for it. */
export const carrying = new StateGraph(Carrying, { context: Context } as never)
  .addNode("pay", ({ payload }: typeof Carrying.State, runtime: Runtime) => {
    const answer = JSON.stringify(interrupt(payload));
    if (answer.includes('"reject"')) throw new TypeError("no rejection here");
    return { log: [`as ${runtime.context?.user}, tags ${(runtime.tags ?? []).join("+")}`] };
  })
  .addEdge(START, "pay")
  .compile();
