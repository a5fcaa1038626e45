// State view: a graph over the stored checkpoints of one thread, outside of a run.
import type { WriteSet } from "../../model/model.ts";
import type { StateAddress, StateCheckpoint } from "../../ports/ports.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { type JsonObject, isJsonObject } from "@holdpoint/base/json/json.ts";
import { type RunSaver, createRunSaver } from "../checkpoints/run-checkpointer.ts";
import { withPreview } from "../checkpoints/unsaved-rows.ts";
import {
  type CompiledGraph,
  type LibraryConfig,
  localSubgraphs,
  withCheckpointer,
} from "../langgraph/compiled-graph.ts";
import type { RunContext } from "../run/run-context.ts";

/** Members of an edit's new rows, in addition to its values. */
export interface RowOrigin {
  readonly fingerprint: string;
  readonly metadata: JsonObject;
  /** Takes the place of a run's id. */
  readonly operationId: string;
}

/** Origin of a view that only reads. */
export const NO_ROWS: RowOrigin = { fingerprint: "", metadata: {}, operationId: "" };

export interface ViewSaver extends RunSaver {
  readonly failure: () => unknown;
}

/** The graph of the address, over its thread. @throws {ApiError} `checkpoint_not_found` when the graph does not contain it */
export async function openView(graph: CompiledGraph, address: StateAddress, saver: RunSaver): Promise<CompiledGraph> {
  return (await findView(graph, address, saver)) ?? refuseNamespace(address.ns);
}

/** @returns null for a namespace that the graph does not contain: a node may have called the graph that it belongs to */
export async function findView(
  graph: CompiledGraph,
  address: StateAddress,
  { checkpointer }: RunSaver,
): Promise<CompiledGraph | null> {
  return findSubgraph(withCheckpointer(graph, checkpointer), address.ns, checkpointer);
}

/** @throws {ApiError} always */
export function refuseNamespace(ns: string): never {
  throw new ApiError("checkpoint_not_found", `checkpoint_ns "${ns}" is not a subgraph of this graph`);
}

export function viewSaver(context: RunContext, { threadId }: StateAddress, origin: RowOrigin): ViewSaver {
  let failure: unknown;
  const saver = createRunSaver({
    library: context.library,
    codec: context.codec,
    threadId,
    runId: origin.operationId,
    fingerprint: origin.fingerprint,
    metadata: origin.metadata,
    storedInput: null,
    outputs: [],
    history: "stored",
    read: context.read,
    answersKept: new Map(),
    keepsResults: false,
    interruptBytesMax: Infinity, // edits copy interrupts that runs have raised
    onWrite: () => undefined,
    settle: () => Promise.resolve(),
    onFailure: (error) => {
      failure = error;
    },
  });
  return { ...saver, failure: () => failure };
}

/** The context of reads that also see `set`, before its commit. */
export function seeingAlso(context: RunContext, set: WriteSet): RunContext {
  return { ...context, read: (query) => context.read((tx) => query(withPreview(tx, set, context.codec))) };
}

export function toLibraryConfig(address: StateAddress): LibraryConfig & Record<string, unknown> {
  return {
    configurable: {
      thread_id: address.threadId,
      checkpoint_ns: address.ns,
      ...(address.checkpointId === null ? {} : { checkpoint_id: address.checkpointId }),
    },
  };
}

/** Below the root, LangGraph looks up the subgraph itself unless the config has a checkpointer. */
export function withSaver(address: StateAddress, checkpointer: unknown): LibraryConfig & Record<string, unknown> {
  const { configurable } = toLibraryConfig(address);
  return { configurable: { ...configurable, ...(address.ns === "" ? {} : { __pregel_checkpointer: checkpointer }) } };
}

export function toStateCheckpoint(config: LibraryConfig, threadId: string): StateCheckpoint {
  const { checkpoint_id: id, checkpoint_ns: ns, checkpoint_map: map } = config.configurable ?? {};
  return {
    thread_id: threadId,
    checkpoint_id: typeof id === "string" ? id : "",
    checkpoint_ns: typeof ns === "string" ? ns : "",
    checkpoint_map: isJsonObject(map) ? map : null,
  };
}

/** The graph of a namespace such as `"child:<uuid>|grandchild:<uuid>"`. */
async function findSubgraph(graph: CompiledGraph, ns: string, checkpointer: unknown): Promise<CompiledGraph | null> {
  if (ns === "") return graph;
  const path = ns
    .split("|")
    .map((part) => part.split(":")[0])
    .join("|");
  for await (const [name, subgraph] of localSubgraphs(graph)) {
    if (name === path) return withCheckpointer(subgraph, checkpointer);
  }
  return null;
}
