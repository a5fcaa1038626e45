// Edit state: an update of a thread's state, computed by the library and not stored yet. An edit of several steps sees
// the rows of its earlier steps before their commit.
import type { Fingerprint, WriteSet } from "../../model/model.ts";
import type { StateAddress, StateUpdate, UpdateResult } from "../../ports/ports.ts";
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { CompiledGraph } from "../langgraph/compiled-graph.ts";
import { rejectControlValues } from "../langgraph/control-values.ts";
import { toGoto } from "../langgraph/goto.ts";
import type { RunContext } from "../run/run-context.ts";
import {
  NO_ROWS,
  toStateCheckpoint,
  toLibraryConfig,
  seeingAlso,
  openView,
  viewSaver,
  withSaver,
} from "./state-view.ts";

export interface StateEdit {
  readonly graph: CompiledGraph;
  readonly fingerprint: Fingerprint;
  readonly address: StateAddress;
  readonly metadata: JsonObject;
  /** Takes the place of a run's id as the origin of the new rows. */
  readonly operationId: string;
}

/**
 * Writes of finished branches apply when their paused siblings end, and may trigger further nodes. Those end as well,
 * at most this often.
 */
const SUPERSTEPS_MAX = 100;

/** Special names that are not nodes, in an update. */
const RESERVED_NODES = new Set(["__end__", "__input__", "__copy__", "__start__"]);

export async function updateState(context: RunContext, edit: StateEdit, update: StateUpdate): Promise<UpdateResult> {
  let result = await updateOnce(context, edit, [update]);
  if (update.asNode !== "__end__" || update.values !== null) return result;
  const after: StateEdit = { ...edit, address: { ...edit.address, checkpointId: null } };
  for (let more = 0; result.next.length > 0 && more < SUPERSTEPS_MAX; more++) {
    const next = await updateOnce(seeingAlso(context, result.set), after, [update]);
    result = { ...next, set: joined(result.set, next.set) };
  }
  return result;
}

/** The state that results from these supersteps, one after the other. */
export async function buildState(
  context: RunContext,
  edit: StateEdit,
  supersteps: readonly (readonly StateUpdate[])[],
): Promise<UpdateResult> {
  let result: UpdateResult | null = null;
  for (const updates of supersteps) {
    const seeing: RunContext = result === null ? context : seeingAlso(context, result.set);
    const next = await updateOnce(seeing, edit, updates);
    result = result === null ? next : { ...next, set: joined(result.set, next.set) };
  }
  if (result === null) throw new ApiError("state_update_invalid", "There is no superstep to apply.");
  return result;
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
  { graph, fingerprint, address, metadata, operationId }: StateEdit,
  updates: readonly StateUpdate[],
): Promise<UpdateResult> {
  const saver = viewSaver(context, address, { fingerprint: fingerprint.hash, metadata, operationId });
  const view = await openView(graph, address, saver);
  for (const { asNode, values, command } of updates) {
    checkNode(view, asNode);
    rejectControlValues({ input: values, update: command?.["update"], goto: command?.["goto"] });
  }
  try {
    const values = updates.map((update) => ({
      values: update.command ? buildCommand(context, update.command) : listed(context, view, update.values),
      asNode: update.asNode ?? undefined,
    }));
    const config = await view.bulkUpdateState({ ...withSaver(address, saver.checkpointer), store: context.store }, [
      { updates: values },
    ]);
    const set = saver.take();
    if (set.checkpoints.length === 0) throw saver.failure() ?? new Error("the update created no checkpoint");
    const next = await nextAfter(context, graph, address, set);
    return { set, next, checkpoint: toStateCheckpoint(config, address.threadId) };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("state_update_invalid", describeError(error).message.replaceAll("asNode", "as_node"));
  }
}

function checkNode(graph: CompiledGraph, node: string | null): void {
  if (node === null || RESERVED_NODES.has(node) || Object.hasOwn(graph.nodes, node)) return;
  const known = Object.keys(graph.nodes).filter((name) => name !== "__start__");
  throw new ApiError("node_unknown", `as_node "${node}" is not a node of this graph`, { known });
}

/** A list is several writes of one node, in one step; to a graph whose state is one value, a list is that value. */
function listed({ library }: RunContext, graph: CompiledGraph, values: Json): unknown {
  if (!Array.isArray(values) || "__root__" in graph.channels) return values;
  const [first, ...rest] = values as readonly Json[];
  if (first === undefined) return {};
  if (!isJsonObject(first)) return values; // the library says what it expects
  return [new library.langgraph.Command({ update: first }), ...rest];
}

function buildCommand({ library }: RunContext, { update, goto }: JsonObject): unknown {
  return new library.langgraph.Command({
    ...(update === undefined ? {} : { update: update as Record<string, unknown> }),
    ...(goto === undefined ? {} : { goto: toGoto(library, goto) }),
  });
}

/** The next nodes after `set`, read before its commit, so that one transaction can store both. */
async function nextAfter(
  context: RunContext,
  graph: CompiledGraph,
  address: StateAddress,
  set: WriteSet,
): Promise<readonly string[]> {
  const view = await openView(graph, address, viewSaver(seeingAlso(context, set), address, NO_ROWS));
  return (await view.getState(toLibraryConfig({ ...address, checkpointId: null }))).next;
}
