// Starters: the callers whose input or edits made the state of a thread. Rules with four eyes exclude them. Pure.
// Invariants:
//   starters.1. Input, edits and forks add their authors, whoever starts the next run: their part stays in the state.
//     Answers and continuations leave the list as it is. Nobody leaves it.
//   starters.2. A run that was rolled back leaves the list of the older state.
//   starters.3. The authors of a cron's run are its creator and everybody who has changed it.
import type { EndedBy, Run, Thread } from "../model/model.ts";
import { EVERYBODY } from "../model/review/reviewers.ts";

/** From here on the list excludes everybody: four eyes fail closed. */
const STARTERS_MAX = 1000;

/** The list of the thread at the end of the run. */
export function startersAfter(thread: Pick<Thread, "startedBy">, run: Run, endedBy: EndedBy): readonly string[] {
  const authors = listStarters(run);
  if (authors.length === 0 || endedBy === "rollback") return thread.startedBy; // starters.2
  return withStarters(thread, authors); // starters.1
}

/** The list with the authors of a run. */
export function withRunStarter(startedBy: readonly string[], run: Run): readonly string[] {
  return withStarters({ startedBy }, listStarters(run));
}

export function withStarter(thread: Pick<Thread, "startedBy">, name: string): readonly string[] {
  return withStarters(thread, [name]);
}

function withStarters({ startedBy }: Pick<Thread, "startedBy">, names: readonly string[]): readonly string[] {
  const added = names.filter((name) => !startedBy.includes(name));
  if (added.length === 0 || startedBy.includes(EVERYBODY)) return startedBy;
  return startedBy.length + added.length > STARTERS_MAX ? [...startedBy, EVERYBODY] : [...startedBy, ...added];
}

/** starters.3. */
function listStarters({ request: { startedBy, alsoStartedBy = [] } }: Run): readonly string[] {
  return startedBy === undefined ? [] : [startedBy, ...alsoStartedBy];
}
