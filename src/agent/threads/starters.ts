// Starters: the callers whose input or edits made the state of a thread. Rules with four eyes exclude them. Pure.
// Invariants:
//   starters.1. New input begins a new list. Edits and forks add to it. Answers and continuations leave it as it is.
//   starters.2. A run that was rolled back leaves the list of the older state; one that broke off adds to that list.
//   starters.3. The authors of a cron's run are its creator and everybody who has changed it.
import type { EndedBy, Run, Thread } from "../model/model.ts";

const STARTERS_MAX = 100;

/** The list of the thread at the end of the run. */
export function startersAfter(thread: Pick<Thread, "startedBy">, run: Run, endedBy: EndedBy): readonly string[] {
  const authors = authorsOf(run);
  if (authors.length === 0 || endedBy === "rollback") return thread.startedBy; // starters.2
  const isWhole = endedBy === "done" || endedBy === "pause";
  return run.input === null || !isWhole ? withStarters(thread, authors) : authors; // starters.1
}

/** The list with the authors of a run. */
export function withStarterOf(startedBy: readonly string[], run: Run): readonly string[] {
  return withStarters({ startedBy }, authorsOf(run));
}

export function withStarter(thread: Pick<Thread, "startedBy">, name: string): readonly string[] {
  return withStarters(thread, [name]);
}

function withStarters({ startedBy }: Pick<Thread, "startedBy">, names: readonly string[]): readonly string[] {
  const added = names.filter((name) => !startedBy.includes(name));
  return added.length === 0 ? startedBy : [...startedBy, ...added].slice(-STARTERS_MAX);
}

/** starters.3. */
function authorsOf({ request: { startedBy, alsoStartedBy = [] } }: Run): readonly string[] {
  return startedBy === undefined ? [] : [startedBy, ...alsoStartedBy];
}
