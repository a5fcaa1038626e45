// Decisive: all that decides about a run that is asked for, read together, which is one round trip, under the thread's lock.
// Invariants:
//   DE1. An Idempotency-Key gives one run, however often the call is repeated. It is its caller's: nobody else's call
//        with the same key is a repetition.
//   DE2. What is out of the caller's reach is refused like what is not there.
import { contentHash } from "../base/ids.ts";
import { ApiError } from "../base/errors.ts";
import type { Agent } from "./agent.ts";
import { assistantIdOf, offered } from "./assistants.ts";
import type { Intent } from "./intent.ts";
import type { Assistant, Caller, Interrupt, Run, Thread } from "./model.ts";
import type { IdempotencyRecord, StoredCheckpoint, Tx } from "./ports.ts";
import { checkNodeNames, type RunCall } from "./run-request.ts";
import { inScope } from "./scope.ts";
import { threadNotFound } from "./waiting.ts";

/** DE1. */
export function storedKey(caller: Caller, key: string): string {
  return contentHash(JSON.stringify([caller.name, key]));
}

export interface Decisive {
  /** What an earlier call with the same Idempotency-Key made. */
  readonly repeated: Run | null;
  readonly stored: Thread | null;
  readonly known: readonly Interrupt[];
  readonly assistant: Assistant;
  /** Fingerprint of the graph that wrote the checkpoint to go on from; null when there is none, or none is asked for. */
  readonly writtenBy: string | null;
}

/** Asks for everything at once. @throws {ApiError} `assistant_not_found`, `node_unknown`, `idempotency_key_reused` */
export async function readDecisive(
  agent: Agent,
  tx: Tx,
  caller: Caller,
  threadId: string,
  call: RunCall,
  intent: Intent,
): Promise<Decisive> {
  const { checkpointId } = call;
  const [record, stored, known, found, writtenBy] = await Promise.all([
    call.idempotencyKey === null ? null : tx.idempotency(storedKey(caller, call.idempotencyKey)),
    tx.thread(threadId),
    tx.interrupts(threadId, null),
    tx.assistant(assistantIdOf(call.assistantId)),
    goesOn(intent) || checkpointId !== null ? tx.checkpointFingerprint(threadId, checkpointId) : null,
  ]);
  const assistant = offered(agent, call.assistantId, call.reach.assistants, found);
  checkNodeNames(agent, assistant.graphId, call, intent);
  return { repeated: await repeatedRun(tx, call, record), stored, known, assistant, writtenBy };
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

/** DE1. */
async function repeatedRun(tx: Tx, call: RunCall, record: IdempotencyRecord | null): Promise<Run | null> {
  if (record === null) return null;
  if (record.requestHash !== call.requestHash) {
    throw new ApiError("idempotency_key_reused", "This Idempotency-Key came with another request before.");
  }
  const thread = await tx.thread(record.threadId);
  if (thread === null || !inScope(thread.metadata, call.reach.threads)) throw threadNotFound(record.threadId); // DE2
  return tx.run(record.threadId, record.runId);
}
