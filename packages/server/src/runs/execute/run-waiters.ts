// Run waiters: the callers that wait for a run in this process, and their results.
import type { Peers } from "../../ports/ports.ts";
import type { RunWaiters, WaitResult } from "../../context/services.ts";

const CLOSED: WaitResult = { kind: "gone", why: "requeued" };

/** @param peers receives a notice of every end */
export function createRunWaiters(peers: Pick<Peers, "notify">): RunWaiters {
  const waiting = new Map<string, Set<(result: WaitResult) => void>>();
  let expected = 0;
  let closed = false;
  let changed: PromiseWithResolvers<void> | null = null;
  const change = (): void => {
    changed?.resolve();
    changed = null;
  };
  const forget = (runId: string): void => {
    waiting.delete(runId);
    change();
  };
  const resolveAll = (runId: string, describe: () => WaitResult): void => {
    const listeners = waiting.get(runId);
    if (listeners === undefined) return;
    forget(runId);
    const result = describe();
    for (const listener of listeners) listener(result);
  };
  return {
    wait(runId) {
      if (closed) return { result: Promise.resolve(CLOSED), leave: () => undefined };
      const { promise, resolve } = Promise.withResolvers<WaitResult>();
      let listeners = waiting.get(runId);
      if (listeners === undefined) waiting.set(runId, (listeners = new Set()));
      listeners.add(resolve);
      const leave = (): void => {
        listeners.delete(resolve);
        if (listeners.size === 0 && waiting.get(runId) === listeners) forget(runId);
      };
      return { result: promise, leave };
    },
    ended({ runId, threadId }, describe, expected = false) {
      resolveAll(runId, () => ({ kind: "ended", end: describe() }));
      peers.notify({ kind: "ended", runId, threadId, expected });
    },
    gone(runId, why) {
      resolveAll(runId, () => ({ kind: "gone", why }));
      if (why === "deleted") peers.notify({ kind: "gone", runId });
    },
    waited: () => [...waiting.keys()],
    isWaited: (runId) => waiting.has(runId),
    expect() {
      expected++;
      return () => {
        expected--;
        change();
      };
    },
    async idle() {
      while (waiting.size + expected > 0) {
        await (changed ??= Promise.withResolvers()).promise;
        await new Promise((resolve) => setImmediate(resolve)); // accepted callers have registered by then
      }
    },
    close() {
      closed = true;
      for (const runId of waiting.keys()) resolveAll(runId, () => CLOSED);
    },
    goneElsewhere: (runId) => resolveAll(runId, () => ({ kind: "gone", why: "deleted" })),
    endedElsewhere: (runId, end) => resolveAll(runId, () => ({ kind: "ended", end })),
  };
}
