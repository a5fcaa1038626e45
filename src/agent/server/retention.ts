// Retention: what is deleted when it has become old, a little at a time.
// Invariants:
//   server/retention.1. A thread that waits for a person is left alone, whatever its age, unless the settings say otherwise; then it is
//        logged by name.
//   server/retention.2. One step touches at most STEP_THREADS threads, in one transaction: nobody waits long for a sweep.
//   server/retention.3. Every thread comes up again and again: a sweep goes on where the last one ended, and begins anew at the end.
import { describeError } from "../../base/api-error.ts";
import type { Service } from "../../base/lifecycle.ts";
import type { AgentContext } from "../context.ts";
import { IDEMPOTENCY_KEPT_MS } from "../runs/accept/run-request.ts";
import { sweepEvents } from "../streams/join-stream.ts";
import { pruneEach } from "../threads/threads.ts";

/** How long what is kept; 0 is for ever. */
export interface RetentionOptions {
  readonly runsMs: number;
  readonly checkpointsMs: number;
  readonly auditMs: number;
  /** Threads that wait for a person expire like others. */
  readonly expirePaused: boolean;
  readonly everyMs: number;
}

const STEP_THREADS = 200;
/** Steps of one sweep; what is left waits for the next. */
const STEPS_MAX = 10;

export function createRetention(agent: AgentContext, options: RetentionOptions): Service {
  const { clock, log, storage } = agent;
  let cancel: () => void = () => undefined;
  let place: string | null = null;
  let sweeping: Promise<void> = Promise.resolve();

  const sweep = async (): Promise<void> => {
    try {
      await expireThreads(agent, options);
      await storage.transaction((tx) => tx.deleteIdempotencyBefore(clock.now() - IDEMPOTENCY_KEPT_MS));
      await sweepEvents(agent);
      for (let step = 0; step < STEPS_MAX; step++) {
        place = await thinOut(agent, options, place); // server/retention.3
        if (place === null) break;
      }
    } catch (error) {
      log.warning("sweep_failed", { reason: describeError(error).message });
    }
    schedule();
  };
  const schedule = (): void => {
    cancel = clock.after(options.everyMs, () => {
      sweeping = sweep();
    });
  };
  return {
    name: "retention",
    async start() {
      schedule();
    },
    async stop() {
      cancel();
      await sweeping;
      cancel(); // it has set the next one
    },
  };
}

/** Threads whose time to live has passed: deleted, or pruned to their newest checkpoint. */
async function expireThreads(agent: AgentContext, { expirePaused }: RetentionOptions): Promise<void> {
  const { storage, clock, log } = agent;
  for (let step = 0; step < STEPS_MAX; step++) {
    const due = await storage.transaction((tx) => tx.expiredThreads(clock.now(), STEP_THREADS, expirePaused)); // server/retention.1
    if (due.length === 0) return;
    await pruneEach(agent, due, ({ ttlStrategy }) => ttlStrategy);
    const paused = due.filter(({ status }) => status === "interrupted").map(({ threadId }) => threadId);
    if (paused.length > 0) log.warning("paused_threads_expired", { threads: paused });
    log.info("threads_expired", { threads: due.length });
    if (due.length < STEP_THREADS) return;
  }
}

/** One step through all threads. @returns where the next one begins; null at the end. */
async function thinOut(agent: AgentContext, options: RetentionOptions, place: string | null): Promise<string | null> {
  const { storage, clock, log } = agent;
  const now = clock.now();
  const before = (keptMs: number): number => (keptMs === 0 ? Number.NEGATIVE_INFINITY : now - keptMs);
  return storage.transaction(async (tx) => {
    const threads = await tx.threadsAfter(place, STEP_THREADS); // server/retention.2
    let [runs, checkpoints, entries] = [0, 0, 0];
    for (const { threadId, status, updatedAt, createdAt } of threads) {
      const old = (keptMs: number): boolean => createdAt < before(keptMs);
      if (old(options.auditMs)) entries += await tx.deleteAuditBefore(threadId, before(options.auditMs));
      if (status === "interrupted" || status === "busy") continue; // server/retention.1
      if (old(options.runsMs)) runs += await tx.deleteEndedRuns(threadId, before(options.runsMs));
      if (updatedAt < before(options.checkpointsMs)) checkpoints += await tx.pruneThread(threadId, now);
    }
    if (runs + checkpoints + entries > 0) log.info("thinned_out", { runs, checkpoints, audit_entries: entries });
    return threads.length < STEP_THREADS ? null : (threads.at(-1)?.threadId ?? null);
  });
}
