// Interrupt ids. The library's id is a hash of the task's namespace: it does not change from one question to the next.
// Ours does, so that an answer says which question it is for.
// Invariants:
//   II1. The first question of a task has the library's id; question n ≥ 1 has the hash of `<library id>:<n>`.
//   II2. An id is 32 lower-case hex digits: the library takes exactly such keys for a map of answers.
import { createXXHash128 } from "hash-wasm";

export interface InterruptIds {
  /** XXH3-128 of the joined namespace: the id that the library gives the task's questions. */
  libraryId(ns: readonly string[]): string;
  interruptId(libraryId: string, index: number): string;
}

export async function createInterruptIds(): Promise<InterruptIds> {
  const hasher = await createXXHash128();
  const hash = (text: string): string => hasher.init().update(text).digest("hex");
  return {
    libraryId: (ns) => hash(ns.join("|")),
    interruptId: (libraryId, index) => (index === 0 ? libraryId : hash(`${libraryId}:${index}`)),
  };
}
