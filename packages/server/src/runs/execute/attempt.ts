// Attempt: executes one claimed run in its slot, and publishes its end after the commit.
import { setImmediate } from "node:timers/promises";
import { buildMetadata } from "../../events/synthetic-events.ts";
import type { ClaimTx, RunEnd, Awaitable } from "../../ports/ports.ts";
import type { RunWaiters } from "../../context/services.ts";
import type { AbortReason } from "./abort-reason.ts";
import type { Claimed } from "./claim-run.ts";
import { type Executed, executeRun } from "./execute-run.ts";
import type { WorkerOptions, WorkerPorts } from "./execution-ports.ts";
import type { Finished } from "./finish-run.ts";
import type { MemoryTurns } from "./memory-turns.ts";
import type { Quarantine } from "./quarantine.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import { probationMs } from "../../model/crash-suspects.ts";
import type { Run } from "../../model/model.ts";

export interface AttemptPorts extends WorkerPorts {
  readonly options: WorkerOptions;
  readonly ends: RunWaiters;
  /** Reports a failed transaction that ends the run and claims the next. */
  readonly onFailure: (error: unknown) => void;
  readonly quarantine: Quarantine;
  readonly memory: MemoryTurns;
  readonly isDraining: () => boolean;
  /** Claims the next run for the slot. */
  readonly claimNext: (tx: ClaimTx) => Awaitable<Claimed | null>;
}

/** @returns the next run of the slot, claimed with the end of this one */
export async function executeAttempt(
  claimed: Claimed,
  controller: AbortController,
  ports: AttemptPorts,
): Promise<Claimed | null> {
  const { run, history } = claimed;
  const { clock, engine, options, quarantine, ends } = ports;
  const admission = quarantine.admit(run, controller.signal);
  const endProbation = admission !== null && (await admission) ? await beginProbation(run, ports) : null;
  const startedAt = clock.monotonic();
  const stopTimer = clock.after(options.timeoutMs, () => controller.abort("timeout" satisfies AbortReason));
  const eventLog = ports.events.open(run, claimed.eventStart);
  if (claimed.eventStart.isBegun) await showBegin(run, ports);
  else eventLog.append(buildMetadata(run));
  const executed = await executeRun(run, history, controller, {
    ...ports,
    eventLog,
    crashesMax: options.crashesMax,
    askAgainMax: options.askAgainMax,
    mayContinue: engine.lease.holds,
    holdsState: (size) => ports.memory.hold(run.runId, size),
    leaveMs: () => (eventLog.needsStored() ? LEAVE_READERS_MS : claimed.direct || engine.peers.alone ? 0 : LEAVE_MS),
    onGraphEnd: stopTimer,
    onUnstored() {
      eventLog.append({ name: "error", data: JSON.stringify(UNSTORED) });
      ends.gone(run.runId, "not_stored");
    },
  });
  stopTimer();
  endProbation?.();
  ports.events.close(eventLog);
  if (executed.finished === null) {
    if (executed.left === "deleted") eventLog.drain({ events: [DELETED], text: "{}", goneAt: 0 }).committed();
    publishDeparture(claimed, executed.left, ports);
  } else
    publishEnd(claimed, { ...executed, finished: executed.finished, durationMs: clock.monotonic() - startedAt }, ports);
  if (executed.next === null && executed.finished?.freesRun === true) engine.queue.wake();
  return executed.next;
}

/**
 * Wakes the readers of the thread. They read the stored begin before the graph starts: its first step
 * keeps the event loop busy for milliseconds, and their read would join its first commit.
 */
async function showBegin({ threadId }: Claimed["run"], { events: { wakes } }: AttemptPorts): Promise<void> {
  wakes.wake(threadId);
  if (wakes.listeners(threadId) === 0) return;
  await setImmediate(); // the readers ask for the row
  await setImmediate(); // they have read it
}

/** The run did not end here: it was deleted, requeued or taken over, or its end is not stored. */
function publishDeparture({ run }: Claimed, left: Executed["left"], { engine, ends, log }: AttemptPorts): void {
  if (left === "taken_over") engine.wakes.wake(run.runId); // readers continue with the stored events
  else ends.gone(run.runId, left);
  if (left === "taken_over" || left === "requeued") engine.queue.wake();
  log.info("run_left", { run_id: run.runId, thread_id: run.threadId, left });
}

function publishEnd(
  { run, direct }: Claimed,
  ended: Pick<Executed, "byPolicy" | "refused" | "valuesText"> & {
    readonly finished: Finished;
    readonly durationMs: number;
  },
  ports: AttemptPorts,
): void {
  const { finished, refused = [], valuesText, durationMs } = ended;
  const { run: after, pause, interrupts } = finished;
  ports.onPending(finished.pending, finished.metadata);
  const describe = (): RunEnd => ({ run: after, pause, interrupts, valuesText: valuesText() });
  ports.ends.ended(run, describe, !direct);
  ended.byPolicy?.publish();
  for (const other of refused)
    ports.ends.ended(other, () => ({ run: other, valuesText: null, interrupts: [], pause: null }), true);
  ports.onRunEnd(after, durationMs, finished.hasWebhooks || refused.length > 0);
  const { status, endedBy, attempt, graphId } = after;
  const ids = { run_id: run.runId, thread_id: run.threadId, graph_id: graphId };
  ports.log.debug("run_ended", { ...ids, status, ended_by: endedBy, attempt, duration_ms: Math.round(durationMs) });
  if (endedBy === "failure") ports.log.warning("run_failed", { ...ids, ...after.error });
}

/** Delay before the thread of a stateless run is deleted, if its caller may be in another process. */
const LEAVE_MS = 60_000;
/** And if a reader in this process may be behind: the rest of a long stream is in the storage alone. */
const LEAVE_READERS_MS = 10 * 60_000;

const DELETED = { name: "error", data: JSON.stringify({ error: "Deleted", message: "the thread was deleted" }) };
const UNSTORED = { error: "StorageError", message: "the writes of the run cannot be stored at present" };

const MARK_AGAIN_MS = 1000;

/**
 * Marks a suspect as alone before it starts, and clears the mark after its probation (crash-suspects.3).
 * @returns a function that ends the probation with the run
 */
async function beginProbation(
  run: Run,
  { storage, clock, log, quarantine }: WorkerPorts & { readonly quarantine: Quarantine },
): Promise<() => void> {
  const probation = new AbortController();
  const mark = (alone: 0 | 1): Promise<void> =>
    storage.transaction(async (tx) => {
      if (await tx.isCurrent(run)) await tx.updateRun(run.runId, { alone });
    });
  const unmark = async (): Promise<void> => {
    if (probation.signal.aborted) return;
    try {
      await mark(0);
      quarantine.proved(run.runId);
    } catch {
      unmarkAfter(MARK_AGAIN_MS); // until then it stays alone
    }
  };
  const unmarkAfter = (ms: number): void => {
    const stop = clock.after(ms, () => void unmark());
    probation.signal.addEventListener("abort", stop, { once: true });
  };
  await mark(1).catch((error: unknown) =>
    log.debug("quarantine_mark_failed", { run_id: run.runId, reason: describeError(error).message }),
  );
  unmarkAfter(probationMs(run));
  log.info("run_quarantined", { run_id: run.runId, for_ms: probationMs(run) });
  return () => probation.abort();
}
