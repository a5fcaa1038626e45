// Starters: the callers whose input or edits made the state of a thread. Rules with four eyes exclude them. Pure.
// Invariants:
//   starters.1. New input begins a new list. Edits and forks add to it. Answers and continuations leave it as it is.
//   starters.2. A run that was rolled back leaves the list of the older state; one that broke off adds to that list.
import type { EndedBy, Run, Thread } from "../model/model.ts";

const STARTERS_MAX = 100;

/** The list of the thread at the end of the run. */
export function startersAfter(
  thread: Pick<Thread, "startedBy">,
  { request, input }: Run,
  endedBy: EndedBy,
): readonly string[] {
  const { startedBy: name } = request;
  if (name === undefined || endedBy === "rollback") return thread.startedBy; // starters.2
  const isWhole = endedBy === "done" || endedBy === "pause";
  return input === null || !isWhole ? withStarter(thread, name) : [name]; // starters.1
}

/** The list with the author of a run. */
export function withStarterOf(startedBy: readonly string[], { request }: Run): readonly string[] {
  return request.startedBy === undefined ? startedBy : withStarter({ startedBy }, request.startedBy);
}

export function withStarter({ startedBy }: Pick<Thread, "startedBy">, name: string): readonly string[] {
  return startedBy.includes(name) ? startedBy : [...startedBy, name].slice(-STARTERS_MAX);
}
