// Worker: has claimed runs executed, each in a slot, and tells those who wait how they ended.
// Invariants:
//   worker.1. At most `slots` runs are in progress here; the transaction that ends a run claims the next one for its slot.
//   worker.2. Nobody is told of a pause, an end or a result before the commit that holds it.
//   worker.3. stop() claims nothing new, waits for what runs, and hands back what does not end in time. Where others have runs,
//        it waits as long for those that somebody waits for here. Who still waits then is told where to join.
//   worker.4. When the lease is lost, what is in progress here is another worker's: it is aborted, its writes are refused by
//        their attempt, and its callers wait for whoever has it then.
//   worker.6. After a crash, suspects execute alone (quarantine.ts), and are marked as alone before they begin: only what was
//        alone when its process died is counted (crash.ts).
//   worker.5. When a commit that claims gets no answer, its run may be this worker's without having been begun: it is looked for,
//        and handed back.
import { ApiError, describeError } from "../../../base/api-error.ts";
import type { Clock } from "../../../base/clock.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import { settlesWithin } from "../../../base/lifecycle.ts";
import type { Log } from "../../../base/log/log.ts";
import { type Claimed, beginClaimed, claimBy } from "./claim-run.ts";
import { causesOf, probationMs } from "../../model/crash-suspects.ts";
import type { EventHub } from "../../events/event-hub.ts";
import { FIRST_EVENT } from "../../events/event-log.ts";
import { metadataOf } from "../../events/synthetic-events.ts";
import { executeRun } from "./execute-run.ts";
import type { Interrupt, Run } from "../../model/model.ts";
import type { Notifier } from "../../webhooks/interrupt-notifier.ts";
import type { ChooseRun, Engine, Graphs, RunEnd, Slot, Storage, Tx } from "../../ports/ports.ts";
import { createQuarantine } from "./quarantine.ts";
import { createRunWaiters } from "./run-waiters.ts";
import type { AbortReason } from "./abort-reason.ts";
import { requeueRun } from "./requeue-run.ts";
import type { Worker } from "../../services.ts";
import { announcer } from "../../webhooks/run-ended-event.ts";

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
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
  readonly notifier: Notifier;
  readonly onRunEnd: (run: Run, durationMs: number) => void;
  /** Called after the commit with what waits for a person from then on. */
  readonly onWaiting: (items: readonly Interrupt[], metadata: JsonObject) => void;
}

export function createWorker(options: WorkerOptions, ports: WorkerPorts): Worker {
  const { storage, clock, log } = ports;
  const { queue, lease, peers } = ports.engine;
  const inProgress = new Map<string, { readonly abort: (reason: AbortReason) => void; readonly done: Promise<void> }>();
  /** Runs that a transaction has claimed and that have not begun; a cancellation in between is kept for them. */
  const aboutToBegin = new Map<string, AbortReason | null>();
  const ends = createRunWaiters(peers);
  const quarantine = createQuarantine(clock, () => queue.slotFree());
  let free = options.slots;
  let draining = false;
  /** Runs that are ours by their rows and were not begun here, as the last look found them; null when no look is due. */
  let notBegun: ReadonlySet<string> | null = null;

  const claimFailed = (error: unknown): void => {
    if (error instanceof ApiError && error.code === "commit_unknown") notBegun ??= new Set();
  };

  const reserve = (): Slot | null => {
    if (free === 0 || draining || !lease.holds() || !quarantine.isOpen()) return null;
    free--; // worker.1
    let held = true;
    const release = (): void => {
      if (held) giveBack();
      held = false;
    };
    const start = (claimed: Claimed): void => {
      held = false;
      begin(claimed);
    };
    return {
      release,
      start: (run, history) => start({ run, history, eventStart: FIRST_EVENT, cancelled: null, direct: true }),
      async claim(choose) {
        const chosen = new Set<string>();
        try {
          const claimed = await storage.transaction((tx) => claim(tx, choose, chosen));
          if (claimed !== null) start(claimed);
          return claimed !== null;
        } catch (error) {
          claimFailed(error);
          throw error;
        } finally {
          for (const runId of chosen) aboutToBegin.delete(runId); // it has begun, or was not claimed after all
          release();
        }
      },
    };
  };

  const giveBack = (): void => {
    free++;
    queue.slotFree();
  };

  /** One slot's life: a run, and then whatever the end of that run has claimed. */
  const begin = (claimed: Claimed): void => {
    const { run, cancelled } = claimed;
    const controller = new AbortController();
    const early = aboutToBegin.get(run.runId) ?? cancelled;
    aboutToBegin.delete(run.runId);
    if (early !== null) controller.abort(early satisfies AbortReason);
    const done = execute(claimed, controller).then((next) => {
      if (inProgress.get(run.runId) === entry) inProgress.delete(run.runId); // it may be here again, in another attempt
      quarantine.left(run.runId);
      if (next === null) giveBack();
      else begin(next);
    });
    const entry = { abort: (reason: AbortReason) => controller.abort(reason), done };
    inProgress.set(run.runId, entry);
  };

  /** worker.6. @returns what ends the probation. */
  const beginAlone = async (run: Run): Promise<() => void> => {
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
        later(MARK_AGAIN_MS); // until then it stays alone
      }
    };
    const later = (ms: number): void => {
      const stop = clock.after(ms, () => void unmark());
      probation.signal.addEventListener("abort", stop, { once: true });
    };
    await mark(1).catch((error: unknown) => log.debug("run_not_marked", { reason: describeError(error).message }));
    later(probationMs(run));
    log.info("run_alone", { run_id: run.runId, for_ms: probationMs(run) });
    return () => probation.abort();
  };

  const execute = async (claimed: Claimed, controller: AbortController): Promise<Claimed | null> => {
    const { run, history } = claimed;
    const admission = quarantine.admit(run, controller.signal);
    const endProbation = admission !== null && (await admission) ? await beginAlone(run) : null;
    const startedAt = clock.monotonic();
    const stopTimer = clock.after(options.timeoutMs, () => controller.abort("timeout" satisfies AbortReason));
    const eventLog = ports.events.open(run, claimed.eventStart);
    eventLog.append(metadataOf(run));
    const executed = await executeRun(run, history, controller, {
      ...ports,
      eventLog,
      crashesMax: options.crashesMax,
      claimNext: (tx) => (draining || !quarantine.isOpen(run.runId) ? null : claim(tx, queue.next)),
      mayGoOn: lease.holds,
      leaveMs: claimed.direct || peers.alone ? 0 : LEAVE_MS,
      onGraphEnd: stopTimer,
      alone: peers.alone,
      onFailure: claimFailed,
      onUnstored() {
        eventLog.append({ name: "error", data: JSON.stringify(UNSTORED) });
        ends.gone(run.runId, "not_stored");
      },
      isDraining: () => draining,
    });
    stopTimer();
    endProbation?.();
    const { finished, valuesText, left } = executed;
    ports.events.close(eventLog);
    if (finished === null) {
      if (left === "deleted") eventLog.take({ events: [DELETED], text: "{}", goneAt: 0 }).settle();
      if (left === "taken_over") {
        ports.engine.wakes.wake(run.runId); // its readers go on with what is stored: worker.4
        if (peers.alone) queue.wake(); // it is in the queue again
      } else ends.gone(run.runId, left);
      log.info("run_left", { run_id: run.runId, thread_id: run.threadId, left });
      return executed.next;
    }
    const { run: ended, pause, interrupts } = finished;
    ports.onWaiting(finished.pending, finished.metadata); // worker.2
    ends.ended(run, (): RunEnd => ({ run: ended, pause, interrupts, valuesText: valuesText() }), !claimed.direct);
    const durationMs = clock.monotonic() - startedAt;
    ports.onRunEnd(ended, durationMs);
    const { status, endedBy, attempt, graphId } = ended;
    const ids = { run_id: run.runId, thread_id: run.threadId, graph_id: graphId };
    log.debug("run_ended", { ...ids, status, ended_by: endedBy, attempt, duration_ms: Math.round(durationMs) });
    if (endedBy === "failure") log.warning("run_failed", { ...ids, ...ended.error });
    return executed.next;
  };

  const claim = async (tx: Tx, choose: ChooseRun, chosen?: Set<string>): Promise<Claimed | null> => {
    const claimed = await choose(tx, claimBy(lease.workerId(), clock.now()));
    if (claimed === null) return null;
    aboutToBegin.set(claimed.run.runId, null);
    chosen?.add(claimed.run.runId);
    return beginClaimed(tx, claimed);
  };

  /**
   * Takes up again what a worker left behind that is no more.
   * @param workerId all that is running when left out
   * @param lives its process does: it has only lost its lease
   */
  const recover = async (tx: Tx, workerId?: string, lives = false): Promise<readonly Run[]> => {
    const announce = announcer(ports.graphs, () => null);
    const handedBack: Run[] = [];
    const runs = await tx.runningRuns(workerId);
    const causes = causesOf(runs);
    for (const run of runs) {
      const cause = lives ? "stopped" : (causes.get(run.runId) ?? "suspicion");
      handedBack.push(await requeueRun(tx, run, { cause, crashesMax: options.crashesMax, at: clock.now(), announce }));
      await ports.events.storeLateEnding(tx, handedBack.at(-1) ?? run);
    }
    return handedBack;
  };

  /** worker.5. A run that has only just been claimed is found by one look, and not by the next. */
  const handBackUnbegun = async (seen: ReadonlySet<string>): Promise<void> => {
    const workerId = lease.workerId();
    const found = new Set<string>();
    if (workerId !== null) {
      await storage.transaction(async (tx) => {
        for (const run of await tx.runningRuns(workerId)) {
          if (inProgress.has(run.runId)) continue;
          found.add(run.runId);
          if (!seen.has(run.runId)) continue;
          const announce = announcer(ports.graphs, () => null);
          await requeueRun(tx, run, { cause: "stopped", crashesMax: options.crashesMax, at: clock.now(), announce });
        }
      });
    }
    notBegun = [...found].every((runId) => seen.has(runId)) ? null : found;
  };

  /** @returns false when no worker is dead. */
  const takeOver = async (leaseMs: number, own: string | null = null): Promise<boolean> => {
    if (notBegun !== null && own === null) await handBackUnbegun(notBegun);
    const found = await storage.transaction(async (tx) => {
      const workerId = await tx.deadWorker(leaseMs, own);
      if (workerId === null) return null;
      const runs = await recover(tx, workerId, own !== null);
      await tx.removeWorker(workerId);
      return { workerId, runs };
    });
    if (found === null) return false;
    log.warning("worker_lost", { worker: found.workerId, runs: found.runs.map(({ runId }) => runId) });
    for (const { runId, threadId } of found.runs) peers.tell({ kind: "ended", runId, threadId, expected: true });
    queue.wake();
    return true;
  };

  const abortAll = (reason: AbortReason): void => {
    for (const { abort } of inProgress.values()) abort(reason);
  };

  const abortHere: Worker["abort"] = (runId, reason) => {
    const found = inProgress.get(runId);
    found?.abort(reason);
    if (found !== undefined || !aboutToBegin.has(runId)) return found !== undefined;
    aboutToBegin.set(runId, reason);
    return true;
  };

  return {
    name: "worker",
    ends,
    reserve: () => (queue.mayStartDirectly() ? reserve() : null),
    wake: queue.wake,
    claimFailed,
    id: lease.workerId,
    here: () => [...inProgress.keys()],
    draining: () => draining,
    running: () => options.slots - free,
    alone: peers.alone,
    abortHere,
    abort(runId, reason) {
      if (abortHere(runId, reason)) return true;
      peers.tell({ kind: "abort", runId, reason });
      return false;
    },
    async start() {
      lease.watch({ onLost: () => abortAll("taken_over"), onHeld: () => queue.slotFree(), takeOver });
      if (peers.alone) {
        const recovered = await storage.transaction((tx) => recover(tx));
        if (recovered.length > 0) log.info("runs_taken_up_again", { runs: recovered.length });
      }
      if (options.slots > 0) await queue.start({ reserve });
    },
    async stop() {
      draining = true; // worker.3
      let stopTimer: () => void = () => undefined;
      const late = new Promise<false>((resolve) => {
        stopTimer = clock.after(options.graceMs, () => resolve(false));
      });
      await Promise.race([queue.stop(), late]);
      const settled = (): Promise<unknown> => Promise.all([...inProgress.values()].map(({ done }) => done));
      const quiet = peers.alone ? settled() : Promise.all([settled(), ends.idle()]);
      const inTime = await Promise.race([quiet.then(() => true), late]);
      stopTimer();
      if (!inTime) abortAll("shutdown");
      if (!(await settlesWithin(settled(), HAND_BACK_MS))) {
        log.warning("runs_not_handed_back", { runs: [...inProgress.keys()] }); // found as those of a dead process
      }
      ends.close();
    },
  };
}

const MARK_AGAIN_MS = 1000;

/** Handing back is one transaction a run; a storage that does not answer is not waited for. */
const HAND_BACK_MS = 3000;

/** How long the thread of a stateless run outlives a run that ended in another process than that of its caller. */
const LEAVE_MS = 60_000;

const DELETED = { name: "error", data: JSON.stringify({ error: "Deleted", message: "the thread was deleted" }) };
const UNSTORED = { error: "StorageError", message: "what the run wrote cannot be stored at present" };
