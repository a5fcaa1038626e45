// Decisive: all that decides about a run that is asked for, read together, which is one round trip, under the thread's lock.
// Invariants:
//   start-snapshot.1. An Idempotency-Key gives one run, however often the call is repeated, also when the run has been deleted since.
//        It belongs to its caller's name and scope: the same name in another tenant is another caller.
//   start-snapshot.2. What is out of the caller's reach is refused like what is not there.
import { ApiError } from "../../../base/api-error.ts";
import { contentHash } from "../../../base/ids.ts";
import { offered } from "../../assistants/assistants.ts";
import { inScope } from "../../auth/scope.ts";
import type { AgentContext } from "../../context.ts";
import type { Intent } from "../../interrupts/run-intent.ts";
import { assistantIdOf } from "../../model/built-in-assistant.ts";
import type { Assistant, Caller, Interrupt, Run, Thread } from "../../model/model.ts";
import type { IdempotencyRecord, StoredCheckpoint, Tx } from "../../ports/ports.ts";
import { type RunCall, checkNodeNames } from "./run-request.ts";

/** start-snapshot.1. */
export function storedKey(caller: Caller, { reach }: RunCall, key: string): string {
  if (reach.threads === null) return unscopedKey(caller, key);
  const conditions = reach.threads.map((condition) => JSON.stringify([condition.key, condition.op, condition.value]));
  return contentHash(JSON.stringify([caller.name, conditions.toSorted(), key]));
}

/** As 0.1.0 stored every key: found for as long as such keys count, and by the servers of that version beside this one. */
function unscopedKey(caller: Caller, key: string): string {
  return contentHash(JSON.stringify([caller.name, key]));
}

export interface StartSnapshot {
  /** What an earlier call with the same Idempotency-Key made. */
  readonly repeated: Run | null;
  readonly stored: Thread | null;
  readonly known: readonly Interrupt[];
  readonly assistant: Assistant;
  /** Fingerprint of the graph that wrote the checkpoint to go on from; null when there is none, or none is asked for. */
  readonly writtenBy: string | null;
}

/** Asks for everything at once. @throws {ApiError} `assistant_not_found`, `node_unknown`, `idempotency_key_reused` */
export async function readStartSnapshot(
  agent: AgentContext,
  tx: Tx,
  caller: Caller,
  threadId: string,
  call: RunCall,
  intent: Intent,
): Promise<StartSnapshot> {
  const { checkpointId } = call;
  const { idempotencyKey: key } = call;
  const [record, older, stored, known, found, writtenBy] = await Promise.all([
    key === null ? null : tx.idempotency(storedKey(caller, call, key)),
    key === null || call.reach.threads === null ? null : tx.idempotency(unscopedKey(caller, key)),
    tx.thread(threadId),
    tx.interrupts(threadId, null),
    tx.assistant(assistantIdOf(call.assistantId)),
    goesOn(intent) || checkpointId !== null ? tx.checkpointFingerprint(threadId, checkpointId) : null,
  ]);
  const assistant = offered(agent, call.assistantId, call.reach.assistants, found);
  checkNodeNames(agent, assistant.graphId, call, intent);
  const repeated = (await repeatedRun(tx, call, record)) ?? (await olderRun(tx, call, older));
  return { repeated, stored, known, assistant, writtenBy };
}

/** It is about what the thread has, not about something new. */
export function goesOn({ kind }: Intent): boolean {
  return kind !== "input" && kind !== "give_up";
}

/** It only spares a read: when it fails, the run reads for itself. */
export async function readNewest(tx: Tx, threadId: string): Promise<StoredCheckpoint | null> {
  try {
    return await tx.checkpoint(threadId, "", null);
  } catch {
    return null;
  }
}

/** start-snapshot.1. */
async function repeatedRun(tx: Tx, call: RunCall, record: IdempotencyRecord | null): Promise<Run | null> {
  if (record === null) return null;
  if (record.requestHash !== call.requestHash) {
    throw new ApiError("idempotency_key_reused", "This Idempotency-Key came with another request before.");
  }
  const thread = await tx.thread(record.threadId);
  const visible = thread !== null && inScope(thread.metadata, call.reach.threads); // start-snapshot.2
  const run = visible ? await tx.run(record.threadId, record.runId) : null;
  if (run !== null) return run;
  throw new ApiError(
    "idempotency_run_deleted",
    "A call with this Idempotency-Key made a run before, and that run was deleted. It is not made again.",
  );
}

/** A key without a scope may be that of the same name elsewhere: it counts only with a thread that the caller sees. */
async function olderRun(tx: Tx, call: RunCall, record: IdempotencyRecord | null): Promise<Run | null> {
  const thread = record === null ? null : await tx.thread(record.threadId);
  if (thread === null || !inScope(thread.metadata, call.reach.threads)) return null; // start-snapshot.2
  return repeatedRun(tx, call, record);
}
