// Interrupt ids. From 1.7 on the library gives each question of a task an id of its own. Before, all questions of a task
// have one id, the hash of the task's namespace; there the id of question n ≥ 1 is made here, so that an answer says
// which question it is for.
// Invariants:
//   interrupt-ids.1. The first question of a task has the library's id in every version: the hash of the task's namespace.
//   interrupt-ids.2. Question n ≥ 1 has the library's id where that is its own, else the hash of `<library id>:<n>`.
//   interrupt-ids.3. An id is 32 lower-case hex digits: the library takes exactly such keys for a map of answers.
import { createXXHash128 } from "hash-wasm";
import type { Library } from "./library.ts";

export interface InterruptIds {
  /** XXH3-128 of a task's namespace: the id that the library gives its first question. */
  firstId(ns: string): string;
  /** True when the library made `id` for question `index` of the task `ns`. */
  isOf(id: string, ns: string, index: number): boolean;
  /** @param libraryId the id as it was raised */
  interruptId(libraryId: string, index: number): string;
}

export async function createInterruptIds(library: Library): Promise<InterruptIds> {
  const hasher = await createXXHash128();
  const hash = (text: string): string => hasher.init().update(text).digest("hex");
  const [first, second] = await idsOfTwoQuestions(library);
  const areUnique = first !== second;
  return {
    firstId: hash,
    isOf: (id, ns, index) => id === hash(areUnique && index > 0 ? `${ns}|${index}` : ns),
    interruptId: (libraryId, index) => (index === 0 || areUnique ? libraryId : hash(`${libraryId}:${index}`)), // interrupt-ids.2
  };
}

/** Asked of the library itself: no version number says it. */
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
