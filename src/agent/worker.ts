// Worker: claims runs, has the graphs run them, ends them, and tells those who wait.
// Invariants:
//   WK1. At most `slots` runs are in progress here; a freed slot takes the oldest run that may start.
//   WK2. Nobody is told of a pause, an end or a result before the commit that holds it.
//   WK3. A write that fails or is refused ends its own run and nothing else.
//   WK4. stop() claims nothing new, waits for what runs, and hands back what does not end in time.
import type { Clock } from "../base/clock.ts";
import { ApiError, describeError } from "../base/errors.ts";
import type { Service } from "../base/lifecycle.ts";
import type { Log } from "../base/log.ts";
import { endingOf, finishRun, handBack, type AbortReason, type Finished } from "./finish.ts";
import type { Run, WriteSet } from "./model.ts";
import type { GraphRunResult, Graphs, RunEnd, RunSink, Storage, Tx } from "./ports.ts";
import { createRunEnds, type RunEnds } from "./run-ends.ts";
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
  readonly clock: Clock;
  readonly log: Log;
  readonly onRunEnd: (run: Run, durationMs: number) => void;
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

export function createWorker(options: WorkerOptions, ports: WorkerPorts): Worker {
  const { storage, graphs, clock, log } = ports;
  const inProgress = new Map<string, { readonly abort: (reason: AbortReason) => void; readonly done: Promise<void> }>();
  const ends = createRunEnds();
  let free = options.slots;
  let claiming = false;
  let wakeAgain = false;
  let draining = false;
  const mayClaim = (): boolean => free > 0 && !draining;

  const slot = (): Slot => {
    let held = true;
    return {
      start(run, hasHistory) {
        held = false;
        begin(run, hasHistory);
      },
      release() {
        if (held) free++;
        held = false;
      },
    };
  };

  const begin = (run: Run, hasHistory: boolean): void => {
    const controller = new AbortController();
    const done = execute(run, hasHistory, controller).finally(() => {
      inProgress.delete(run.runId);
      free++;
      wake();
    });
    inProgress.set(run.runId, { abort: (reason) => controller.abort(reason), done });
  };

  const execute = async (run: Run, hasHistory: boolean, controller: AbortController): Promise<void> => {
    const startedAt = clock.monotonic();
    const sink = createSink(storage, run, controller);
    const stopTimer = clock.after(options.timeoutMs, () => controller.abort("timeout" satisfies AbortReason));
    const result = await graphs.run(run, sink, controller.signal, hasHistory);
    stopTimer();
    const reason = controller.signal.aborted ? (controller.signal.reason as AbortReason) : null;
    const finished = await finish(run, result, reason, sink);
    const durationMs = clock.monotonic() - startedAt;
    if (finished === null) {
      ends.gone(run.runId, reason === "shutdown" ? "handed_back" : "deleted");
      log.info("run_left", { run_id: run.runId, thread_id: run.threadId, reason });
      return;
    }
    const live = result.outcome.kind === "failed" || result.outcome.kind === "aborted" ? null : result.outcome.values;
    ends.ended(run.runId, (): RunEnd => ({
      run: finished.run,
      pause: finished.pause,
      interrupts: finished.interrupts,
      valuesText: graphs.wireText(live ?? {}),
    }));
    ports.onRunEnd(finished.run, durationMs);
    log.debug("run_ended", {
      run_id: run.runId,
      thread_id: run.threadId,
      graph_id: run.graphId,
      status: finished.run.status,
      ended_by: finished.run.endedBy,
      attempt: run.attempt,
      duration_ms: Math.round(durationMs),
    });
    if (finished.run.endedBy === "failure") {
      log.warning("run_failed", { run_id: run.runId, graph_id: run.graphId, ...finished.run.error });
    }
  };

  const finish = async (
    run: Run,
    result: GraphRunResult,
    reason: AbortReason | null,
    sink: OwnSink,
  ): Promise<Finished | null> => {
    if (reason === "deleted") return null;
    if (reason === "shutdown" && result.outcome.kind === "aborted") {
      await storage.transaction((tx) => handBackIfOurs(tx, run, result.rest)).catch(() => undefined);
      return null;
    }
    const ending = endingOf(result, reason);
    try {
      return await storage.transaction(async (tx) => {
        if (sink.failed()) throw new ApiError("storage_unavailable", "an earlier write of this run failed"); // WK3
        return finishRun(tx, run, result, ending, clock.now());
      });
    } catch (error) {
      log.error("run_not_stored", { run_id: run.runId, reason: describeError(error).message });
      return failUnstored(run, result);
    }
  };

  /** The end could not be stored. What can be is that it failed; where not even that can be, the next start finds the run. */
  const failUnstored = async (run: Run, result: GraphRunResult): Promise<Finished | null> => {
    const lost: GraphRunResult = {
      ...result,
      rest: NOTHING,
      checkpointId: null,
      overlay: null,
      outcome: { kind: "aborted" },
    };
    for (const delayMs of [0, 1000, 5000]) {
      if (delayMs > 0) await new Promise<void>((resolve) => void clock.after(delayMs, resolve));
      try {
        return await storage.transaction((tx) => finishRun(tx, run, lost, endingOf(lost, "write_failed"), clock.now()));
      } catch (error) {
        log.error("run_not_stored", { run_id: run.runId, reason: describeError(error).message });
      }
    }
    return null;
  };

  const handBackIfOurs = async (tx: Tx, run: Run, rest: WriteSet): Promise<void> => {
    if (await tx.putRunWrites(run.runId, run.attempt, rest)) {
      await handBack(tx, run, false, options.crashesMax, clock.now());
    }
  };

  const claimOne = async (): Promise<{ readonly run: Run; readonly hasHistory: boolean } | null> =>
    storage.transaction(async (tx) => {
      const run = await tx.nextPendingRun();
      if (run === null) return null;
      const at = clock.now();
      const patch = { status: nextRunStatus(run.status, "claim"), attempt: run.attempt + 1, updatedAt: at };
      await tx.updateRun(run.runId, patch);
      const thread = await tx.thread(run.threadId);
      if (thread !== null && thread.status !== "busy") await tx.takeThread(run.threadId, [thread.status], at);
      return { run: { ...run, ...patch }, hasHistory: thread?.checkpointId !== null || run.attempt > 0 };
    });

  const claim = async (): Promise<void> => {
    if (claiming) {
      wakeAgain = true;
      return;
    }
    claiming = true;
    try {
      do {
        wakeAgain = false;
        while (mayClaim()) {
          free--; // WK1
          const claimed = await claimOne().catch((error: unknown) => {
            log.error("claim_failed", { reason: describeError(error).message });
            clock.after(1000, wake);
            return null;
          });
          if (claimed === null) {
            free++;
            break;
          }
          begin(claimed.run, claimed.hasHistory);
        }
      } while (wakeAgain);
    } finally {
      claiming = false;
    }
  };
  const wake = (): void => {
    if (!draining) void claim();
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
      return found !== undefined;
    },
    async start() {
      const recovered = await storage.transaction(async (tx) => {
        const cut = await tx.runningRuns();
        for (const run of cut) await handBack(tx, run, true, options.crashesMax, clock.now());
        return cut.length;
      });
      if (recovered > 0) log.info("runs_taken_up_again", { runs: recovered });
      wake();
    },
    async stop() {
      draining = true; // WK4
      const all = [...inProgress.values()].map(({ done }) => done);
      const inTime = await Promise.race([
        Promise.all(all).then(() => true),
        new Promise<false>((resolve) => void clock.after(options.graceMs, () => resolve(false))),
      ]);
      if (inTime) return;
      for (const { abort } of inProgress.values()) abort("shutdown");
      await Promise.all([...inProgress.values()].map(({ done }) => done));
    },
  };
}

const NOTHING: WriteSet = { checkpoints: [], writes: [], blobs: [] };

interface OwnSink extends RunSink {
  readonly failed: () => boolean;
}

function createSink(storage: Storage, run: Run, controller: AbortController): OwnSink {
  let outstanding = false;
  let failed = false;
  const store = async (tx: Tx, take: () => WriteSet): Promise<void> => {
    outstanding = false;
    try {
      const set = take();
      if (set.checkpoints.length + set.writes.length === 0) return;
      if (await tx.putRunWrites(run.runId, run.attempt, set)) return;
      controller.abort("deleted" satisfies AbortReason);
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  const failing = (): void => {
    failed = true;
    controller.abort("write_failed" satisfies AbortReason);
  };
  return {
    failed: () => failed,
    soon(take) {
      if (outstanding) return;
      outstanding = true;
      storage.transactionSoon((tx) => store(tx, take)).catch(failing);
    },
    now: (take) => storage.transaction((tx) => store(tx, take)).catch(failing),
  };
}
