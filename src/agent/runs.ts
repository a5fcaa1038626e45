// Runs: waiting for one, reading and deleting them.
import { ApiError } from "../base/api-error.ts";
import type { Agent } from "./agent.ts";
import type { Fingerprint, Interrupt, Run, RunStatus } from "./model.ts";
import type { RunEnd, Tx } from "./ports.ts";
import type { WaitResult } from "./run-ends.ts";
import type { StartedRun } from "./start-run.ts";
import { isStorageFailure, readUntilBack } from "../base/storage-failure.ts";
import { isActive } from "./transitions.ts";

/** @throws {ApiError} `thread_not_found`, `run_not_found` */
export async function getRun(agent: Agent, threadId: string, runId: string): Promise<Run> {
  return agent.storage.look((tx) => requireRun(tx, threadId, runId));
}

/**
 * Newest first, read as they are taken: their inputs may be big. A run that comes meanwhile moves the others down the list,
 * and is not in it.
 * @throws {ApiError} `thread_not_found`
 */
export async function* listRuns(
  agent: Agent,
  threadId: string,
  query: { readonly limit: number; readonly offset: number; readonly status: RunStatus | null },
): AsyncGenerator<Run> {
  let last: string | null = null;
  for (let at = 0; at < query.limit; at += RUNS_AT_ONCE) {
    const limit = Math.min(RUNS_AT_ONCE, query.limit - at);
    const runs = await agent.storage.look(async (tx) => {
      if (at === 0) await requireThread(tx, threadId);
      return tx.runs(threadId, { ...query, limit, offset: query.offset + at });
    });
    for (const run of runs) {
      if (last !== null && run.runId >= last) continue;
      last = run.runId;
      yield run;
    }
    if (runs.length < limit) return;
  }
}

const RUNS_AT_ONCE = 10;

export interface Waiting {
  readonly result: Promise<WaitResult>;
  /** The caller hung up: the run goes on, nobody waits for it here. */
  readonly leave: () => void;
}

/**
 * Waits for a run to end, or tells at once how it did. Registers before it looks, so that no end is missed. The end of a
 * run that comes through the queue is told to every process; of another one, to those that have said that they wait.
 * @param accepted this call has started the run: a storage that fails now refuses nothing (storage-failure.ts, SF2)
 * @throws {ApiError} `thread_not_found`, `run_not_found`, `storage_unavailable` unless `accepted`
 */
export async function waitForRun(agent: Agent, threadId: string, runId: string, accepted = false): Promise<Waiting> {
  const { result, leave } = agent.worker.ends.wait(runId);
  const later = Promise.withResolvers<WaitResult>();
  let over = false;
  let leaveWakes: (() => void) | null = null;
  const end = (): void => {
    over = true;
    leaveWakes?.();
  };
  const waiting: Waiting = {
    result: Promise.race([result, later.promise]),
    leave() {
      end();
      leave();
    },
  };
  void result.then(end);
  /** Null while the run is active. */
  const look = async (): Promise<WaitResult | null> => {
    let found = await lookAtEnd(agent, threadId, runId);
    if (found === "running") {
      if (!over) leaveWakes ??= agent.events.wakes.listen(runId, () => undefined);
      found = await lookAtEnd(agent, threadId, runId); // it may have ended before that was heard
    }
    return found === "running" || found === "pending" ? null : { kind: "ended", end: found };
  };
  const settle = (found: WaitResult | null): void => {
    if (found === null) return;
    waiting.leave();
    later.resolve(found);
  };
  try {
    settle(await look());
  } catch (error) {
    if (!accepted || !isStorageFailure(error)) {
      waiting.leave();
      throw error;
    }
    readUntilBack(agent.clock, look, () => over).then(settle, (failed) => settle(isGone(failed) ? DELETED : null));
  }
  return waiting;
}

function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code.endsWith("_not_found");
}

/** What is left when neither the run nor its thread is there. */
const DELETED: WaitResult = { kind: "gone", why: "deleted" };

function lookAtEnd(agent: Agent, threadId: string, runId: string): Promise<RunEnd | "running" | "pending"> {
  return agent.storage.look(async (tx) => {
    const run = await requireRun(tx, threadId, runId);
    return run.status === "running" || run.status === "pending" ? run.status : storedEnd(agent, tx, run);
  });
}

/** Waits for a run that this call has started, or that an earlier one with its Idempotency-Key has. */
export async function waitForStarted(agent: Agent, { run, created }: StartedRun): Promise<Waiting> {
  // A run that has just begun cannot have ended: that needs a commit, which comes in a later turn of the event loop.
  // One that was only queued can: a call in the same commit may have cancelled it, and its thread may be gone with it.
  if (created && run.status === "running") return agent.worker.ends.wait(run.runId);
  try {
    return await waitForRun(agent, run.threadId, run.runId, true);
  } catch (error) {
    if (!isGone(error)) throw error;
    return { result: Promise.resolve(DELETED), leave: () => undefined };
  }
}

/** The end of a run as it was, although its thread may have gone on since. */
export async function storedEnd(agent: Agent, tx: Tx, run: Run): Promise<RunEnd> {
  const [asked, valuesText] = await Promise.all([
    run.pausedOn.length === 0 ? [] : tx.interrupts(run.threadId, null),
    storedValues(agent, tx, run),
  ]);
  const known = new Map(asked.map((interrupt) => [interrupt.interruptId, interrupt]));
  const interrupts = run.pausedOn
    .map((id) => known.get(id))
    .filter((interrupt): interrupt is Interrupt => interrupt !== undefined);
  return {
    run,
    interrupts,
    pause: run.endedBy !== "pause" ? null : interrupts.length > 0 ? "question" : "breakpoint",
    valuesText,
  };
}

async function storedValues(agent: Agent, tx: Tx, run: Run): Promise<string | null> {
  if (run.overlay !== null) return JSON.stringify(agent.graphs.toWire(run.overlay));
  return run.checkpointId === null ? null : valuesAt(agent, tx, run.threadId, run.checkpointId);
}

/** The state of a checkpoint as JSON text; null when there is no such checkpoint any more. */
export async function valuesAt(agent: Agent, tx: Tx, threadId: string, checkpointId: string): Promise<string | null> {
  const stored = await tx.checkpoint(threadId, "", checkpointId);
  const fingerprint = stored === null ? null : await fingerprintOf(agent, tx, stored.checkpoint.fingerprint);
  if (stored === null || fingerprint === null) return null;
  return (await agent.graphs.valuesOf(tx, stored, fingerprint)).text();
}

/** Mostly that of a graph that is deployed here. */
async function fingerprintOf(agent: Agent, tx: Tx, hash: string): Promise<Fingerprint | null> {
  const deployed = agent.graphs.list().find(({ fingerprint }) => fingerprint.hash === hash);
  return deployed?.fingerprint ?? tx.fingerprint(hash);
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

/** @throws {ApiError} `thread_not_found`, `run_not_found` */
export async function requireRun(tx: Tx, threadId: string, runId: string): Promise<Run> {
  const run = await tx.run(threadId, runId);
  if (run !== null) return run;
  await requireThread(tx, threadId);
  throw new ApiError("run_not_found", `Run with ID ${runId} not found`);
}
