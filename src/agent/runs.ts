// Runs: waiting for one, reading, cancelling and deleting them.
import { ApiError } from "../base/errors.ts";
import type { Agent } from "./agent.ts";
import { endingOf, finishRun } from "./finish.ts";
import type { Caller, Interrupt, Run, RunStatus } from "./model.ts";
import type { GraphRunResult, RunEnd, Tx } from "./ports.ts";
import type { WaitResult } from "./run-ends.ts";
import { isActive, nextRunStatus } from "./transitions.ts";

/** @throws {ApiError} `thread_not_found`, `run_not_found` */
export async function getRun(agent: Agent, threadId: string, runId: string): Promise<Run> {
  return agent.storage.transaction((tx) => requireRun(tx, threadId, runId));
}

export async function listRuns(
  agent: Agent,
  threadId: string,
  query: { readonly limit: number; readonly offset: number; readonly status: RunStatus | null },
): Promise<readonly Run[]> {
  return agent.storage.transaction(async (tx) => {
    await requireThread(tx, threadId);
    return tx.runs(threadId, query);
  });
}

export interface Waiting {
  readonly result: Promise<WaitResult>;
  /** The caller hung up: the run goes on, nobody waits for it here. */
  readonly leave: () => void;
}

/** Waits for a run to end, or tells at once how it did. Registers before it looks, so that no end is missed. */
export async function waitForRun(agent: Agent, threadId: string, runId: string): Promise<Waiting> {
  const waiting = agent.worker.ends.wait(runId);
  try {
    const end = await agent.storage.transaction(async (tx) => {
      const run = await requireRun(tx, threadId, runId);
      return isActive(run.status) ? null : storedEnd(agent, tx, run);
    });
    if (end === null) return waiting;
    waiting.leave();
    return { result: Promise.resolve({ kind: "ended", end }), leave: () => undefined };
  } catch (error) {
    waiting.leave();
    throw error;
  }
}

/** The end of a run as it was, although its thread may have gone on since. */
async function storedEnd(agent: Agent, tx: Tx, run: Run): Promise<RunEnd> {
  const known = new Map(
    (await tx.interrupts(run.threadId, null)).map((interrupt) => [interrupt.interruptId, interrupt]),
  );
  const interrupts = run.pausedOn
    .map((id) => known.get(id))
    .filter((interrupt): interrupt is Interrupt => interrupt !== undefined);
  return {
    run,
    interrupts,
    pause: run.endedBy !== "pause" ? null : interrupts.length > 0 ? "question" : "breakpoint",
    valuesText: await storedValues(agent, tx, run),
  };
}

async function storedValues(agent: Agent, tx: Tx, run: Run): Promise<string | null> {
  if (run.overlay !== null) return JSON.stringify(agent.graphs.toWire(run.overlay));
  if (run.checkpointId === null) return null;
  const stored = await tx.checkpoint(run.threadId, "", run.checkpointId);
  const fingerprint = stored === null ? null : await tx.fingerprint(stored.checkpoint.fingerprint);
  if (stored === null || fingerprint === null) return null;
  return JSON.stringify(agent.graphs.valuesOf(stored, fingerprint));
}

/**
 * @returns true when the run had ended already, or has with this call; false when it was told to and is ending.
 * @throws {ApiError} `thread_not_found`, `run_not_found`
 */
export async function cancelRun(
  agent: Agent,
  caller: Caller,
  threadId: string,
  runId: string,
  action: "interrupt" | "rollback",
): Promise<boolean> {
  const reason = action === "rollback" ? "rollback" : "cancel";
  const status = await agent.storage.transaction(async (tx) => {
    const run = await requireRun(tx, threadId, runId);
    if (!isActive(run.status)) return run.status;
    const at = agent.clock.now();
    await tx.audit([{ threadId, at, action: "cancelled", by: caller.name, interruptId: null, runId, value: action }]);
    if (run.status === "pending") await endPending(tx, run, reason, at);
    return run.status;
  });
  if (status === "running") return !agent.worker.abort(runId, reason);
  if (status === "pending") {
    const run = await getRun(agent, threadId, runId);
    agent.worker.ends.ended(runId, () => ({ run, valuesText: null, interrupts: [], pause: null }));
    agent.worker.wake();
  }
  return true;
}

/** A run that waits in the queue ends as if it had been claimed and aborted at once: one set of rules for both. */
async function endPending(tx: Tx, run: Run, reason: "cancel" | "rollback", at: number): Promise<void> {
  const others = (await tx.activeRuns(run.threadId)).filter((other) => other.runId !== run.runId);
  if (others.some((other) => other.status === "running") || !(await isThreadBusy(tx, run.threadId))) {
    await tx.updateRun(run.runId, { status: nextRunStatus("pending", reason), endedBy: reason, updatedAt: at });
    return;
  }
  const claimed: Run = { ...run, status: "running", attempt: run.attempt + 1 };
  await tx.updateRun(run.runId, { status: claimed.status, attempt: claimed.attempt });
  const result: GraphRunResult = {
    outcome: { kind: "aborted" },
    rest: { checkpoints: [], writes: [], blobs: [] },
    checkpointId: null,
    overlay: null,
    unused: run.request.command?.answers ?? [],
    held: [],
  };
  await finishRun(tx, claimed, result, endingOf(result, reason), at);
}

async function isThreadBusy(tx: Tx, threadId: string): Promise<boolean> {
  return (await tx.thread(threadId))?.status === "busy";
}

/** @throws {ApiError} `run_active` */
export async function deleteRun(agent: Agent, threadId: string, runId: string): Promise<void> {
  await agent.storage.transaction(async (tx) => {
    const run = await requireRun(tx, threadId, runId);
    if (isActive(run.status)) throw new ApiError("run_active", "Cancel the run before deleting it.");
    await tx.deleteRun(runId);
  });
}

async function requireThread(tx: Tx, threadId: string): Promise<void> {
  if ((await tx.thread(threadId)) === null)
    throw new ApiError("thread_not_found", `Thread with ID ${threadId} not found`);
}

async function requireRun(tx: Tx, threadId: string, runId: string): Promise<Run> {
  await requireThread(tx, threadId);
  const run = await tx.run(threadId, runId);
  if (run === null) throw new ApiError("run_not_found", `Run with ID ${runId} not found`);
  return run;
}
