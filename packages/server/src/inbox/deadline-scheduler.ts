// Deadline scheduler: escalates items in time, and gives the default answer, or fails the thread, when a deadline
// expires.
// Invariants:
//   - A deadline acts once. A default answer is an ordinary resume and competes with people's answers in the same
//     conditional update. Failing a thread verifies the open interrupt in the transaction that closes it.
//   deadline-scheduler.2. One timer runs to the next deadline. It checks the wall clock when it fires, so that no
//     deadline acts early.
//   - Due deadlines are read from storage, not from memory: deadlines missed during a restart act at the start.
//   deadline-scheduler.4. A permanent refusal is recorded, and the interrupt stays open. A temporary failure is retried
//     with increasing delays.
//   - Escalations come before deadlines that are due at the same time.
import { ApiError, type ErrorCode, describeError } from "@holdpoint/base/api-error.ts";
import { isoTime } from "@holdpoint/base/clock.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { AgentContext } from "../context/context.ts";
import type { AuditEntry, Caller, Interrupt } from "../model/model.ts";
import type { Tx } from "../ports/ports.ts";
import { escalateDue } from "./escalate-items.ts";
import { continuation } from "../runs/accept/continuation.ts";
import { startRun } from "../runs/accept/start-run.ts";
import { EXPIRED } from "../model/request.ts";
import { failPaused } from "./fail-paused.ts";

const NAME = "deadline";

/** Deadlines per batch. */
const BATCH = 100;
/** Upper bound for the timer, because the wall clock may be changed. */
const LOOK_AGAIN_MS = 15 * 60_000;
/** Upper bound with other processes, whose interrupts this process does not see. */
export const DEADLINE_POLL_MS = 5000;
const TRY_AGAIN_MS = [1000, 5000, 30_000, 60_000] as const;

export function createDeadlines(agent: AgentContext, lookAgainMs = LOOK_AGAIN_MS): Service {
  const { clock, storage, inbox, log } = agent;
  let stopped = true;
  let cancelTimer: () => void = () => undefined;
  /** Monotonic time at which the timer fires. */
  let ringsAt = Number.POSITIVE_INFINITY;
  let failures = 0;
  let ringing: Promise<void> = Promise.resolve();

  const setTimer = (ms: number): void => {
    const at = clock.monotonic() + ms;
    if (stopped || at >= ringsAt) return;
    cancelTimer();
    ringsAt = at;
    cancelTimer = clock.after(ms, () => {
      ringsAt = Number.POSITIVE_INFINITY;
      ringing = ringing.then(ring);
    });
  };
  const aimAt = (expiresAt: number): void => setTimer(Math.min(Math.max(expiresAt - clock.now(), 0), lookAgainMs)); // deadline-scheduler.2

  const ring = async (): Promise<void> => {
    try {
      await actOnDue();
      failures = 0;
      const next = stopped ? null : await storage.transaction(nextTime);
      if (next !== null) aimAt(next);
      else if (lookAgainMs !== LOOK_AGAIN_MS) setTimer(lookAgainMs);
    } catch (error) {
      log.warning("deadline_postponed", { reason: describeError(error).message });
      setTimer(TRY_AGAIN_MS[Math.min(failures++, TRY_AGAIN_MS.length - 1)] ?? 0); // deadline-scheduler.4
    }
  };
  const actOnDue = async (): Promise<void> => {
    if (!stopped) await escalateDue(agent);
    let found: number;
    do {
      const due = stopped ? [] : await storage.transaction((tx) => tx.dueInterrupts(clock.now(), BATCH));
      for (const list of Map.groupBy(due, ({ threadId }) => threadId).values()) await expireOnThread(agent, list);
      found = due.length;
    } while (found === BATCH);
  };

  inbox.onAdded((items) => {
    for (const { expiresAt, onExpiry, escalatesAt } of items) {
      if (expiresAt !== null && onExpiry !== null) aimAt(expiresAt);
      if (escalatesAt !== null) aimAt(escalatesAt);
    }
  });
  return {
    name: "deadlines",
    async start() {
      stopped = false;
      setTimer(0);
    },
    async stop() {
      stopped = true;
      cancelTimer();
      await ringing;
    },
  };
}

/** The earliest escalation or deadline. */
async function nextTime(tx: Pick<Tx, "nextDeadline" | "nextEscalation">): Promise<number | null> {
  const deadline = await tx.nextDeadline();
  const escalation = await tx.nextEscalation();
  return deadline === null || escalation === null ? (deadline ?? escalation) : Math.min(deadline, escalation);
}

/** @throws {ApiError} 503 on a temporary failure */
async function expireOnThread(agent: AgentContext, due: readonly Interrupt[]): Promise<void> {
  try {
    if (due.some(({ onExpiry }) => onExpiry === "fail")) await failThread(agent, due);
    else await answerByDefault(agent, due);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status >= 500) throw error;
    if (!LOST.has(error.code)) await noteRefused(agent, due, error);
  }
}

/**
 * A person answered first, or the thread continued or was deleted. If the interrupt opens again,
 * it is due again.
 */
const LOST: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "thread_busy",
  "thread_not_found",
  "interrupt_stale",
  "no_pending_interrupt",
]);

async function answerByDefault(agent: AgentContext, due: readonly Interrupt[]): Promise<void> {
  const [first] = due;
  if (first === undefined) return;
  const { threadId } = first;
  const asker = await agent.storage.transaction((tx) => tx.run(threadId, first.runId));
  const answers = due.map(({ interruptId, onExpiry }): [string, Json] => [
    interruptId,
    onExpiry === null || onExpiry === "fail" ? null : onExpiry.answer,
  ]);
  const call = { ...continuation(asker, first.assistantId), command: { resume: Object.fromEntries(answers) } };
  // The graph sees the user of the paused run; the audit trail names the deadline.
  const user = asker?.request.user ?? null;
  const caller: Caller = { name: NAME, user, permissions: asker?.request.permissions ?? [] };
  const { run } = await startRun(agent, caller, { threadId, call: { ...call, via: "deadline" } });
  agent.log.info("deadline_answered", { thread_id: threadId, run_id: run.runId, interrupts: due.length });
}

async function failThread(agent: AgentContext, due: readonly Interrupt[]): Promise<void> {
  const threadId = due[0]?.threadId ?? "";
  const isDue = ({ interruptId }: Interrupt): boolean => due.some((one) => one.interruptId === interruptId);
  const failed = await failPaused(agent, threadId, (open, at) => {
    const first = open.find(isDue);
    if (first === undefined) return null;
    return {
      error: { error: EXPIRED, message: expiredText(first) },
      how: "expired",
      audit: open.map((interrupt) => buildEntry(interrupt, isDue(interrupt) ? "expired" : "abandoned", at, null)),
    };
  });
  if (failed === null) return;
  const expired = failed.closed.filter(isDue);
  agent.inbox.expired(expired, failed.metadata);
  agent.inbox.closed(
    failed.closed.filter((one) => !isDue(one)),
    failed.metadata,
  );
  agent.log.warning("deadline_failed_thread", { thread_id: threadId, interrupts: expired.length });
}

function expiredText({ interruptId, node, expiresAt }: Interrupt): string {
  return `no answer to interrupt ${interruptId} of node ${node} before ${isoTime(expiresAt ?? 0)}`;
}

/** deadline-scheduler.4. */
async function noteRefused(agent: AgentContext, due: readonly Interrupt[], error: ApiError): Promise<void> {
  const threadId = due[0]?.threadId ?? "";
  await agent.storage.transaction(async (tx) => {
    const at = agent.clock.now();
    for (const { interruptId } of due) {
      const interrupt = await tx.interrupt(threadId, interruptId);
      if (interrupt?.state !== "open") continue;
      await tx.putInterrupts([{ ...interrupt, onExpiry: null }]);
      await tx.audit([buildEntry(interrupt, "expiry_refused", at, { code: error.code, detail: error.message })]);
    }
  });
  agent.log.error("deadline_refused", { thread_id: threadId, code: error.code, reason: error.message });
}

function buildEntry(interrupt: Interrupt, action: AuditEntry["action"], at: number, value: Json): AuditEntry {
  const { threadId, interruptId } = interrupt;
  return { threadId, at, action, by: NAME, via: NAME, interruptId, runId: null, value };
}
