// Cron scheduler: waits for the next due tick and starts its run.
// Invariants:
//   cron-scheduler.1. A tick starts at most one run: one transaction claims the tick and starts the run. This holds
//     after a crash, with a clock that goes back, and with several servers on one storage.
//   cron-scheduler.5. A cron whose next tick lies further ahead than its schedule allows has it from a clock that was
//     ahead: it gets the tick that the schedule has now. Steps back of up to STEP_MS leave ticks as they are, so that
//     servers with clocks that differ by less start no tick twice.
//   cron-scheduler.2. One run replaces all ticks missed during a downtime. No run starts after the end of the cron.
//   cron-scheduler.3. A tick with a permanently refused run is skipped, so that it does not block others. A cron
//     without its assistant or thread is disabled, and says why.
//   cron-scheduler.6. No run starts in the name of a caller who may not start it any more: the transaction of the tick
//     asks whether the person or the key is still there and has the role, and no other limits. Otherwise the cron is disabled.
//   cron-scheduler.4. After a temporary failure (a full queue, an unavailable storage, an unknown commit) the tick
//     stays due and is retried.
import { DISABLED_REASONS } from "@holdpoint/api/crons.ts";
import { isoTime } from "@holdpoint/base/clock.ts";
import { ApiError, describeError, type ErrorCode } from "@holdpoint/base/api-error.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import { NO_LIMITS } from "../../auth/role-limits.ts";
import type { AgentContext } from "../../context/context.ts";
import { nextTick } from "./cron-schedule.ts";
import { buildRunCall, describeCron } from "./crons.ts";
import { buildAct, SERVER } from "../../model/audit/build-act.ts";
import type { Cron } from "../../model/model.ts";
import type { CredentialTx, Tx } from "../../ports/ports.ts";
import { disabledBreakpoints } from "../../threads/bypass.ts";
import type { RunCall } from "../accept/run-request.ts";
import type { RunStart } from "../accept/run-start.ts";
import { startRun } from "../accept/start-run.ts";
import { statelessStart } from "../accept/stateless-runs.ts";

export interface CronScheduler extends Service {
  /** Signals changed crons. */
  wake(): void;
}

/** Timers use a monotonic clock. A jump of the wall clock is detected within this time. */
const LOOK_AGAIN_MS = 60_000;
const TRY_AGAIN_MS = 5000;
const DUE_BATCH = 100;
const STEP_MS = 15 * 60_000;
/** Timers and clocks differ by less than this. */
const DRIFT_MS = 5000;

export function createCronScheduler(agent: AgentContext): CronScheduler {
  const { clock, log } = agent;
  let running = false;
  let polling: Promise<void> | null = null;
  /** Set by wake() during a check, whose result may be stale. */
  let again = false;
  let cancel: () => void = () => undefined;

  const wall: WallClock = { ahead: Infinity };

  const poll = async (): Promise<void> => {
    const waitMs = await runDue(agent, () => running, wall).catch((error: unknown) => {
      log.warning("crons_delayed", { reason: describeError(error).message });
      return TRY_AGAIN_MS;
    });
    polling = null;
    if (again) wake();
    else if (running) cancel = clock.after(waitMs, wake);
  };
  const wake = (): void => {
    again = polling !== null;
    if (again || !running) return;
    cancel();
    polling = poll();
  };
  return {
    name: "crons",
    wake,
    async start() {
      running = true;
      await noteClock(agent, wall).catch((error: unknown) =>
        log.warning("crons_delayed", { reason: describeError(error).message }),
      );
      wake();
    },
    async stop() {
      running = false;
      cancel();
      await polling;
    },
  };
}

/**
 * @returns the time until the next tick
 * @throws on a temporary failure (cron-scheduler.4)
 */
async function runDue(agent: AgentContext, mayGoOn: () => boolean, wall: WallClock): Promise<number> {
  const { storage, clock } = agent;
  if (hasGoneBack(agent, wall)) await noteClock(agent, wall);
  for (;;) {
    const due = await storage.transaction((tx) => tx.dueCrons(clock.now(), DUE_BATCH));
    for (const cron of due) if (mayGoOn()) await runTick(agent, cron);
    if (due.length === 0 || !mayGoOn()) break;
  }
  const next = await storage.transaction((tx) => tx.nextCronAt());
  return next === null ? LOOK_AGAIN_MS : Math.min(Math.max(next - clock.now(), 0), LOOK_AGAIN_MS);
}

interface WallClock {
  /** How far it was ahead of the monotonic clock when crons were last compared with it; infinite before. */
  ahead: number;
}

function hasGoneBack({ clock }: AgentContext, { ahead }: WallClock): boolean {
  return clock.now() - clock.monotonic() < ahead - DRIFT_MS;
}

async function noteClock(agent: AgentContext, wall: WallClock): Promise<void> {
  const ahead = agent.clock.now() - agent.clock.monotonic();
  await resetTicks(agent);
  wall.ahead = ahead;
}

/** cron-scheduler.5, over all crons, the one furthest ahead first. */
async function resetTicks({ storage, clock, log }: AgentContext): Promise<void> {
  const filter = { scope: null, metadata: null, assistantId: null, threadId: null, enabled: true };
  const order = { sortBy: "next_run_date", descending: true, limit: DUE_BATCH } as const;
  let offset = 0;
  for (let count = DUE_BATCH; count === DUE_BATCH; offset += count) {
    const at = offset;
    count = await storage.transaction(async (tx) => {
      const found = await tx.searchCrons({ ...filter, ...order, offset: at });
      for (const { id } of found) {
        const cron = await tx.cron(id);
        if (cron === null || cron.nextAt === null || isDueInTime(cron, clock.now())) continue;
        const nextAt = nextTick(cron, clock.now());
        if (await tx.claimTick(id, cron.nextAt, nextAt))
          log.warning("cron_tick_reset", { cron_id: id, from: isoTime(cron.nextAt), to: nextAt && isoTime(nextAt) });
      }
      return found.length;
    });
  }
}

/** A schedule that is no longer valid is left to its tick. */
function isDueInTime(cron: Cron, now: number): boolean {
  try {
    const latest = nextTick(cron, now + STEP_MS);
    return latest === null || cron.nextAt === null || cron.nextAt <= latest;
  } catch {
    return true;
  }
}

class TickClaimed extends Error {}

class CallerGone extends Error {
  constructor(name: string) {
    super(`${name} may not start this run any more: the runs of a cron are those of whoever changes it.`);
  }
}

/** cron-scheduler.6. */
async function mayStillRun(
  { access, graphs }: Pick<AgentContext, "access" | "graphs">,
  tx: CredentialTx & Pick<Tx, "assistant">,
  { caller, assistantId }: Cron,
  { interruptBefore: before, interruptAfter: after }: RunCall,
): Promise<boolean> {
  if (access?.isCurrent === undefined) return true;
  const vote = { by: caller.name, limits: caller.limits ?? NO_LIMITS };
  if (!(await access.isCurrent(tx, vote, "threads:create_run"))) return false;
  const graph = graphs.describe((await tx.assistant(assistantId))?.graphId ?? "");
  const isOff = disabledBreakpoints(graph, { before, after }).length > 0;
  return !isOff || access.isCurrent(tx, vote, "threads:bypass");
}

async function runTick(agent: AgentContext, cron: Cron): Promise<void> {
  const at = agent.clock.now();
  const dueAt = cron.nextAt;
  if (dueAt === null) return;
  try {
    const nextAt = nextTick(cron, at); // from now, not from the due time (cron-scheduler.2)
    if (cron.endTime !== null && at >= cron.endTime) {
      await agent.storage.transaction((tx) => tx.claimTick(cron.cronId, dueAt, null));
      return;
    }
    agent.tenants?.find(cron.caller).takeCalls(1);
    const start = buildStart(agent, cron, dueAt);
    const { run } = await startRun(agent, cron.caller, {
      ...start,
      first: async (tx) => {
        if (!(await mayStillRun(agent, tx, cron, start.call))) throw new CallerGone(cron.caller.name);
        if (!(await tx.claimTick(cron.cronId, dueAt, nextAt))) throw new TickClaimed(); // cron-scheduler.1
      },
    });
    agent.log.debug("cron_run_started", { cron_id: cron.cronId, run_id: run.runId, thread_id: run.threadId });
  } catch (error) {
    if (error instanceof TickClaimed) return;
    if (error instanceof CallerGone)
      return passOver(agent, cron, dueAt, { code: "caller_gone", message: error.message });
    if (!(error instanceof ApiError) || PASSING.has(error.code)) throw error;
    await passOver(agent, cron, dueAt, error);
  }
}

/** Includes `commit_unknown`: if the commit succeeded, the retry finds that the tick is taken (cron-scheduler.1). */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  "overloaded",
  "shutting_down",
  "storage_unavailable",
  "commit_unknown",
  "worker_not_listed",
]);

/** The run's metadata identify the cron and the tick. */
function buildStart(agent: AgentContext, cron: Cron, dueAt: number): RunStart {
  const payload = { ...cron.payload, assistant_id: cron.assistantId };
  const metadata = { ...cron.metadata, cron_id: cron.cronId, cron_due: isoTime(dueAt) };
  const call = buildRunCall(payload, metadata, cron.reach);
  if (cron.threadId !== null) return { threadId: cron.threadId, call };
  return statelessStart(agent.newId, { call, onCompletion: cron.onRunCompleted, threadId: null });
}

interface TickRefusal {
  readonly code: ErrorCode | "caller_gone";
  readonly message: string;
}

/** cron-scheduler.3 */
async function passOver(
  agent: AgentContext,
  cron: Cron,
  dueAt: number,
  { code, message: reason }: TickRefusal,
): Promise<void> {
  const { cronId } = cron;
  const disabledReason = DISABLED_REASONS.find((one) => one === code);
  await agent.storage.transaction(async (tx) => {
    const at = agent.clock.now();
    if (!(await tx.claimTick(cronId, dueAt, disabledReason === undefined ? nextTick(cron, at) : null))) return;
    if (disabledReason === undefined) return;
    await tx.updateCron(cronId, { enabled: false, disabledReason, updatedAt: at });
    const { subject, fields } = describeCron({ ...cron, enabled: false });
    const act = { action: "cron_disabled", at, subject, fields: { ...fields, reason: disabledReason } } as const;
    await tx.audit([buildAct(SERVER, act)]);
  });
  const isDisabled = disabledReason !== undefined;
  agent.log.warning(isDisabled ? "cron_disabled" : "cron_tick_passed_over", { cron_id: cronId, code, reason });
}
