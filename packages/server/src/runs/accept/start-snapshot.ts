// Start snapshot: everything needed to accept or reject a run, read in one round trip under the thread lock.
// Invariants:
//   - An Idempotency-Key creates one run for any number of repeated calls, even after the run was deleted. The key
//     belongs to the caller's name and scope: the same name in another tenant is another caller.
//   - Objects outside the caller's scope are refused like missing ones.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
import { offered } from "../../threads/assistants/assistants.ts";
import { inScope } from "../../auth/scope.ts";
import type { Intent } from "../../interrupts/run-intent.ts";
import { toAssistantId } from "../../model/built-in-assistant.ts";
import type { Assistant, Caller, Interrupt, Run, Thread } from "../../model/model.ts";
import type { Graphs, IdempotencyRecord, StoredCheckpoint, Tx } from "../../ports/ports.ts";
import { type RunCall, checkNodeNames } from "./run-request.ts";

export function scopeIdempotencyKey(caller: Caller, { reach }: RunCall, key: string): string {
  if (reach.threads === null) return contentHash(JSON.stringify([caller.name, key]));
  const conditions = reach.threads.map((condition) => JSON.stringify([condition.key, condition.op, condition.value]));
  return contentHash(JSON.stringify([caller.name, conditions.toSorted(), key]));
}

export interface StartSnapshot {
  /** The run of an earlier call with the same Idempotency-Key. */
  readonly repeated: Run | null;
  readonly stored: Thread | null;
  readonly known: readonly Interrupt[];
  readonly assistant: Assistant;
  /**
   * Fingerprint of the graph that wrote the starting checkpoint; null if there is none, or if the call does not need
   * it.
   */
  readonly writtenBy: string | null;
}

/** A call to accept. */
export interface RequestedRun {
  readonly caller: Caller;
  readonly threadId: string;
  readonly call: RunCall;
  readonly intent: Intent;
}

type SnapshotTx = Pick<Tx, "idempotency" | "thread" | "interrupts" | "assistant" | "checkpointFingerprint" | "run">;

/**
 * Reads everything in one round trip. @throws {ApiError} `assistant_not_found`, `node_unknown`,
 * `idempotency_key_reused`
 */
export async function readStartSnapshot(
  graphs: Graphs,
  tx: SnapshotTx,
  { caller, threadId, call, intent }: RequestedRun,
): Promise<StartSnapshot> {
  const { checkpointId, idempotencyKey: key } = call;
  const [record, stored, known, found, writtenBy] = await Promise.all([
    key === null ? null : tx.idempotency(scopeIdempotencyKey(caller, call, key)),
    tx.thread(threadId),
    tx.interrupts(threadId, null),
    tx.assistant(toAssistantId(call.assistantId)),
    continuesThread(intent) || checkpointId !== null ? tx.checkpointFingerprint(threadId, checkpointId) : null,
  ]);
  const assistant = offered(graphs, call.assistantId, call.reach.assistants, found);
  checkNodeNames(graphs, assistant.graphId, call, intent);
  const repeated = await repeatedRun(tx, call, record);
  return { repeated, stored, known, assistant, writtenBy };
}

/** The call continues the state of the thread instead of starting with new input. */
export function continuesThread({ kind }: Intent): boolean {
  return kind !== "input" && kind !== "end_thread";
}

/** Optional read-ahead: if it fails, the run reads for itself. */
export async function readNewest(tx: Pick<Tx, "checkpoint">, threadId: string): Promise<StoredCheckpoint | null> {
  try {
    return await tx.checkpoint(threadId, "", null);
  } catch {
    return null;
  }
}

async function repeatedRun(tx: SnapshotTx, call: RunCall, record: IdempotencyRecord | null): Promise<Run | null> {
  if (record === null) return null;
  if (record.requestHash !== call.requestHash) {
    throw new ApiError("idempotency_key_reused", "An earlier request with other content used this Idempotency-Key.");
  }
  const thread = await tx.thread(record.threadId);
  const visible = thread !== null && inScope(thread.metadata, call.reach.threads);
  const run = visible ? await tx.run(record.threadId, record.runId) : null;
  if (run !== null) return run;
  throw new ApiError(
    "idempotency_run_deleted",
    "The run that an earlier call with this Idempotency-Key created was deleted. It is not created again.",
  );
}
