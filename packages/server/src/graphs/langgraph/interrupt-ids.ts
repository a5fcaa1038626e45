// Interrupt ids. From 1.7 on LangGraph gives each interrupt of a task its own id. Before, all interrupts of a task
// share one id, the hash of the task's namespace; there this file derives the id of interrupt n ≥ 1, so that an answer
// names its interrupt.
// Invariants:
//   interrupt-ids.1. The first interrupt of a task has LangGraph's id in every version: the hash of the task's
//        namespace.
//   - Interrupt n ≥ 1 has LangGraph's id if that is unique, else the hash of `<library id>:<n>`.
//   - An id is 32 lower-case hex digits: LangGraph accepts exactly such keys in a map of answers.
import { createXXHash128 } from "hash-wasm";
import type { Library } from "./library.ts";

export interface InterruptIds {
  /** XXH3-128 of a task's namespace: LangGraph's id of its first interrupt. */
  firstId(ns: string): string;
  /** True if LangGraph itself derives `id` for interrupt `index` of the task `ns`. */
  isIdAt(id: string, ns: string, index: number): boolean;
  /** @param libraryId the id of the raised interrupt */
  interruptId(libraryId: string, index: number): string;
}

export async function createInterruptIds(library: Library): Promise<InterruptIds> {
  const hasher = await createXXHash128();
  const hash = (text: string): string => hasher.init().update(text).digest("hex");
  const [first, second] = await idsOfTwoQuestions(library);
  const areUnique = first !== second;
  return {
    firstId: hash,
    isIdAt: (id, ns, index) => id === hash(areUnique && index > 0 ? `${ns}|${index}` : ns),
    interruptId: (libraryId, index) => (index === 0 || areUnique ? libraryId : hash(`${libraryId}:${index}`)),
  };
}

/** A probe of LangGraph itself: no version number says it. */
async function idsOfTwoQuestions({ langgraph }: Library): Promise<readonly [unknown, unknown]> {
  const { Annotation, Command, INTERRUPT, MemorySaver, START, StateGraph, interrupt } = langgraph;
  const graph = new StateGraph(Annotation.Root({ answer: Annotation }))
    .addNode("ask", () => ({ answer: [interrupt(0), interrupt(1)] }))
    .addEdge(START, "ask")
    .compile({ checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "probe" }, callbacks: [] };
  const ask = async (input: Parameters<typeof graph.invoke>[0]): Promise<unknown> => {
    const values = (await graph.invoke(input, config)) as Readonly<
      Record<string, readonly { readonly id?: unknown }[]>
    >;
    return values[INTERRUPT]?.[0]?.id;
  };
  return [await ask({ answer: null }), await ask(new Command({ resume: true }))];
}
