// Import thread: a thread of another saver of LangGraph → rows, by the same saver that runs use.
import type { CheckpointTuple } from "@langchain/langgraph";
import type { WriteSet } from "../../model/model.ts";
import type { Library } from "../langgraph/library.ts";
import type { LibraryWrite } from "./decode-checkpoint.ts";
import type { Codec } from "./codec/value-codec.ts";
import { createRunSaver } from "./run-checkpointer.ts";

export interface ImportTarget {
  readonly library: Library;
  readonly codec: Codec;
  readonly threadId: string;
  /** Hash of the graph's fingerprint. */
  readonly fingerprint: string;
  /** Takes the place of a run's id. */
  readonly operationId: string;
}

export interface ImportedRows {
  readonly set: WriteSet;
  /** Newest checkpoint of the root graph. */
  readonly checkpointId: string;
  /** The newest checkpoint has a question without an answer. */
  readonly asks: boolean;
  /** Milliseconds: of the first and of the newest checkpoint. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

const INTERRUPT = "__interrupt__";
const RESUME = "__resume__";
/** Writes of the whole step. An answer here has reached the task that asked, whose own writes have it. */
const NO_TASK = "00000000-0000-0000-0000-000000000000";

/**
 * @param tuples of one thread, in any order, with those of its subgraphs
 * @throws {Error} for a value that cannot be stored, and for a thread without a checkpoint of its root graph
 */
export async function importThread(target: ImportTarget, tuples: readonly CheckpointTuple[]): Promise<ImportedRows> {
  const failures: unknown[] = [];
  const saver = createRunSaver({
    ...target,
    runId: target.operationId,
    metadata: {},
    storedInput: null,
    outputs: [],
    history: "stored",
    read: () => Promise.reject(new Error("an import reads nothing back")),
    answersKept: new Map(),
    keepsResults: false,
    interruptBytesMax: Infinity,
    onWrite: () => undefined,
    settle: () => Promise.resolve(),
    onFailure: (error) => void failures.push(error),
  });
  const ordered = tuples.toSorted((one, other) => (one.checkpoint.id < other.checkpoint.id ? -1 : 1));
  for (const tuple of ordered) await putTuple(saver.checkpointer, tuple);
  if (failures.length > 0) throw failures[0];
  const root = ordered.findLast(({ config }) => readNamespace(config) === "");
  if (root === undefined) throw new Error("the thread has no checkpoint of its root graph");
  const asks = root.pendingWrites?.some(([, channel]) => channel === INTERRUPT) ?? false;
  const [createdAt, updatedAt] = [ordered[0] ?? root, root].map(({ checkpoint }) => Date.parse(checkpoint.ts));
  return {
    set: saver.take(),
    checkpointId: root.checkpoint.id,
    asks,
    createdAt: createdAt ?? 0,
    updatedAt: updatedAt ?? 0,
  };
}

type Checkpointer = ReturnType<typeof createRunSaver>["checkpointer"];

async function putTuple(checkpointer: Checkpointer, tuple: CheckpointTuple): Promise<void> {
  const { config, checkpoint, metadata, parentConfig, pendingWrites = [] } = tuple;
  const place = { checkpoint_ns: readNamespace(config) };
  const parentId = parentConfig?.configurable?.["checkpoint_id"] as string | undefined;
  const parent = { configurable: { ...place, ...(parentId === undefined ? {} : { checkpoint_id: parentId }) } };
  await checkpointer.put(parent, checkpoint, metadata ?? { source: "loop", step: 0, parents: {} }, {});
  // An answer left there would also answer the next question of its node.
  const kept = pendingWrites.filter(([taskId, channel]) => taskId !== NO_TASK || channel !== RESUME);
  const byTask = Map.groupBy(kept, ([taskId]) => taskId);
  for (const [taskId, writes] of byTask) {
    const list = writes.map(([, channel, value]) => [channel, value] as LibraryWrite);
    await checkpointer.putWrites({ configurable: { ...place, checkpoint_id: checkpoint.id } }, list, taskId);
  }
}

function readNamespace({ configurable }: CheckpointTuple["config"]): string {
  return (configurable?.["checkpoint_ns"] as string | undefined) ?? "";
}
