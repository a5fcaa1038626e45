// Hub: the logs of the runs that are in progress in this process, and the wakes of those who read them.
// Invariants:
//   HU1. Readers are woken once a turn of the event loop, however many events came about in it.
//   HU2. After stop() every reader is cut off, so that it comes again to whoever has the run then.
import type { Service } from "../../base/lifecycle.ts";
import type { Run } from "../model.ts";
import type { Wakes } from "../ports.ts";
import { createEventLog, type EventLog } from "./log.ts";

export interface EventHub extends Service {
  /** The log of an attempt that begins. @param firstId the id of its first event */
  open(run: Run, firstId: number): EventLog;
  /** The run is in progress here no more. */
  close(log: EventLog): void;
  log(runId: string): EventLog | null;
  readonly wakes: Wakes;
  readonly stopped: () => boolean;
  /** Calls back when the hub stops. @returns the way to be called no more. */
  onStop(callback: () => void): () => void;
}

export function createEventHub(wakes: Wakes): EventHub {
  const logs = new Map<string, EventLog>();
  let fresh = new Set<EventLog>();
  const onStop = new Set<() => void>();
  let stopped = false;
  const wakeAll = (): void => {
    const woken = fresh;
    fresh = new Set();
    for (const log of woken) {
      log.seal();
      wakes.wake(log.runId);
      wakes.wake(log.threadId);
    }
  };
  return {
    name: "streams",
    wakes,
    stopped: () => stopped,
    log: (runId) => logs.get(runId) ?? null,
    open(run, firstId) {
      const isWatched = (): boolean => wakes.hasListeners(run.runId) || wakes.hasListeners(run.threadId);
      const log = createEventLog(run, firstId, isWatched, () => {
        if (!isWatched()) return;
        if (fresh.size === 0) setImmediate(wakeAll); // HU1
        fresh.add(log);
      });
      logs.set(run.runId, log);
      return log;
    },
    close(log) {
      if (logs.get(log.runId) === log) logs.delete(log.runId);
    },
    onStop(callback) {
      onStop.add(callback);
      return () => onStop.delete(callback);
    },
    start: () => Promise.resolve(),
    async stop() {
      stopped = true; // HU2
      for (const callback of onStop) callback();
    },
  };
}
