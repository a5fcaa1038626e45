// Worker: claims runs, has them executed, and tells those who wait how they ended.
// Invariants:
//   WK1. At most `slots` runs are in progress here; the transaction that ends a run claims the next one for its slot.
//   WK2. Nobody is told of a pause, an end or a result before the commit that holds it.
//   WK3. stop() claims nothing new, waits for what runs, and hands back what does not end in time.
//   WK4. A delayed run is claimed when it is due: a claim that finds nothing sets a timer for the next one.
import type { Clock } from "../base/clock.ts";
import { describeError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Service } from "../base/lifecycle.ts";
import type { Log } from "../base/log.ts";
import type { EventHub } from "./events/hub.ts";
import { FIRST_EVENT } from "./events/log.ts";
import { metadataOf } from "./events/made-up.ts";
import { eventStart } from "./events/start.ts";
import { executeRun, type Claimed } from "./execute-run.ts";
import { handBack, type AbortReason } from "./finish.ts";
import type { Interrupt, Run } from "./model.ts";
import type { Graphs, RunEnd, Storage, Tx } from "./ports.ts";
import { createRunEnds, type RunEnds } from "./run-ends.ts";
import { announcer } from "./webhook-event.ts";
import { nextRunStatus } from "./transitions.ts";

export interface WorkerOptions {
  readonly slots: number;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly crashesMax: number;
}

export interface WorkerPorts {
  readonly storage: Storage;
  readonly graphs: Graphs;
  readonly events: EventHub;
  readonly clock: Clock;
  readonly log: Log;
  readonly onRunEnd: (run: Run, durationMs: number) => void;
  /** Called after the commit with what waits for a person from then on. */
  readonly onWaiting: (items: readonly Interrupt[], metadata: JsonObject) => void;
}

export interface Worker extends Service {
  /** A free slot for a run that is about to be accepted, or null. */
  reserve(): Slot | null;
  /** There may be something to claim. */
  wake(): void;
  /** Ends a run that is in progress here; false when it is not. */
  abort(runId: string, reason: AbortReason): boolean;
  readonly ends: RunEnds;
  readonly draining: () => boolean;
  readonly running: () => number;
}

export interface Slot {
  /** Starts a run that was stored as running. */
  start(run: Run, hasHistory: boolean): void;
  release(): void;
}

const CLAIM_AGAIN_MS = 1000;
const DUE_WAIT_MS_MAX = 60 * 60 * 1000;

export function createWorker(options: WorkerOptions, ports: WorkerPorts): Worker {
  const { storage, clock, log } = ports;
  const inProgress = new Map<string, { readonly abort: (reason: AbortReason) => void; readonly done: Promise<void> }>();
  /** Runs that a transaction has claimed and that have not begun; a cancellation in between is kept for them. */
  const aboutToBegin = new Map<string, AbortReason | null>();
  const ends = createRunEnds();
  let free = options.slots;
  let claiming = false;
  let maybePending = true;
  let draining = false;
  let stopDueTimer: () => void = () => undefined;

  const slot = (): Slot => {
    let held = true;
    return {
      start(run, hasHistory) {
        held = false;
        begin({ run, hasHistory, eventStart: FIRST_EVENT, cancelled: null });
      },
      release() {
        if (held) giveBack();
        held = false;
      },
    };
  };

  const giveBack = (): void => {
    free++;
    if (maybePending) wake();
  };

  /** One slot's life: a run, and then whatever the end of that run has claimed. */
  const begin = (claimed: Claimed): void => {
    const { run, cancelled } = claimed;
    const controller = new AbortController();
    const early = aboutToBegin.get(run.runId) ?? cancelled;
    aboutToBegin.delete(run.runId);
    if (early !== null) controller.abort(early satisfies AbortReason);
    const done = execute(claimed, controller).then((next) => {
      inProgress.delete(run.runId);
      if (next === null) giveBack();
      else begin(next);
    });
    inProgress.set(run.runId, { abort: (reason) => controller.abort(reason), done });
  };

  const execute = async (claimed: Claimed, controller: AbortController): Promise<Claimed | null> => {
    const { run, hasHistory } = claimed;
    const startedAt = clock.monotonic();
    const stopTimer = clock.after(options.timeoutMs, () => controller.abort("timeout" satisfies AbortReason));
    const eventLog = ports.events.open(run, claimed.eventStart);
    eventLog.append(metadataOf(run));
    const executed = await executeRun(run, hasHistory, controller, {
      ...ports,
      eventLog,
      crashesMax: options.crashesMax,
      claimNext: (tx) => (draining ? null : claimNext(tx)),
      onGraphEnd: stopTimer,
      onUnstored() {
        eventLog.append({ name: "error", data: JSON.stringify(UNSTORED) });
        ends.gone(run.runId, "not_stored");
      },
      isDraining: () => draining,
    });
    stopTimer();
    const { finished, values, left } = executed;
    ports.events.close(eventLog);
    if (finished === null) {
      if (left === "deleted") eventLog.take({ events: [DELETED], text: "{}", goneAt: 0 }).settle();
      ends.gone(run.runId, left);
      log.info("run_left", { run_id: run.runId, thread_id: run.threadId, left });
      return executed.next;
    }
    const { run: ended, pause, interrupts } = finished;
    ports.onWaiting(finished.waiting, finished.metadata); // WK2
    ends.ended(run.runId, (): RunEnd => ({ run: ended, pause, interrupts, valuesText: ports.graphs.wireText(values) }));
    const durationMs = clock.monotonic() - startedAt;
    ports.onRunEnd(ended, durationMs);
    const { status, endedBy, attempt, graphId } = ended;
    const ids = { run_id: run.runId, thread_id: run.threadId, graph_id: graphId };
    log.debug("run_ended", { ...ids, status, ended_by: endedBy, attempt, duration_ms: Math.round(durationMs) });
    if (endedBy === "failure") log.warning("run_failed", { ...ids, ...ended.error });
    return executed.next;
  };

  const claimNext = async (tx: Tx): Promise<Claimed | null> => {
    const at = clock.now();
    const run = await tx.nextPendingRun(at);
    if (run === null) {
      wakeAt(await tx.nextDueAt(), at);
      return null;
    }
    const patch = { status: nextRunStatus(run.status, "claim"), attempt: run.attempt + 1, updatedAt: at };
    await tx.updateRun(run.runId, patch);
    const thread = await tx.thread(run.threadId);
    if (thread !== null && thread.status !== "busy")
      await tx.takeThread(run.threadId, thread.status, { updatedAt: at });
    if (thread !== null && (thread.graphId !== run.graphId || thread.assistantId !== run.assistantId)) {
      await tx.updateThread(run.threadId, { graphId: run.graphId, assistantId: run.assistantId });
    }
    aboutToBegin.set(run.runId, null);
    const cancelled = run.attempt === 0 ? null : await cancellationOf(tx, run);
    const hasHistory = thread?.checkpointId !== null || run.attempt > 0;
    return { run: { ...run, ...patch }, hasHistory, eventStart: await eventStart(tx, run), cancelled };
  };

  /** WK4. The wait is on the clock that never jumps: it is cut in parts, so that a wall clock set forward is noticed. */
  const wakeAt = (dueAt: number | null, now: number): void => {
    stopDueTimer();
    if (dueAt === null || draining) return;
    stopDueTimer = clock.after(Math.min(Math.max(dueAt - now, 0), DUE_WAIT_MS_MAX), wake);
  };

  const mayClaim = (): boolean => free > 0 && maybePending && !draining;

  const claim = async (): Promise<void> => {
    if (claiming) return;
    claiming = true;
    try {
      while (mayClaim()) {
        maybePending = false;
        free--; // WK1
        const claimed = await storage.transaction(claimNext).catch((error: unknown) => {
          log.error("claim_failed", { reason: describeError(error).message });
          clock.after(CLAIM_AGAIN_MS, wake);
          return null;
        });
        if (claimed === null) {
          free++;
          continue;
        }
        maybePending = true;
        begin(claimed);
      }
    } finally {
      claiming = false;
    }
  };

  const wake = (): void => {
    maybePending = true;
    void claim();
  };

  return {
    name: "worker",
    ends,
    wake,
    draining: () => draining,
    running: () => options.slots - free,
    reserve() {
      if (free === 0 || draining) return null;
      free--;
      return slot();
    },
    abort(runId, reason) {
      const found = inProgress.get(runId);
      found?.abort(reason);
      if (found !== undefined || !aboutToBegin.has(runId)) return found !== undefined;
      aboutToBegin.set(runId, reason);
      return true;
    },
    async start() {
      const recovered = await storage.transaction(async (tx) => {
        const cut = await tx.runningRuns();
        const announce = announcer(ports.graphs, () => null);
        for (const run of cut) {
          const handedBack = await handBack(tx, run, true, options.crashesMax, clock.now(), announce);
          await ports.events.storeLateEnding(tx, handedBack);
        }
        return cut.length;
      });
      if (recovered > 0) log.info("runs_taken_up_again", { runs: recovered });
      wake();
    },
    async stop() {
      draining = true; // WK3
      stopDueTimer();
      const settled = (): Promise<unknown> => Promise.all([...inProgress.values()].map(({ done }) => done));
      let stopTimer: () => void = () => undefined;
      const inTime = await Promise.race([
        settled().then(() => true),
        new Promise<false>((resolve) => {
          stopTimer = clock.after(options.graceMs, () => resolve(false));
        }),
      ]);
      stopTimer();
      if (inTime) return;
      for (const { abort } of inProgress.values()) abort("shutdown");
      await settled();
    },
  };
}

const DELETED = { name: "error", data: JSON.stringify({ error: "Deleted", message: "the thread was deleted" }) };
const UNSTORED = { error: "StorageError", message: "what the run wrote cannot be stored at present" };

/** A cancellation was acknowledged when it was on record, also if the process died before the run ended. */
async function cancellationOf(tx: Tx, run: Run): Promise<"cancel" | "rollback" | null> {
  const entry = (await tx.auditOf(run.threadId)).findLast(
    ({ action, runId }) => action === "cancelled" && runId === run.runId,
  );
  return entry === undefined ? null : entry.value === "rollback" ? "rollback" : "cancel";
}
