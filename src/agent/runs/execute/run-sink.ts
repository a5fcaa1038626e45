import type { Taken } from "../../events/event-log.ts";
import type { Run, WriteSet } from "../../model/model.ts";
import { EMPTY_WRITE_SET } from "../../model/empty-write-set.ts";
import type { RunSink, Tx } from "../../ports/ports.ts";
import type { AbortReason } from "./abort-reason.ts";
import type { ExecutePorts } from "./execution-ports.ts";

export function settle(taken: Taken | null): void {
  taken?.settle();
}

export function giveBack(taken: Taken | null): void {
  taken?.giveBack();
}

/** Why the run is not in this attempt any more. */
export async function whyRefused(tx: Tx, run: Run): Promise<"deleted" | "taken_over"> {
  return (await tx.run(run.threadId, run.runId)) === null ? "deleted" : "taken_over";
}

export interface OwnSink extends RunSink {
  /** @throws what an earlier write of this run failed with. */
  readonly check: () => void;
  /** A checkpoint of this attempt is stored. */
  readonly progressed: () => boolean;
  /** The graph has ended, and its rest was taken: the events that refer to it go with it. */
  readonly close: () => void;
}

export function createSink(
  run: Run,
  controller: AbortController,
  { storage, events, eventLog, mayGoOn }: ExecutePorts,
): OwnSink {
  let outstanding = false;
  let progressed = false;
  let failure: { readonly reason: unknown } | null = null;
  const check = (): void => {
    if (failure !== null) throw failure.reason;
  };
  let takeLast: () => WriteSet = () => EMPTY_WRITE_SET;
  let flushing = false;
  let closed = false;
  /**
   * Stores what the graph has written, and then the events up to that moment: none may refer to a state that comes later.
   * @param taken keeps what was taken, so that the transaction can be made again (execute-run.3)
   * @param eventsToo also when there are only events
   */
  const store = async (
    tx: Tx,
    take: () => WriteSet,
    taken: { set: WriteSet },
    eventsToo: boolean,
  ): Promise<Taken | null> => {
    let set = (taken.set = joined(taken.set, take()));
    if (isEmpty(set) && (closed || !eventsToo || !eventLog.hasFresh())) return null;
    do {
      const current = isEmpty(set) ? await tx.isCurrent(run) : await tx.putRunWrites(run, set);
      check(); // execute-run.4
      if (!current) {
        controller.abort((await whyRefused(tx, run)) satisfies AbortReason);
        return null;
      }
      taken.set = joined(taken.set, (set = take()));
    } while (!isEmpty(set));
    return closed ? null : events.store(tx, eventLog);
  };
  /** Work of a transaction that keeps what it has taken, so that it can be made again (execute-run.3). */
  const storing = (take: () => WriteSet, eventsToo = false): ((tx: Tx) => Promise<Taken | null>) => {
    const taken = { set: EMPTY_WRITE_SET };
    let told: Taken | null = null;
    let own: typeof failure = null;
    return async (tx) => {
      outstanding = false;
      if (failure === own) failure = null; // it is made again
      giveBack(told);
      told = null;
      try {
        told = await store(tx, take, taken, eventsToo);
        const settleTaken = told?.settle;
        if (told !== null && taken.set.checkpoints.length > 0) {
          told = {
            ...told,
            settle() {
              progressed = true;
              settleTaken?.();
            },
          };
        }
        return told;
      } catch (error) {
        failure ??= own = { reason: error };
        throw error;
      }
    };
  };
  const failing = (error: unknown): void => {
    failure = { reason: error };
    controller.abort("write_failed" satisfies AbortReason);
  };
  const leaseLost = (): boolean => {
    if (mayGoOn()) return false;
    controller.abort("taken_over" satisfies AbortReason);
    return true;
  };
  const flush = (): void => {
    if (flushing || closed || leaseLost()) return;
    flushing = true;
    const done = (): void => void (flushing = false);
    storage.transactionDeferred(storing(takeLast, true)).finally(done).then(settle, failing);
  };
  eventLog.storedBy = flush;
  return {
    check,
    progressed: () => progressed,
    close: () => void (closed = true),
    emit: eventLog.append,
    soon(take) {
      takeLast = take;
      if (leaseLost() || outstanding) return;
      outstanding = true;
      storage.transactionDeferred(storing(take)).then(settle, failing);
    },
    async now(take) {
      takeLast = take;
      if (!leaseLost()) await storage.transaction(storing(take)).then(settle, failing);
    },
  };
}

export function isEmpty({ checkpoints, writes }: WriteSet): boolean {
  return checkpoints.length + writes.length === 0;
}

export function joined(left: WriteSet, right: WriteSet): WriteSet {
  if (isEmpty(left) && left.blobs.length === 0) return right;
  return {
    checkpoints: [...left.checkpoints, ...right.checkpoints],
    writes: [...left.writes, ...right.writes],
    blobs: [...left.blobs, ...right.blobs],
  };
}
