// Drop writes: a run that fails takes back the writes that no checkpoint has taken, so that they cannot spoil later reads
// and runs. The row of a task is stored again without them.
// Invariants:
//   - The update and the goto of a command go, and so does what a task wrote or was given before it threw.
//   - Results stay: a sibling that has finished does not run again. If the state refuses them, they go too.
//   - Errors and interrupts stay: they show where the run failed, and what was asked.
import { NULL_TASK } from "./pending-tasks.ts";
import { SPECIAL_WRITES } from "./put-writes.ts";
import { type SaverState, taskOfKey } from "./saver-state.ts";

const SHOWN: ReadonlySet<number | undefined> = new Set([SPECIAL_WRITES["__error__"], SPECIAL_WRITES["__interrupt__"]]);

/** @param refused the state refuses the results of the newest step */
export function dropWrites(state: SaverState, refused: boolean): void {
  const { threadId, runId } = state.options;
  const graphs = state.pending.graphs();
  for (const [key, entries] of state.listEntries) {
    const { ns, checkpointId, taskId } = taskOfKey(key);
    const graph = graphs.get(ns);
    if (graph?.checkpointId !== checkpointId) continue;
    const goes = refused || graph.tasks.get(taskId.split("#")[0] ?? "")?.failed === true; // a row of a place goes with its task
    const kept = taskId === NULL_TASK ? [] : [...entries].filter(([index]) => !goes || SHOWN.has(index));
    if (kept.length === entries.size) continue;
    state.listEntries.set(key, new Map(kept));
    const row = { threadId, ns, checkpointId, taskId, taskPath: state.taskPaths.get(key) ?? "", runId };
    state.writes.set(key, { ...row, entries: `[${kept.map(([, text]) => text).join(",")}]` });
  }
}
