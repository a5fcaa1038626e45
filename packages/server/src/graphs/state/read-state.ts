// Read state: saved states for clients.
import type { CheckpointQuery, StateAddress, StateSnapshot, StateTask } from "../../ports/ports.ts";
import type { Codec } from "../checkpoints/codec/value-codec.ts";
import type { CompiledGraph, LibraryState, LibraryTask } from "../langgraph/compiled-graph.ts";
import type { RunContext } from "../run/run-context.ts";
import { listDetached, readDetached } from "./detached-state.ts";
import { readErrorText } from "./error-text.ts";
import { NO_ROWS, toStateCheckpoint, toLibraryConfig, findView, refuseNamespace, viewSaver } from "./state-view.ts";

export async function readState(
  context: RunContext,
  graph: CompiledGraph,
  address: StateAddress,
  subgraphs: boolean,
): Promise<StateSnapshot> {
  const view = await findView(graph, address, viewSaver(context, address, NO_ROWS));
  if (view === null) return (await readDetached(context, address)) ?? refuseNamespace(address.ns);
  const state = await view.getState(toLibraryConfig(address), { subgraphs });
  return snapshot(state, context.codec, address.threadId);
}

export async function* readHistory(
  context: RunContext,
  graph: CompiledGraph,
  address: StateAddress,
  query: CheckpointQuery,
): AsyncGenerator<StateSnapshot> {
  const view = await findView(graph, address, viewSaver(context, address, NO_ROWS));
  if (view === null) {
    if ((await readDetached(context, { ...address, checkpointId: null })) === null) refuseNamespace(address.ns);
    yield* listDetached(context, address, query);
    return;
  }
  const options = {
    limit: query.limit ?? undefined,
    ...(query.before === null ? {} : { before: { configurable: { checkpoint_id: query.before } } }),
    ...(query.metadata === null ? {} : { filter: query.metadata }),
  };
  for await (const state of view.getStateHistory(toLibraryConfig(address), options)) {
    yield await snapshot(state, context.codec, address.threadId);
  }
}

async function snapshot(state: LibraryState, codec: Codec, threadId: string): Promise<StateSnapshot> {
  const exists = state.createdAt !== undefined;
  return {
    values: codec.toClientJson(state.values),
    next: state.next,
    tasks: await Promise.all(state.tasks.map((task) => toStateTask(task, codec, threadId))),
    metadata: codec.toClientJson(state.metadata ?? {}),
    createdAt: state.createdAt ?? null,
    checkpoint: exists ? toStateCheckpoint(state.config, threadId) : null,
    parentCheckpoint: state.parentConfig === undefined ? null : toStateCheckpoint(state.parentConfig, threadId),
  };
}

async function toStateTask(task: LibraryTask, codec: Codec, threadId: string): Promise<StateTask> {
  const nested = task.state !== undefined && "values" in task.state ? task.state : null;
  const pointer = task.state !== undefined && !("values" in task.state) ? task.state.configurable : undefined;
  return {
    id: task.id,
    name: task.name,
    path: codec.toClientJson(task.path ?? null),
    error: readErrorText(task.error),
    interrupts: task.interrupts.map((interrupt) => ({
      id: interrupt.id ?? null,
      value: codec.toClientJson(interrupt.value),
    })),
    checkpoint: pointer === undefined ? null : codec.toClientJson(pointer),
    state: nested === null ? null : await snapshot(nested, codec, threadId),
    result: codec.toClientJson(task.result ?? null),
  };
}
