import { isStorageFailure, readUntilBack } from "../../base/storage-failure.ts";
import type { AgentContext } from "../context.ts";
import type { RunEnd } from "../ports/ports.ts";
import { DELETED, isGone, requireRun } from "./runs.ts";
import type { WaitResult } from "../services.ts";
import type { StartedRun } from "./accept/start-run.ts";
import { storedEnd } from "./run-result.ts";

export interface Waiting {
  readonly result: Promise<WaitResult>;
  /** The caller hung up: the run goes on, nobody waits for it here. */
  readonly leave: () => void;
}

/**
 * Waits for a run to end, or tells at once how it did. Registers before it looks, so that no end is missed. The end of a
 * run that comes through the queue is told to every process; of another one, to those that have said that they wait.
 * @param accepted this call has started the run: a storage that fails now refuses nothing (storage-failure.ts, storage-failure.2)
 * @throws {ApiError} `thread_not_found`, `run_not_found`, `storage_unavailable` unless `accepted`
 */
export async function waitForRun(
  agent: AgentContext,
  threadId: string,
  runId: string,
  accepted = false,
): Promise<Waiting> {
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

export function lookAtEnd(
  agent: AgentContext,
  threadId: string,
  runId: string,
): Promise<RunEnd | "running" | "pending"> {
  return agent.storage.read(async (tx) => {
    const run = await requireRun(tx, threadId, runId);
    return run.status === "running" || run.status === "pending" ? run.status : storedEnd(agent, tx, run);
  });
}

/** Waits for a run that this call has started, or that an earlier one with its Idempotency-Key has. */
export async function waitForStarted(agent: AgentContext, { run, created }: StartedRun): Promise<Waiting> {
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
