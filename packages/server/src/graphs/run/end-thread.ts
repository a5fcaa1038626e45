// End thread: ends a thread at its present state, for `goto: "__end__"`. LangGraph's own goto adds targets and keeps
// pending tasks, so a paused node would only interrupt again.
// Invariants:
//   - Afterwards no task is pending. Writes of finished branches apply, as at the end of every step.
//   - At an older checkpoint, later steps do not apply.
//   - The update applies once, also after an aborted attempt.
import type { Run } from "../../model/model.ts";
import {
  withCheckpointer,
  type CompiledGraph,
  type LibraryState,
  type StreamConfig,
} from "../langgraph/compiled-graph.ts";
import type { OpenAttempt } from "./attempt.ts";

/** Writes of finished branches may trigger further nodes, which end as well: at most this often. */
const END_ATTEMPTS_MAX = 100;

/**
 * @param config of the run, used to apply an update
 * @param started an earlier attempt has saved rows
 * @returns the state at the end
 */
export async function endThread(
  { context: { library }, graph, saver, run }: OpenAttempt,
  config: StreamConfig,
  started: boolean,
): Promise<unknown> {
  const { command, checkpointId } = run.request;
  const view = withCheckpointer(graph, saver.checkpointer);
  const newest = { configurable: { thread_id: run.threadId } };
  if (!started && checkpointId !== null) {
    const older = { configurable: { ...newest.configurable, checkpoint_id: checkpointId } };
    await endAs(view, older, "__copy__"); // a copy has no writes of tasks
  }
  const state = await dropPending(view, newest);
  if (command?.update === undefined || (started && isRunUpdate(run, state))) return state.values;
  const { checkpoint_id: _id, checkpoint_ns: _ns, checkpoint_map: _map, ...configurable } = config.configurable ?? {};
  const update = new library.langgraph.Command({ update: command.update as Record<string, unknown> });
  for await (const _ of await graph.stream(update, { ...config, configurable }));
  return (await dropPending(view, newest)).values;
}

async function endAs(view: CompiledGraph, at: StreamConfig, asNode: "__copy__" | "__end__"): Promise<void> {
  await view.bulkUpdateState(at, [{ updates: [{ values: null, asNode }] }]);
}

async function dropPending(view: CompiledGraph, newest: StreamConfig): Promise<LibraryState> {
  for (let count = 0; ; count++) {
    const state = await view.getState(newest);
    if (state.tasks.length === 0) return state;
    if (count === END_ATTEMPTS_MAX)
      throw new Error(`the graph still has pending tasks after ${count} attempts to end it`);
    await endAs(view, newest, "__end__");
  }
}

/** Dropping writes creates checkpoints of source "update"; the update of a command has another source. */
function isRunUpdate(run: Run, { metadata }: LibraryState): boolean {
  const { run_id: runId, source } = (metadata ?? {}) as { readonly run_id?: string; readonly source?: string };
  return runId === run.runId && source !== "update" && source !== "fork";
}
