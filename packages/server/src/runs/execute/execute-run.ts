// Run execution: one attempt of one run, from the first step of the graph to the transaction that ends it.
// Invariants:
//   - A failed or refused write ends only its own attempt, which then can neither succeed nor pause.
//   - An end that cannot be stored for another reason than the storage is retried as a failure until it is stored; the
//     callers get an error at once.
//   - The storage may repeat the work of a transaction. So drained data is kept until the commit, or restored first.
//   execute-run.4. A write of a run is stored only after its earlier writes, because checkpoints refer to earlier ones.
//   - A run that fails because of the storage has not failed, whether a read of its graph, one of its writes or its end
//     failed: it is requeued, and continues from its stored state (requeue-after-outage.ts). The cause decides
//     (storage-failure.ts).
import { describeError } from "@holdpoint/base/api-error.ts";
import { isStorageFailure } from "@holdpoint/base/storage-failure.ts";
import { endBehindPause } from "./behind-pause.ts";
import type { Claimed } from "./claim-run.ts";
import { buildEndEvents } from "../../events/end-events.ts";
import type { DrainedEvents } from "../../events/event-log.ts";
import { type Finished, finishRun, toRunOutcome } from "./finish-run.ts";
import type { Run, WriteSet } from "../../model/model.ts";
import { EMPTY_WRITE_SET } from "../../model/empty-write-set.ts";
import type { EventTx, GraphRunResult, History } from "../../ports/ports.ts";
import type { AbortReason } from "./abort-reason.ts";
import type { ExecutePorts, PolicyAnswers } from "./execution-ports.ts";
import { pauseBefore, requeueAfterOutage, requeueForMemory } from "./requeue-after-outage.ts";
import { requeueRun } from "./requeue-run.ts";
import { type OwnSink, committed, createSink, restore, refusalReason } from "./run-sink.ts";
import { announcer } from "../../webhooks/run-ended-event.ts";

export interface Executed {
  /** Null if the run did not end here. */
  readonly finished: Finished | null;
  /** Null unless policies answered. */
  readonly byPolicy?: PolicyAnswers | null;
  /** Runs that ended because they do not wait behind the pause. */
  readonly refused?: readonly Run[];
  readonly left: "deleted" | "taken_over" | "requeued" | "not_stored";
  readonly next: Claimed | null;
  /** JSON text of the final state. */
  readonly valuesText: () => string;
}

const NO_VALUES = (): null => null;
const NO_VALUES_TEXT = (): string => "{}";

export async function executeRun(
  run: Run,
  history: History,
  controller: AbortController,
  ports: ExecutePorts,
): Promise<Executed> {
  const { storage, graphs, clock, log } = ports;
  const sink = createSink(run, controller, ports);
  const result = await graphs.run(run, sink, controller.signal, history);
  sink.close();
  ports.onGraphEnd();
  const reason = controller.signal.aborted ? (controller.signal.reason as AbortReason) : null;
  const { outcome } = result;
  const values = outcome.kind === "failed" || outcome.kind === "aborted" ? {} : outcome.values;
  let text: string | null = null;
  const valuesText = (): string => (text ??= graphs.clientText(values));
  const left = (why: Executed["left"]): Executed => ({ finished: null, left: why, next: null, valuesText });

  if (reason === "deleted" || reason === "taken_over") return left(reason);
  if (reason === "shutdown" && outcome.kind === "aborted") {
    await requeueAtStop(run, { rest: result.rest, sink }, ports).catch(() => undefined);
    return left("requeued"); // if even that fails, the next start recovers the run
  }
  if (reason === "no_room") return { ...(await requeueForMemory(run, ports)), next: null, valuesText: NO_VALUES_TEXT };
  if (reason === null && outcome.kind === "failed" && outcome.storageFailed === true) {
    return { ...(await requeueAfterOutage(run, sink, ports)), next: null, valuesText: NO_VALUES_TEXT };
  }
  let drained: DrainedEvents | null = null;
  let notStored: unknown = null;
  try {
    const stored = await storage.transaction(async (tx) => {
      restore(drained);
      drained = null;
      const announce = announcer(graphs, () => ("values" in outcome ? valuesText() : null));
      const finished = await finishRun(tx, {
        run,
        result,
        outcome: toRunOutcome(result, reason),
        at: clock.now(),
        announce,
        graphs,
        withEarlier: sink.withEarlier,
        leaveMs: ports.leaveMs(),
        askAgainMax: ports.askAgainMax,
      });
      // Only with the lock: before, the failure may be that of a transaction that the storage is about to repeat.
      sink.check(); // execute-run.4: earlier writes have ended, or are in this transaction
      drained = await storeEndEvents(tx, finished, { ...result, valuesText }, ports);
      const left = finished === null ? await refusalReason(tx, run) : ("deleted" as const);
      const byPolicy = finished === null ? null : await ports.answerByPolicy(tx, finished);
      const rest = finished === null || byPolicy === null ? finished : { ...finished, pending: byPolicy.pending };
      if (finished !== null)
        await ports.notifier.notify(tx, byPolicy === null ? finished : { ...finished, pending: byPolicy.open });
      const refused = await endBehindPause(tx, rest, ports);
      return { finished: rest, byPolicy, refused, left, next: await ports.claimNext(tx) };
    });
    committed(drained);
    return { ...stored, valuesText };
  } catch (error) {
    notStored = error;
    ports.onFailure(error);
    log.error("run_not_stored", { run_id: run.runId, reason: describeError(error).message });
  }
  restore(drained);
  if (isStorageFailure(notStored)) {
    return { ...(await requeueAfterOutage(run, sink, ports)), next: null, valuesText: NO_VALUES_TEXT };
  }
  const failed = await storeFailure(run, result, ports);
  if (failed === undefined) return left("not_stored");
  return { ...failed, next: null, valuesText };
}

/**
 * Without any row that is not stored yet: one of them may be what the storage refuses.
 * @returns undefined if the process stops before the storage recovers
 */
async function storeFailure(
  run: Run,
  result: GraphRunResult,
  ports: ExecutePorts,
): Promise<Pick<Executed, "finished" | "refused" | "left"> | undefined> {
  const lost: GraphRunResult = {
    ...result,
    outcome: { kind: "aborted" },
    rest: EMPTY_WRITE_SET,
    checkpointId: null,
    overlay: null,
    unused: null, // what used them may be among the rows that are lost
    held: [],
  };
  for (let attempt = 0; ; attempt++) {
    let drained: DrainedEvents | null = null;
    try {
      const { graphs } = ports;
      const announce = announcer(graphs, NO_VALUES);
      const stored = await ports.storage.transaction(async (tx) => {
        restore(drained);
        drained = null;
        const finished = await finishRun(tx, {
          run,
          result: lost,
          outcome: toRunOutcome(lost, "write_failed"),
          at: ports.clock.now(),
          announce,
          graphs,
          leaveMs: ports.leaveMs(),
          askAgainMax: ports.askAgainMax,
        });
        drained = await storeEndEvents(tx, finished, { ...lost, valuesText: () => "{}" }, ports);
        const refused = await endBehindPause(tx, finished, ports);
        return { finished, refused, left: finished === null ? await refusalReason(tx, run) : ("deleted" as const) };
      });
      committed(drained);
      return stored;
    } catch (error) {
      restore(drained);
      ports.log.error("run_not_stored", { run_id: run.runId, reason: describeError(error).message });
    }
    if (attempt === 0) ports.onUnstored();
    if (ports.isDraining()) return undefined;
    await pauseBefore(attempt, ports.clock);
  }
}

/** The transaction of the end also stores its events, so that readers see the same end after a crash. */
async function storeEndEvents(
  tx: EventTx,
  finished: Finished | null,
  { outcome, held, valuesText: textOfValues }: GraphRunResult & { readonly valuesText: () => string },
  { events, eventLog }: ExecutePorts,
): Promise<DrainedEvents | null> {
  if (finished === null) return null;
  const valuesText = (): string | null => ("values" in outcome ? textOfValues() : null);
  const end = buildEndEvents(finished, held, valuesText, events.goneAt(finished.run));
  return finished.threadIsGone ? eventLog.drain(end) : events.store(tx, eventLog, end);
}

async function requeueAtStop(
  run: Run,
  { rest, sink }: { readonly rest: WriteSet; readonly sink: OwnSink },
  ports: ExecutePorts,
): Promise<void> {
  let drained: DrainedEvents | null = null;
  await ports.storage.transaction(async (tx) => {
    restore(drained);
    drained = null;
    const isCurrent = await tx.isCurrent(run);
    sink.check(); // execute-run.4
    if (!isCurrent) return;
    await tx.putWriteSet(sink.withEarlier(rest));
    drained = await ports.events.store(tx, ports.eventLog);
    const { graphs, crashesMax, clock } = ports;
    const announce = announcer(graphs, NO_VALUES);
    await requeueRun(tx, run, { cause: "stopped", crashesMax, at: clock.now(), announce, graphs });
  });
  committed(drained);
}
