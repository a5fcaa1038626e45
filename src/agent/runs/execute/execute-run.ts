// Execute run: one attempt of one run, from the graph's first step to the transaction that ends it.
// Invariants:
//   execute-run.1. A write that fails or is refused ends its own run and nothing else; after it, no end but failure is stored.
//   execute-run.2. An end that cannot be stored is tried again as a failure until it can; the callers are told at once.
//        Where others can take the run up, it is handed back instead, and goes on from what is stored.
//   execute-run.5. A graph that fails because the storage does has not failed: its run is handed back, and goes on from what is
//        stored. The cause decides (storage-failure.ts). The number of such attempts is bounded (finish.ts).
//   execute-run.3. Work in a transaction can be done again: what it takes is kept until it is stored, or given back first.
//   execute-run.4. Nothing that a run has written is stored without what it wrote before: a checkpoint refers to earlier ones.
import { describeError } from "../../../base/api-error.ts";
import type { Clock } from "../../../base/clock.ts";
import { isStorageFailure } from "../../../base/storage-failure.ts";
import type { Claimed } from "./claim-run.ts";
import { endingOfLog } from "../../events/end-events.ts";
import type { Taken } from "../../events/event-log.ts";
import { type Finished, finishRun, outcomeOf } from "./finish-run.ts";
import type { Run, WriteSet } from "../../model/model.ts";
import { EMPTY_WRITE_SET } from "../../model/empty-write-set.ts";
import type { GraphRunResult, History, Tx } from "../../ports/ports.ts";
import type { AbortReason } from "./abort-reason.ts";
import type { ExecutePorts } from "./execution-ports.ts";
import { requeueRun } from "./requeue-run.ts";
import { type OwnSink, createSink, giveBack, settle, whyRefused } from "./run-sink.ts";
import { announcer } from "../../webhooks/run-ended-event.ts";

export interface Executed {
  /** Null when the run did not end here. */
  readonly finished: Finished | null;
  readonly left: "deleted" | "taken_over" | "handed_back" | "not_stored";
  readonly next: Claimed | null;
  /** JSON text of the state at the end. */
  readonly valuesText: () => string;
}

const NO_VALUES = (): null => null;
const STORE_AGAIN_MS = [250, 1000, 2000, 5000] as const;

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
  const longText = await graphs.longWireText(values); // before the transaction, which holds the storage
  const valuesText = (): string => longText ?? graphs.wireText(values);
  const left = (why: Executed["left"]): Executed => ({ finished: null, left: why, next: null, valuesText });

  if (reason === "deleted" || reason === "taken_over") return left(reason);
  if (reason === "shutdown" && outcome.kind === "aborted") {
    await storage.transaction((tx) => handBackIfOurs(tx, run, result.rest, sink, ports)).catch(() => undefined);
    return left("handed_back"); // when even that could not be stored, the next start finds it as cut short
  }
  if (reason === null && outcome.kind === "failed" && outcome.storageFailed === true) {
    return left(await handBackLater(run, sink, ports)); // execute-run.5
  }
  let told: Taken | null = null;
  let notStored: unknown = null;
  try {
    const stored = await storage.transaction(async (tx) => {
      giveBack(told); // execute-run.3
      told = null;
      sink.check(); // execute-run.1
      const announce = announcer(graphs, () => ("values" in outcome ? valuesText() : null));
      const finished = await finishRun(tx, {
        run,
        result,
        outcome: outcomeOf(result, reason),
        at: clock.now(),
        announce,
        leaveMs: ports.leaveMs,
      });
      sink.check(); // execute-run.4: what was under way has ended now, because the thread was locked until then
      if (finished !== null) await ports.notifier.ask(tx, finished);
      told = await storeEnding(tx, finished, result, ports, valuesText);
      const left = finished === null ? await whyRefused(tx, run) : ("deleted" as const);
      return { finished, left, next: await ports.claimNext(tx) };
    });
    settle(told);
    return { ...stored, valuesText };
  } catch (error) {
    notStored = error;
    ports.onFailure(error);
    log.error("run_not_stored", { run_id: run.runId, reason: describeError(error).message });
  }
  giveBack(told);
  if (!ports.alone && isStorageFailure(notStored)) return left(await handBackLater(run, sink, ports));
  const failed = await storeFailure(run, result, ports);
  if (failed === undefined) return left("not_stored");
  return { ...failed, next: null, valuesText };
}

/** execute-run.2, execute-run.5. */
async function handBackLater(run: Run, sink: OwnSink, ports: ExecutePorts): Promise<"taken_over" | "not_stored"> {
  const { storage, events, clock, log } = ports;
  const counted = sink.progressed() ? { ...run, storageFailures: 0 } : run;
  log.warning("run_storage_failed", { run_id: run.runId, in_a_row: counted.storageFailures + 1 });
  if (counted.storageFailures > 0) await pauseBefore(counted.storageFailures - 1, clock);
  for (let attempt = 0; ; attempt++) {
    try {
      await storage.transaction(async (tx) => {
        if (!(await tx.isCurrent(run))) return; // it was stored after all, or another worker has it
        const announce = announcer(ports.graphs, NO_VALUES);
        await events.storeLateEnding(
          tx,
          await requeueRun(tx, counted, { cause: "storage", crashesMax: ports.crashesMax, at: clock.now(), announce }),
        );
      });
      return "taken_over";
    } catch (error) {
      log.warning("run_not_handed_back", { run_id: run.runId, reason: describeError(error).message });
    }
    if (ports.isDraining()) return "not_stored"; // it is found as that of a worker that is no more
    await pauseBefore(attempt, clock);
  }
}

function pauseBefore(attempt: number, clock: Clock): Promise<void> {
  const delayMs = STORE_AGAIN_MS[Math.min(attempt, STORE_AGAIN_MS.length - 1)] ?? 0;
  return new Promise((resolve) => void clock.after(delayMs, resolve));
}

/** execute-run.2. @returns undefined when the process stops before the storage can be written again. */
async function storeFailure(
  run: Run,
  result: GraphRunResult,
  ports: ExecutePorts,
): Promise<Pick<Executed, "finished" | "left"> | undefined> {
  const lost: GraphRunResult = {
    ...result,
    outcome: { kind: "aborted" },
    rest: EMPTY_WRITE_SET,
    checkpointId: null,
    overlay: null,
    held: [],
  };
  for (let attempt = 0; ; attempt++) {
    let told: Taken | null = null;
    try {
      const announce = announcer(ports.graphs, NO_VALUES);
      const stored = await ports.storage.transaction(async (tx) => {
        giveBack(told); // execute-run.3
        told = null;
        const finished = await finishRun(tx, {
          run,
          result: lost,
          outcome: outcomeOf(lost, "write_failed"),
          at: ports.clock.now(),
          announce,
          leaveMs: ports.leaveMs,
        });
        told = await storeEnding(tx, finished, lost, ports, () => "{}");
        return { finished, left: finished === null ? await whyRefused(tx, run) : ("deleted" as const) };
      });
      settle(told);
      return stored;
    } catch (error) {
      giveBack(told);
      ports.log.error("run_not_stored", { run_id: run.runId, reason: describeError(error).message });
    }
    if (attempt === 0) ports.onUnstored();
    if (ports.isDraining()) return undefined;
    await pauseBefore(attempt, ports.clock);
  }
}

/** The events of the end are in the transaction of the end: whoever reads on after a crash sees the same end. */
async function storeEnding(
  tx: Tx,
  finished: Finished | null,
  { outcome, held }: GraphRunResult,
  { events, eventLog }: ExecutePorts,
  textOfValues: () => string,
): Promise<Taken | null> {
  if (finished === null) return null;
  const valuesText = (): string | null => ("values" in outcome ? textOfValues() : null);
  const ending = endingOfLog(finished, held, valuesText, events.goneAt(finished.run));
  return finished.threadIsGone ? eventLog.take(ending) : events.store(tx, eventLog, ending);
}

async function handBackIfOurs(
  tx: Tx,
  run: Run,
  rest: WriteSet,
  sink: Pick<OwnSink, "check">,
  ports: ExecutePorts,
): Promise<void> {
  const isOurs = await tx.putRunWrites(run, rest);
  sink.check(); // execute-run.4
  if (isOurs) {
    await ports.events.store(tx, ports.eventLog);
    const announce = announcer(ports.graphs, NO_VALUES);
    await requeueRun(tx, run, { cause: "stopped", crashesMax: ports.crashesMax, at: ports.clock.now(), announce });
  }
}
