// The wait for a run's end, in whichever process the run executes.
import { isStorageFailure, retryWhileUnavailable } from "@holdpoint/base/storage-failure.ts";
import type { AgentContext } from "../context/context.ts";
import type { RunEnd } from "../ports/ports.ts";
import { DELETED, isGone, requireRun } from "./runs.ts";
import type { WaitResult } from "../context/services.ts";
import type { StartedRun } from "./accept/accept-run.ts";
import { storedEnd, withText } from "./run-result.ts";

export interface Waiting {
  readonly result: Promise<WaitResult>;
  /** Stops waiting after a disconnect. The run continues. */
  readonly leave: () => void;
}

/**
 * Waits for the end of a run, or returns a past end at once. Registers before it reads, so that no end is missed. Every
 * process receives the end of a queued run. For other runs, only processes that announced a waiter do.
 * @param accepted this call started the run, so a storage failure refuses nothing (storage-failure.ts)
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
  const readResult = async (): Promise<WaitResult | null> => {
    let found = await readEnd(agent, threadId, runId);
    if (found === "running") {
      if (!over) leaveWakes ??= agent.events.wakes.listen(runId, () => undefined);
      found = await readEnd(agent, threadId, runId); // it may have ended before the subscription took effect
    }
    return found === "running" || found === "pending" ? null : { kind: "ended", end: found };
  };
  const settle = (found: WaitResult | null): void => {
    if (found === null) return;
    waiting.leave();
    later.resolve(found);
  };
  try {
    settle(await readResult());
  } catch (error) {
    if (!accepted || !isStorageFailure(error)) {
      waiting.leave();
      throw error;
    }
    retryWhileUnavailable(agent.clock, readResult, () => over).then(settle, (failed) =>
      settle(isGone(failed) ? DELETED : null),
    );
  }
  return waiting;
}

export async function readEnd(
  agent: AgentContext,
  threadId: string,
  runId: string,
): Promise<RunEnd | "running" | "pending"> {
  const found = await agent.storage.read(async (tx) => {
    const run = await requireRun(tx, threadId, runId);
    return run.status === "running" || run.status === "pending" ? run.status : storedEnd(agent, tx, run);
  });
  return typeof found === "string" ? found : withText(found);
}

/** Waits for a run started by this call, or by an earlier one with the same Idempotency-Key. */
export async function waitForStarted(agent: AgentContext, { run, created }: StartedRun): Promise<Waiting> {
  // A run that has just started cannot have ended: that needs a commit in a later turn of the event loop. A queued run
  // can, in a process that is alone: a call in the same commit may have cancelled it and deleted its thread. With other
  // processes each transaction has a commit of its own, and the end of a queued run comes as a notice behind it.
  if (created && (run.status === "running" || !agent.worker.alone)) return agent.worker.ends.wait(run.runId);
  try {
    return await waitForRun(agent, run.threadId, run.runId, true);
  } catch (error) {
    if (!isGone(error)) throw error;
    return { result: Promise.resolve(DELETED), leave: () => undefined };
  }
}
