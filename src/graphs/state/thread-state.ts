// Thread state: saved states for clients, and edits of a state. It works on the stored rows through its own
// checkpointer.
import type { Fingerprint, WriteSet } from "../../agent/model/model.ts";
import type {
  CheckpointQuery,
  StateAddress,
  StateCheckpoint,
  StateSnapshot,
  StateTask,
  StateUpdate,
  UpdateResult,
} from "../../agent/ports/ports.ts";
import { ApiError, describeError } from "../../base/api-error.ts";
import { type JsonObject, isJsonObject } from "../../base/json/json.ts";
import type { Codec } from "../checkpoints/codec/value-codec.ts";
import { refuseControlValuesSlowly } from "../langgraph/control-values.ts";
import {
  type CompiledGraph,
  type LibraryConfig,
  type LibraryState,
  type LibraryTask,
  withCheckpointer,
} from "../langgraph/compiled-graph.ts";
import { gotoOf } from "../langgraph/goto.ts";
import { withPreview } from "../checkpoints/unsaved-rows.ts";
import type { RunContext } from "../run/run-context.ts";
import { type RunSaver, createRunSaver } from "../checkpoints/run-checkpointer.ts";

export async function readState(
  context: RunContext,
  graph: CompiledGraph,
  address: StateAddress,
  subgraphs: boolean,
): Promise<StateSnapshot> {
  const { checkpointer } = viewSaver(context, address, "", {}, "");
  const view = await subgraphAt(withCheckpointer(graph, checkpointer), address.ns, checkpointer);
  const state = await view.getState(configOf(address), { subgraphs });
  return snapshot(state, context.codec, address.threadId);
}

export async function* readHistory(
  context: RunContext,
  graph: CompiledGraph,
  address: StateAddress,
  query: CheckpointQuery,
): AsyncGenerator<StateSnapshot> {
  const { checkpointer } = viewSaver(context, address, "", {}, "");
  const view = await subgraphAt(withCheckpointer(graph, checkpointer), address.ns, checkpointer);
  const options = {
    limit: query.limit ?? undefined,
    ...(query.before === null ? {} : { before: { configurable: { checkpoint_id: query.before } } }),
    ...(query.metadata === null ? {} : { filter: query.metadata }),
  };
  for await (const state of view.getStateHistory(configOf(address), options)) {
    yield snapshot(state, context.codec, address.threadId);
  }
}

/**
 * Writes of finished branches apply when their paused siblings end, and may trigger further nodes. Those end as well,
 * at most this often.
 */
const GIVEN_UP_MAX = 100;

/** @param operationId takes the place of a run's id as the origin of the new rows */
export async function updateState(
  context: RunContext,
  graph: CompiledGraph,
  fingerprint: Fingerprint,
  address: StateAddress,
  update: StateUpdate,
  metadata: JsonObject,
  operationId: string,
): Promise<UpdateResult> {
  let result = await updateOnce(context, graph, fingerprint, address, [update], metadata, operationId);
  if (update.asNode !== "__end__" || update.values !== null) return result;
  for (let more = 0; result.next.length > 0 && more < GIVEN_UP_MAX; more++) {
    const after = { ...address, checkpointId: null };
    const seeing = seeingAlso(context, result.set);
    const next = await updateOnce(seeing, graph, fingerprint, after, [update], metadata, operationId);
    result = { ...next, set: joined(result.set, next.set) };
  }
  return result;
}

/** The state that results from these supersteps, one after the other. */
export async function buildState(
  context: RunContext,
  graph: CompiledGraph,
  fingerprint: Fingerprint,
  address: StateAddress,
  supersteps: readonly (readonly StateUpdate[])[],
  metadata: JsonObject,
  operationId: string,
): Promise<UpdateResult> {
  let result: UpdateResult | null = null;
  for (const updates of supersteps) {
    const seeing: RunContext = result === null ? context : seeingAlso(context, result.set);
    const next = await updateOnce(seeing, graph, fingerprint, address, updates, metadata, operationId);
    result = result === null ? next : { ...next, set: joined(result.set, next.set) };
  }
  if (result === null) throw new ApiError("state_update_invalid", "There is no superstep to apply.");
  return result;
}

function seeingAlso(context: RunContext, set: WriteSet): RunContext {
  return { ...context, read: (query) => context.read((tx) => query(withPreview(tx, set, context.codec))) };
}

function joined(first: WriteSet, second: WriteSet): WriteSet {
  return {
    checkpoints: [...first.checkpoints, ...second.checkpoints],
    writes: [...first.writes, ...second.writes],
    blobs: [...first.blobs, ...second.blobs],
  };
}

async function updateOnce(
  context: RunContext,
  graph: CompiledGraph,
  fingerprint: Fingerprint,
  address: StateAddress,
  updates: readonly StateUpdate[],
  metadata: JsonObject,
  operationId: string,
): Promise<UpdateResult> {
  const saver = viewSaver(context, address, fingerprint.hash, metadata, operationId);
  const view = await subgraphAt(withCheckpointer(graph, saver.checkpointer), address.ns, saver.checkpointer);
  for (const { asNode, values, command } of updates) {
    checkNode(view, asNode);
    await refuseControlValuesSlowly({ input: values, update: command?.["update"], goto: command?.["goto"] });
  }
  try {
    const values = updates.map((update) => ({
      values: update.command ? commandOf(context, update.command) : update.values,
      asNode: update.asNode ?? undefined,
    }));
    const config = await view.bulkUpdateState({ ...withSaver(address, saver.checkpointer), store: context.store }, [
      { updates: values },
    ]);
    const set = saver.take();
    if (set.checkpoints.length === 0) throw saver.failure() ?? new Error("the update created no checkpoint");
    const next = await nextAfter(context, graph, address, set);
    return { set, next, checkpoint: checkpointOf(config, address.threadId) };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("state_update_invalid", describeError(error).message);
  }
}

function checkNode(graph: CompiledGraph, node: string | null): void {
  if (node === null || RESERVED_NODES.has(node) || Object.hasOwn(graph.nodes, node)) return;
  const known = Object.keys(graph.nodes).filter((name) => name !== "__start__");
  throw new ApiError("node_unknown", `as_node "${node}" is not a node of this graph`, { known });
}

function commandOf({ library }: RunContext, { update, goto }: JsonObject): unknown {
  return new library.langgraph.Command({
    ...(update === undefined ? {} : { update: update as Record<string, unknown> }),
    ...(goto === undefined ? {} : { goto: gotoOf(library, goto) }),
  });
}

/** The next nodes after `set`, read before its commit, so that one transaction can store both. */
async function nextAfter(
  context: RunContext,
  graph: CompiledGraph,
  address: StateAddress,
  set: WriteSet,
): Promise<readonly string[]> {
  const { checkpointer } = viewSaver(seeingAlso(context, set), address, "", {}, "");
  const view = await subgraphAt(withCheckpointer(graph, checkpointer), address.ns, checkpointer);
  return (await view.getState(configOf({ ...address, checkpointId: null }))).next;
}

/** Special names that are not nodes, in an update. */
const RESERVED_NODES = new Set(["__end__", "__input__", "__copy__", "__start__"]);

function viewSaver(
  context: RunContext,
  address: StateAddress,
  fingerprint: string,
  metadata: JsonObject,
  operationId: string,
): RunSaver & { readonly failure: () => unknown } {
  let failure: unknown;
  const saver = createRunSaver({
    library: context.library,
    codec: context.codec,
    threadId: address.threadId,
    runId: operationId,
    fingerprint,
    metadata,
    storedInput: null,
    outputs: [],
    history: "stored",
    read: context.read,
    answersKept: new Map(),
    onWrite: () => undefined,
    settle: () => Promise.resolve(),
    onFailure: (error) => {
      failure = error;
    },
  });
  return { ...saver, failure: () => failure };
}

function configOf(address: StateAddress): LibraryConfig & Record<string, unknown> {
  return {
    configurable: {
      thread_id: address.threadId,
      checkpoint_ns: address.ns,
      ...(address.checkpointId === null ? {} : { checkpoint_id: address.checkpointId }),
    },
  };
}

/** Below the root, LangGraph looks up the subgraph itself unless the config has a checkpointer. */
function withSaver(address: StateAddress, checkpointer: unknown): LibraryConfig & Record<string, unknown> {
  const { configurable } = configOf(address);
  return { configurable: { ...configurable, ...(address.ns === "" ? {} : { __pregel_checkpointer: checkpointer }) } };
}

/** The graph of a namespace such as `"child:<uuid>|grandchild:<uuid>"`. */
async function subgraphAt(graph: CompiledGraph, ns: string, checkpointer: unknown): Promise<CompiledGraph> {
  if (ns === "") return graph;
  const path = ns
    .split("|")
    .map((part) => part.split(":")[0])
    .join("|");
  for await (const [name, subgraph] of graph.getSubgraphsAsync(path, true)) {
    if (name === path) return withCheckpointer(subgraph, checkpointer);
  }
  throw new ApiError("checkpoint_not_found", `checkpoint_ns "${ns}" is not a subgraph of this graph`);
}

function snapshot(state: LibraryState, codec: Codec, threadId: string): StateSnapshot {
  const exists = state.createdAt !== undefined;
  return {
    values: codec.toWire(state.values),
    next: state.next,
    tasks: state.tasks.map((task) => taskOf(task, codec, threadId)),
    metadata: codec.toWire(state.metadata ?? {}),
    createdAt: state.createdAt ?? null,
    checkpoint: exists ? checkpointOf(state.config, threadId) : null,
    parentCheckpoint: state.parentConfig === undefined ? null : checkpointOf(state.parentConfig, threadId),
  };
}

function taskOf(task: LibraryTask, codec: Codec, threadId: string): StateTask {
  const nested = task.state !== undefined && "values" in task.state ? task.state : null;
  const pointer = task.state !== undefined && !("values" in task.state) ? task.state.configurable : undefined;
  return {
    id: task.id,
    name: task.name,
    path: codec.toWire(task.path ?? null),
    error: errorText(task.error),
    interrupts: task.interrupts.map((interrupt) => ({
      id: interrupt.id ?? null,
      value: codec.toWire(interrupt.value),
    })),
    checkpoint: pointer === undefined ? null : codec.toWire(pointer),
    state: nested === null ? null : snapshot(nested, codec, threadId),
    result: codec.toWire(task.result ?? null),
  };
}

function errorText(error: unknown): string | null {
  if (error === undefined || error === null) return null;
  if (typeof error === "string") return error;
  const { name, message } = describeError(error instanceof Error ? error : Object.assign(new Error(), error));
  return `${name}: ${message}`;
}

function checkpointOf(config: LibraryConfig, threadId: string): StateCheckpoint {
  const { checkpoint_id: id, checkpoint_ns: ns, checkpoint_map: map } = config.configurable ?? {};
  return {
    thread_id: threadId,
    checkpoint_id: typeof id === "string" ? id : "",
    checkpoint_ns: typeof ns === "string" ? ns : "",
    checkpoint_map: isJsonObject(map) ? map : null,
  };
}
