// Give up: ends a thread where it stands, as `goto: "__end__"` asks. The library's own goto adds targets and leaves
// what is pending, so that a paused node would only ask again.
// Invariants:
//   end-thread.1. Afterwards nothing is pending. What finished branches wrote is applied, as always when a step ends.
//   end-thread.2. At an older checkpoint, what was done after it is not applied.
//   end-thread.3. The update is applied once, also when an attempt was cut short.
import type { Run } from "../../agent/model/model.ts";
import {
  withCheckpointer,
  type CompiledGraph,
  type LibraryState,
  type StreamConfig,
} from "../langgraph/compiled-graph.ts";
import type { Library } from "../langgraph/library.ts";
import type { RunSaver } from "../checkpoints/run-checkpointer.ts";

/** What finished branches wrote may trigger further nodes, which are given up as well: so often at most. */
const GIVEN_UP_MAX = 100;

/**
 * @param config of the run, which an update is applied with
 * @param started an earlier attempt has saved something
 * @returns the state at the end
 */
export async function giveUp(
  library: Library,
  graph: CompiledGraph,
  saver: RunSaver,
  run: Run,
  config: StreamConfig,
  started: boolean,
): Promise<unknown> {
  const { command, checkpointId } = run.request;
  const view = withCheckpointer(graph, saver.checkpointer);
  const newest = { configurable: { thread_id: run.threadId } };
  if (!started && checkpointId !== null) {
    const older = { configurable: { ...newest.configurable, checkpoint_id: checkpointId } };
    await endAs(view, older, "__copy__"); // end-thread.2: a copy has no writes of tasks
  }
  const state = await dropPending(view, newest);
  if (command?.update === undefined || (started && isUpdateOf(run, state))) return state.values;
  const { checkpoint_id: _id, checkpoint_ns: _ns, checkpoint_map: _map, ...configurable } = config.configurable ?? {};
  const update = new library.langgraph.Command({ update: command.update as Record<string, unknown> });
  for await (const _ of await graph.stream(update, { ...config, configurable }));
  return (await dropPending(view, newest)).values;
}

async function endAs(view: CompiledGraph, at: StreamConfig, asNode: "__copy__" | "__end__"): Promise<void> {
  await view.bulkUpdateState(at, [{ updates: [{ values: null, asNode }] }]);
}

/** end-thread.1. */
async function dropPending(view: CompiledGraph, newest: StreamConfig): Promise<LibraryState> {
  for (let count = 0; ; count++) {
    const state = await view.getState(newest);
    if (state.tasks.length === 0) return state;
    if (count === GIVEN_UP_MAX) throw new Error(`the graph has more to do each of the ${count} times that it is ended`);
    await endAs(view, newest, "__end__");
  }
}

/** end-thread.3. Dropping writes checkpoints of source "update"; an update that a command brings has another. */
function isUpdateOf(run: Run, { metadata }: LibraryState): boolean {
  const { run_id: runId, source } = (metadata ?? {}) as { readonly run_id?: string; readonly source?: string };
  return runId === run.runId && source !== "update" && source !== "fork";
}
