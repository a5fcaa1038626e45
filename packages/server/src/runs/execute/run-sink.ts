// Run sink: stores the write sets and events of a running graph, with one of the next commits or awaited.
// Keeps the invariants of execute-run.ts.
// waiting-rows.ts keeps the order of rows whose transaction the storage repeats.
import type { DrainedEvents } from "../../events/event-log.ts";
import type { Run, WriteSet } from "../../model/model.ts";
import { EMPTY_WRITE_SET } from "../../model/empty-write-set.ts";
import type { CheckpointTx, EventTx, RunSink, RunTx, Tx } from "../../ports/ports.ts";
import type { AbortReason } from "./abort-reason.ts";
import type { ExecutePorts } from "./execution-ports.ts";
import {
  claimRepeated,
  inOrder,
  isEmpty,
  joined,
  type Kept,
  nextRows,
  joinRows,
  type RowSet,
  takeFresh,
  type WaitingRows,
} from "./waiting-rows.ts";

/** Reason why the run is no longer in this attempt. */
export async function refusalReason(tx: Pick<Tx, "run">, run: Run): Promise<"deleted" | "taken_over"> {
  return (await tx.run(run.threadId, run.runId)) === null ? "deleted" : "taken_over";
}

export interface OwnSink extends RunSink {
  /** @throws the error of an earlier write of this run */
  readonly check: () => void;
  /** True once a checkpoint of this attempt is stored. */
  readonly progressed: () => boolean;
  /** The graph has ended and returned its rest. Events that refer to the rest are stored with it. */
  readonly close: () => void;
  /**
   * For the last transaction, with the lock of the thread: its rows, after earlier ones that wait for a repetition. A
   * repetition of the last transaction gets the same rows again.
   */
  readonly withEarlier: (rows: WriteSet) => WriteSet;
}

type SinkTx = RunTx & CheckpointTx & EventTx;

/** State shared by the writes of one attempt. */
interface SinkState extends WaitingRows {
  readonly run: Run;
  readonly controller: AbortController;
  readonly ports: ExecutePorts;
  failure: { readonly reason: unknown } | null;
  progressed: boolean;
  closed: boolean;
  /** A deferred write set has not reached its transaction. */
  outstanding: boolean;
  /** The transaction that takes and stores writes now; null for none. */
  storing: Promise<void> | null;
  /** Earlier rows in the last transaction. */
  ofEnd: readonly RowSet[];
}

export function createSink(run: Run, controller: AbortController, ports: ExecutePorts): OwnSink {
  const { storage, eventLog } = ports;
  const state: SinkState = {
    run,
    controller,
    ports,
    failure: null,
    progressed: false,
    closed: false,
    outstanding: false,
    storing: null,
    repeated: new Set(),
    ofEnd: [],
    writeSets: 0,
  };
  let takeLast: () => WriteSet = () => EMPTY_WRITE_SET;
  let flushing = false;

  const failing = (error: unknown): void => {
    state.failure = { reason: error };
    controller.abort("write_failed" satisfies AbortReason);
  };
  const leaseLost = (): boolean => {
    if (ports.mayContinue()) return false;
    controller.abort("taken_over" satisfies AbortReason);
    return true;
  };
  eventLog.flush = () => {
    if (flushing || state.closed || leaseLost()) return;
    flushing = true;
    const done = (): void => void (flushing = false);
    storage
      .transactionDeferred(repeatableStore(state, takeLast, true))
      .finally(done)
      .then(committed, failing);
  };
  return {
    check: () => throwFailure(state),
    progressed: () => state.progressed,
    close: () => void (state.closed = true),
    withEarlier(rows) {
      state.ofEnd = inOrder([...state.ofEnd, ...claimRepeated(state)]);
      return joined(joinRows(state.ofEnd), rows);
    },
    holds(size) {
      if (ports.holdsState(size)) return true;
      controller.abort("no_room" satisfies AbortReason);
      return false;
    },
    emit: eventLog.append,
    isRead: eventLog.isRead,
    soon(take) {
      takeLast = take;
      if (leaseLost() || state.outstanding) return;
      state.outstanding = true;
      storage.transactionDeferred(repeatableStore(state, take, false)).then(committed, failing);
    },
    async now(take) {
      takeLast = take;
      if (!leaseLost()) await storage.transaction(repeatableStore(state, take, false)).then(committed, failing);
    },
  };
}

export function committed(drained: DrainedEvents | null): void {
  drained?.committed();
}

export function restore(drained: DrainedEvents | null): void {
  drained?.restore();
}

function throwFailure({ failure }: SinkState): void {
  if (failure !== null) throw failure.reason;
}

/**
 * Work of a transaction that keeps the drained writes, so that the storage can repeat it.
 * @param eventsToo also stores events without a write set
 */
function repeatableStore(
  state: SinkState,
  take: () => WriteSet,
  eventsToo: boolean,
): (tx: SinkTx) => Promise<DrainedEvents | null> {
  let kept: Kept | null = null;
  let drained: DrainedEvents | null = null;
  let own: SinkState["failure"] = null;
  return async (tx) => {
    const isRepetition = kept !== null;
    // At once: the transaction that has the lock next looks for them.
    if (kept !== null) state.repeated.add(kept);
    if (state.failure === own) state.failure = null;
    restore(drained);
    drained = null;
    // Transactions of PostgreSQL overlap before the thread lock, and another one may have taken writes since.
    while (state.storing !== null) await state.storing; // execute-run.4
    state.outstanding = false;
    const storing = Promise.withResolvers<void>();
    state.storing = storing.promise;
    kept ??= { sets: [] };
    try {
      drained = await storeWrites(tx, state, { take, kept, eventsToo, isRepetition });
      if (drained !== null && kept.sets.some(({ rows }) => rows.checkpoints.length > 0))
        drained = noteProgress(drained, state);
      return drained;
    } catch (error) {
      state.failure ??= own = { reason: error };
      throw error;
    } finally {
      state.storing = null;
      storing.resolve();
    }
  };
}

function noteProgress(drained: DrainedEvents, state: SinkState): DrainedEvents {
  return {
    ...drained,
    committed() {
      state.progressed = true;
      drained.committed();
    },
  };
}

interface Storing {
  readonly take: () => WriteSet;
  readonly kept: Kept;
  readonly eventsToo: boolean;
  readonly isRepetition: boolean;
}

/** Stores the writes of the graph, and then the events up to that moment, so that no event refers to a later state. */
async function storeWrites(
  tx: SinkTx,
  state: SinkState,
  { take, kept, eventsToo, isRepetition }: Storing,
): Promise<DrainedEvents | null> {
  const { run, controller, ports } = state;
  // Until a repetition has the lock, another transaction may store its rows, which has then ended.
  let set = isRepetition ? EMPTY_WRITE_SET : takeFresh(state, kept, take);
  const hasEvents = !state.closed && eventsToo && ports.eventLog.hasFresh();
  const isDone = isRepetition ? state.closed && kept.sets.length === 0 : isEmpty(set) && !hasEvents;
  if (isDone) return null;
  do {
    const current = isEmpty(set) ? await tx.isCurrent(run) : await tx.putRunWrites(run, set);
    throwFailure(state); // execute-run.4
    if (!current) {
      controller.abort((await refusalReason(tx, run)) satisfies AbortReason);
      return null;
    }
    set = nextRows(state, kept, take);
  } while (!isEmpty(set));
  return state.closed ? null : ports.events.store(tx, ports.eventLog);
}
