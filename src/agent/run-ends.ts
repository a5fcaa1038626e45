// Run ends: who waits for which run in this process, and what they are told.
import type { Run } from "./model.ts";
import type { Peers, RunEnd } from "./ports.ts";

/** Why the end of a run is not told here: it was deleted, handed back for the next process, or cannot be stored at present. */
export type GoneWhy = "deleted" | "handed_back" | "not_stored";

export type WaitResult =
  | { readonly kind: "ended"; readonly end: RunEnd }
  | { readonly kind: "gone"; readonly why: GoneWhy };

export interface RunEnds {
  /** Register before the run can end. @returns the promise, and a function for a caller that hangs up. */
  wait(runId: string): { readonly result: Promise<WaitResult>; readonly leave: () => void };
  /**
   * A run has ended in this process.
   * @param describe is called only when somebody waits
   * @param expected whoever waits may be in any process: it came through the queue, or never left it
   */
  ended(run: Pick<Run, "runId" | "threadId">, describe: () => RunEnd, expected?: boolean): void;
  gone(runId: string, why: GoneWhy): void;
  /** Runs that somebody waits for here. */
  readonly waited: () => readonly string[];
  readonly isWaited: (runId: string) => boolean;
  /** A call is being accepted that may wait for its run. @returns what to call when it was, or was refused. */
  expect(): () => void;
  /** Resolves when nobody waits here, or is about to. */
  idle(): Promise<void>;
  /** No end is told here any more: who waits, and whoever comes now, is told to ask the next process. */
  close(): void;
  /** A run has ended in another process. */
  endedElsewhere(runId: string, end: RunEnd): void;
  /** It was deleted there. */
  goneElsewhere(runId: string): void;
}

const CLOSED: WaitResult = { kind: "gone", why: "handed_back" };

/** @param peers hear of every end. */
export function createRunEnds(peers: Pick<Peers, "tell">): RunEnds {
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
  const tell = (runId: string, describe: () => WaitResult): void => {
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
      tell(runId, () => ({ kind: "ended", end: describe() }));
      peers.tell({ kind: "ended", runId, threadId, expected });
    },
    gone(runId, why) {
      tell(runId, () => ({ kind: "gone", why }));
      if (why === "deleted") peers.tell({ kind: "gone", runId });
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
        await new Promise((resolve) => setImmediate(resolve)); // whoever was accepted is waiting by then
      }
    },
    close() {
      closed = true;
      for (const runId of waiting.keys()) tell(runId, () => CLOSED);
    },
    goneElsewhere: (runId) => tell(runId, () => ({ kind: "gone", why: "deleted" })),
    endedElsewhere: (runId, end) => tell(runId, () => ({ kind: "ended", end })),
  };
}
