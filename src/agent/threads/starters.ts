// Starters: the callers whose input or edits made the state of a thread. Rules with four eyes exclude them. Pure.
// Invariants:
//   starters.1. New input begins a new list. Edits add to it. Answers and continuations leave it as it is.
import type { Run, Thread } from "../model/model.ts";

const STARTERS_MAX = 100;

/** The list of the thread at the end of the run. */
export function startersAfter(thread: Pick<Thread, "startedBy">, { request, input }: Run): readonly string[] {
  const { startedBy: name } = request;
  if (name === undefined) return thread.startedBy;
  return input === null ? withStarter(thread, name) : [name]; // starters.1
}

export function withStarter({ startedBy }: Pick<Thread, "startedBy">, name: string): readonly string[] {
  return startedBy.includes(name) ? startedBy : [...startedBy, name].slice(-STARTERS_MAX);
}
