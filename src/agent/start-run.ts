// Start run: the one transaction that accepts a run, and with it the answers it carries.
// Invariants:
//   ST1. Of all calls that answer one question, the one whose update finds the thread paused wins; the others change nothing.
//   ST2. What a refused call would have changed is not changed: every refusal comes before the first write, or undoes it.
//   ST3. A run that is accepted is stored before its caller hears of it.
//   ST4. An Idempotency-Key gives one run, however often the call is repeated. It is its caller's: nobody else's call
//        with the same key is a repetition.
//   ST5. A thread or an assistant that is out of the caller's reach is refused like one that is not there.
import { contentHash } from "../base/ids.ts";
import { ApiError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { Agent } from "./agent.ts";
import { findAssistant } from "./assistants.ts";
import { checkContinuable } from "./continuable.ts";
import { intentOf, type Intent } from "./intent.ts";
import type { Assistant, Caller, Interrupt, MultitaskStrategy, Run, Thread } from "./model.ts";
import type { Tx } from "./ports.ts";
import { acceptAnswers, type AcceptedAnswers } from "./resume.ts";
import { checkNodeNames, requestOf, type RunCall } from "./run-request.ts";
import { inScope, stamped } from "./scope.ts";
import { newThread, threadNotFound } from "./threads.ts";
import { nextRunStatus } from "./transitions.ts";

export interface StartedRun {
  readonly run: Run;
  /** False when an earlier call with the same Idempotency-Key made the run. */
  readonly created: boolean;
}

/** @throws {ApiError} for everything that resume.ts and this file refuse. */
export async function startRun(agent: Agent, caller: Caller, threadId: string, call: RunCall): Promise<StartedRun> {
  if (agent.worker.draining()) {
    throw new ApiError("shutting_down", "The server takes no new runs.", {}, { "Retry-After": "5" });
  }
  const intent = intentOf(call.input, call.command);
  const slot = agent.worker.reserve();
  try {
    const accepted = await agent.storage.transaction((tx) =>
      accept(agent, tx, caller, threadId, call, intent, slot !== null),
    );
    for (const run of accepted.cancel) {
      if (run.status === "running") agent.worker.abort(run.runId, reasonOf(call.multitaskStrategy));
      else agent.worker.ends.ended(run.runId, () => ({ run, valuesText: null, interrupts: [], pause: null }));
    }
    if (accepted.created && accepted.run.status === "running" && slot !== null) {
      slot.start(accepted.run, accepted.hasHistory);
    } else {
      slot?.release();
      agent.worker.wake();
    }
    return accepted;
  } catch (error) {
    slot?.release();
    throw error;
  }
}

interface Accepted extends StartedRun {
  readonly hasHistory: boolean;
  /** Runs that give way to this one: those that were pending have ended, running ones are to be aborted. */
  readonly cancel: readonly Run[];
}

async function accept(
  agent: Agent,
  tx: Tx,
  caller: Caller,
  threadId: string,
  call: RunCall,
  intent: Intent,
  slotFree: boolean,
): Promise<Accepted> {
  const assistant = await findAssistant(agent, tx, call.assistantId, call.reach.assistants);
  checkNodeNames(agent, assistant.graphId, call, intent);
  const repeated = await findRepeated(tx, caller, call);
  if (repeated !== null) return { run: repeated, created: false, hasHistory: true, cancel: [] };
  const at = agent.clock.now();
  const thread = await findOrCreate(agent, tx, threadId, call, at);
  const forkFrom = call.checkpointId === thread.checkpointId ? null : call.checkpointId;
  if (forkFrom !== null && (await tx.checkpointFingerprint(threadId, forkFrom)) === null)
    throw new ApiError("checkpoint_not_found", `The thread has no checkpoint ${forkFrom}.`);
  const known = await tx.interrupts(threadId, null);
  const answers = intent.kind === "resume" ? acceptAnswers(thread, known, intent.resume, forkFrom) : null;
  await checkContinuable(agent, tx, thread, known, intent, assistant.graphId, forkFrom);

  const cancel = thread.status === "busy" ? await makeWay(tx, caller, threadId, call.multitaskStrategy, at) : [];
  const queued = thread.status === "busy";
  const continuesPause = thread.status === "interrupted" && (intent.kind === "resume" || intent.kind === "continue");
  // Runs are held while a thread is paused, and they were there first.
  const behindHeld = thread.status === "interrupted" && !continuesPause && (await tx.hasPendingRun(threadId));
  const claimed = !queued && slotFree && !behindHeld;
  if (!claimed && (await tx.countPendingRuns()) >= agent.limits.pendingRunsMax) {
    throw new ApiError("overloaded", "Too many runs wait in the queue.", {}, { "Retry-After": "5" });
  }
  const run: Run = {
    runId: agent.newId(),
    threadId,
    assistantId: assistant.assistantId,
    graphId: assistant.graphId,
    status: claimed ? "running" : "pending",
    endedBy: null,
    attempt: claimed ? 1 : 0,
    crashes: 0,
    createdAt: at,
    updatedAt: at,
    metadata: {
      ...call.metadata,
      created_by: "system",
      graph_id: assistant.graphId,
      assistant_id: assistant.assistantId,
    },
    multitaskStrategy: call.multitaskStrategy,
    request: requestOf(caller, call, intent, answers, assistant, forkFrom, continuesPause),
    input: intent.kind === "input" ? agent.graphs.encode(intent.input) : null,
    error: null,
    checkpointId: null,
    overlay: null,
    pausedOn: [],
  };
  const changed = graphChange(thread, assistant);
  if (queued) {
    if (changed.metadata !== undefined) await tx.updateThread(threadId, { metadata: changed.metadata });
  } else {
    if (!(await tx.takeThread(threadId, thread.status, { ...changed, updatedAt: at }))) {
      throw new ApiError("thread_busy", "Another call was faster.", { pending: [] }); // ST1
    }
    await settleQuestions(tx, caller, thread, known, intent, answers, run, forkFrom, at);
  }
  await tx.insertRun(run);
  if (call.idempotencyKey !== null) {
    const key = storedKey(caller, call.idempotencyKey);
    await tx.putIdempotency({ key, requestHash: call.requestHash, threadId, runId: run.runId, createdAt: at }); // ST4
  }
  return { run, created: true, hasHistory: thread.checkpointId !== null, cancel };
}

/** Clients find threads by the graph and assistant in their metadata. */
function graphChange(thread: Thread, { graphId, assistantId }: Assistant): Partial<Thread> {
  const { metadata } = thread;
  const known = metadata["graph_id"] === graphId && metadata["assistant_id"] === assistantId;
  return {
    ...(known ? {} : { metadata: { ...metadata, graph_id: graphId, assistant_id: assistantId } }),
    ...(thread.graphId === graphId ? {} : { graphId }),
    ...(thread.assistantId === assistantId ? {} : { assistantId }),
  };
}

function storedKey(caller: Caller, key: string): string {
  return contentHash(JSON.stringify([caller.name, key])); // ST4
}

async function findRepeated(tx: Tx, caller: Caller, call: RunCall): Promise<Run | null> {
  if (call.idempotencyKey === null) return null;
  const record = await tx.idempotency(storedKey(caller, call.idempotencyKey));
  if (record === null) return null;
  if (record.requestHash !== call.requestHash) {
    throw new ApiError("idempotency_key_reused", "This Idempotency-Key came with another request before.");
  }
  const thread = await tx.thread(record.threadId);
  if (thread === null || !inScope(thread.metadata, call.reach.threads)) throw threadNotFound(record.threadId); // ST5
  return tx.run(record.threadId, record.runId);
}

async function findOrCreate(agent: Agent, tx: Tx, threadId: string, call: RunCall, at: number): Promise<Thread> {
  const { threads } = call.reach;
  const thread = await tx.thread(threadId);
  if (thread !== null && inScope(thread.metadata, threads)) return thread;
  if (thread !== null || call.ifNotExists === "reject") throw threadNotFound(threadId); // ST5
  const created = newThread(threadId, stamped(call.metadata, threads), null, at);
  await tx.insertThread(created);
  return created;
}

function reasonOf(strategy: MultitaskStrategy): "cancel" | "rollback" {
  return strategy === "rollback" ? "rollback" : "cancel";
}

/** What becomes of the runs of a busy thread. @returns those that give way. */
async function makeWay(
  tx: Tx,
  caller: Caller,
  threadId: string,
  strategy: MultitaskStrategy,
  at: number,
): Promise<readonly Run[]> {
  if (strategy === "enqueue") return [];
  const active = await tx.activeRuns(threadId);
  if (strategy === "reject") {
    throw new ApiError("thread_busy", "The thread has a run in progress, and this call asked not to wait for it.", {
      active_runs: active.map((run) => run.runId),
    });
  }
  const gone: Run[] = [];
  for (const run of active) {
    const { runId } = run;
    const value = strategy === "rollback" ? "rollback" : "interrupt";
    await tx.audit([{ threadId, at, action: "cancelled", by: caller.name, interruptId: null, runId, value }]);
    if (run.status === "pending") {
      const patch = { status: nextRunStatus("pending", "cancel"), endedBy: "cancel", updatedAt: at } as const;
      await tx.updateRun(runId, patch);
      gone.push({ ...run, ...patch });
    } else gone.push(run);
  }
  return gone;
}

/** Answered questions are marked with their answer; a new input abandons those that were open. Both are audited here. */
async function settleQuestions(
  tx: Tx,
  caller: Caller,
  thread: Thread,
  known: readonly Interrupt[],
  intent: Intent,
  answers: AcceptedAnswers | null,
  run: Run,
  forkFrom: string | null,
  at: number,
): Promise<void> {
  const entry = (interrupt: Interrupt, value: Json) => ({
    threadId: thread.threadId,
    at,
    by: caller.name,
    interruptId: interrupt.interruptId,
    runId: run.runId,
    value,
  });
  const changed: Interrupt[] = [];
  const audit = [];
  if (intent.kind === "input" || forkFrom !== null) {
    for (const interrupt of known) {
      if (interrupt.state !== "open" || answers?.questions.includes(interrupt) === true) continue;
      changed.push({ ...interrupt, state: "abandoned" });
      audit.push({ ...entry(interrupt, null), action: "abandoned" as const });
    }
  }
  for (const [position, question] of (answers?.questions ?? []).entries()) {
    const value = answers?.answers[position]?.value ?? null;
    changed.push({ ...question, state: "answered", answer: { runId: run.runId, at, by: caller.name, value } });
    const action = forkFrom === null ? ("answered" as const) : ("answered_as_fork" as const);
    audit.push({ ...entry(question, value), action });
  }
  if (changed.length > 0) await tx.putInterrupts(changed);
  if (audit.length > 0) await tx.audit(audit);
}
