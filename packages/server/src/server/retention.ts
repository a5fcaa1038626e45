// Retention: deletes expired data in small steps.
// Invariants:
//   - A paused thread is kept at any age, unless the settings expire it; its expiry is logged with its id.
//   - One step covers at most STEP_THREADS threads in one transaction, so that a sweep delays other calls only briefly.
//   - Sweeps cycle through all threads: each continues at the end of the previous one, and restarts after the last
//     thread.
//   server/retention.4. A sweep that leaves work behind is soon followed by the next one, so that data cannot grow faster
//     than it is deleted.
//   - Erasures of threads that a crash has cut off go on, at the start and with each sweep.
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { AgentContext } from "../context/context.ts";
import { buildAct, SERVER } from "../model/audit/build-act.ts";
import { ACT_TRAILS } from "../model/audit-actions.ts";
import { IDEMPOTENCY_KEPT_MS } from "../runs/accept/run-request.ts";
import { sweepEvents } from "../runs/streams/join-stream.ts";
import { pruneEach } from "../threads/delete-threads.ts";
import { resumeErasures } from "../threads/erase-thread.ts";
import type { TakeCommandActs } from "./server-ports.ts";

/** Retention times; 0 keeps data forever. */
export interface RetentionOptions {
  readonly runsMs: number;
  readonly checkpointsMs: number;
  readonly auditMs: number;
  /** Paused threads expire like others. */
  readonly expirePaused: boolean;
  readonly everyMs: number;
  /** Deletes sessions of people that have ended; null without sign-in. */
  readonly sweepSessions: (() => Promise<void>) | null;
  /** Null without a data folder. */
  readonly takeCommandActs: TakeCommandActs | null;
}

const STEP_THREADS = 200;
/** Steps per sweep; the next sweep continues. */
const STEPS_MAX = 10;
/** Pause between sweeps while work is left: about half of the time remains for calls. */
const BACKLOG_PAUSE_MS = 1000;

export function createRetention(agent: AgentContext, options: RetentionOptions): Service {
  const { clock, log, storage } = agent;
  const startedAt = clock.now();
  let cancel: () => void = () => undefined;
  let place: string | null = null;
  let sweeping: Promise<void> = Promise.resolve();

  const sweep = async (): Promise<void> => {
    let backlog = false;
    try {
      backlog = await expireThreads(agent, options);
      await storage.transaction((tx) => tx.deleteIdempotencyBefore(clock.now() - IDEMPOTENCY_KEPT_MS));
      await sweepEvents(agent);
      await options.sweepSessions?.();
      await recordCommands(agent, options);
      await resumeErasures(agent, startedAt);
      await deleteOldActs(agent, options);
      let pruned = 0;
      for (let step = 0; step < STEPS_MAX; step++) {
        const result = await pruneStep(agent, options, place);
        pruned += result.pruned;
        place = result.next;
        if (place === null) break;
      }
      backlog ||= pruned > 0 && place !== null;
    } catch (error) {
      warnSweep(log, error);
    }
    schedule(backlog ? Math.min(BACKLOG_PAUSE_MS, options.everyMs) : options.everyMs); // server/retention.4
  };
  const schedule = (ms: number): void => {
    cancel = clock.after(ms, () => {
      sweeping = sweep();
    });
  };
  return {
    name: "retention",
    async start() {
      await recordCommands(agent, options);
      schedule(options.everyMs);
      sweeping = resumeErasures(agent, startedAt).catch((error: unknown) => warnSweep(log, error));
    },
    async stop() {
      cancel();
      await sweeping;
      cancel(); // the sweep scheduled the next one
    },
  };
}

function warnSweep(log: AgentContext["log"], error: unknown): void {
  log.warning("sweep_failed", { reason: describeError(error).message });
}

/** Deletes expired threads, or prunes them to their newest checkpoint. @returns whether more have expired */
async function expireThreads(agent: AgentContext, { expirePaused }: RetentionOptions): Promise<boolean> {
  const { storage, clock, log } = agent;
  for (let step = 0; step < STEPS_MAX; step++) {
    const due = await storage.transaction((tx) => tx.expiredThreads(clock.now(), STEP_THREADS, expirePaused));
    if (due.length === 0) return false;
    await pruneEach(agent, SERVER, due, ({ ttlStrategy }) => ttlStrategy);
    const paused = due.filter(({ status }) => status === "interrupted").map(({ threadId }) => threadId);
    if (paused.length > 0) log.warning("paused_threads_expired", { threads: paused });
    log.info("threads_expired", { threads: due.length });
    if (due.length < STEP_THREADS) return false;
  }
  return true;
}

async function recordCommands({ storage, log }: AgentContext, { takeCommandActs }: RetentionOptions): Promise<void> {
  try {
    await takeCommandActs?.((act) => storage.transaction((tx) => tx.audit([act])));
  } catch (error) {
    log.warning("command_acts_unread", { reason: describeError(error).message });
  }
}

async function deleteOldActs({ storage, clock, log }: AgentContext, { auditMs }: RetentionOptions): Promise<void> {
  if (auditMs === 0) return;
  const before = clock.now() - auditMs;
  let deleted = 0;
  for (const trail of ACT_TRAILS) {
    const [oldest] = await storage.read((tx) => tx.listAudit(trail, { after: 0, limit: 1 }));
    if (oldest !== undefined && oldest.at < before)
      deleted += await storage.transaction((tx) => tx.deleteAuditBefore(trail, before));
  }
  if (deleted > 0) log.info("retention_pruned", { runs: 0, checkpoints: 0, audit_entries: deleted });
}

interface PruneStep {
  /** Start of the next step; null at the end. */
  readonly next: string | null;
  /** Deleted rows. */
  readonly pruned: number;
}

/** One step through all threads. */
async function pruneStep(agent: AgentContext, options: RetentionOptions, place: string | null): Promise<PruneStep> {
  const { storage, clock, log } = agent;
  const now = clock.now();
  const before = (keptMs: number): number => (keptMs === 0 ? Number.NEGATIVE_INFINITY : now - keptMs);
  return storage.transaction(async (tx) => {
    const threads = await tx.threadsAfter(place, STEP_THREADS);
    let [runs, checkpoints, entries] = [0, 0, 0];
    for (const { threadId, status, updatedAt, createdAt } of threads) {
      const old = (keptMs: number): boolean => createdAt < before(keptMs);
      if (old(options.auditMs)) entries += await tx.deleteAuditBefore(threadId, before(options.auditMs));
      if (status === "interrupted" || status === "busy") continue;
      if (old(options.runsMs)) runs += await tx.deleteEndedRuns(threadId, before(options.runsMs));
      if (updatedAt < before(options.checkpointsMs)) checkpoints += await tx.pruneThread(threadId, now);
    }
    const pruned = runs + checkpoints + entries;
    if (pruned > 0) log.info("retention_pruned", { runs, checkpoints, audit_entries: entries });
    if (runs > 0)
      await tx.audit([buildAct(SERVER, { action: "runs_pruned", at: now, subject: `${runs} runs`, fields: { runs } })]);
    return { next: threads.length < STEP_THREADS ? null : (threads.at(-1)?.threadId ?? null), pruned };
  });
}
