// Keep results: new input on a paused thread ends the pending step, and the library forgets what the finished branches of
// that step have written. The state has shown it, and those branches do not run again: so it counts as written before
// the input.
// Invariants:
//   - Only values of the state count. Successors, sends and joins of the step are given up with it.
//   keep-results.2. Branches that wait or have failed leave nothing.
import { isOwnChannel } from "../langgraph/control-values.ts";
import { NULL_TASK } from "./pending-tasks.ts";

type Write = [taskId: string, channel: string, value: unknown];

/** Writes of a checkpoint as an input meets them. @param tasks those of the pending step */
export function keepResults(writes: readonly Readonly<Write>[], tasks: ReadonlySet<string>): Write[] {
  const failed = new Set(writes.filter(([, channel]) => channel === "__error__").map(([taskId]) => taskId)); // keep-results.2
  return writes.flatMap(([taskId, channel, value]): Write[] =>
    isOwnChannel(channel) || failed.has(taskId) || (taskId !== NULL_TASK && !tasks.has(taskId))
      ? []
      : [[NULL_TASK, channel, value]],
  );
}
