// Upload: the last step (… → batch → encode → upload). One cycle: sends a body, retries after transient causes, and
// bisects a refused body, until every run is delivered, refused, or postponed to a later cycle. Invariants:
//   - A cycle sends a body at most 1 + `retriesMax` times.
//   - Bisection isolates a refused run before dead-lettering it, and delivers its neighbours.
//   - No attempt starts before the time that the backend requested.
//   - When the signal aborts, the wait between attempts ends at once and unsent runs stay in the job.
//   - delivered + refused + left = the runs of the body.
import { backoffMs } from "@holdpoint/base/backoff.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Backend, SendOutcome } from "./backend/port.ts";
import { type Body, cut, shorten } from "../encode/batch-body.ts";
import type { DropReason } from "../shared/span-accounting.ts";

export interface UploadPolicy {
  readonly retriesMax: number;
  readonly retryBackoffMs: number;
}

export interface UploadPorts {
  /** Waits for a free slot, sends, releases the slot. */
  readonly send: Backend["send"];
  readonly clock: Clock;
  readonly random: () => number;
  readonly onRetry: () => void;
}

export interface Refusal {
  readonly body: Body;
  readonly cause: DropReason;
  readonly reason: string;
}

export interface UploadResult {
  readonly delivered: Body[];
  readonly refused: Refusal[];
  readonly left: Body[];
  /** The reason for `left`; null when it is empty. */
  readonly failure: {
    readonly kind: "retry" | "parked";
    readonly reason: string;
    readonly afterMs: number | null;
  } | null;
}

const BACKOFF_MS_MAX = 30_000;

export async function upload(
  body: Body,
  policy: UploadPolicy,
  ports: UploadPorts,
  signal: AbortSignal,
): Promise<UploadResult> {
  const result: UploadResult = { delivered: [], refused: [], left: [], failure: null };
  let failure: UploadResult["failure"] = null;
  const todo: Body[] = [body];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (failure !== null) {
      result.left.push(next);
      continue;
    }
    const outcome = await sendAgain(next, policy, ports, signal);
    if (outcome.kind === "sent") result.delivered.push(next);
    else if (outcome.kind === "retry") {
      failure = outcome;
      result.left.push(next);
    } else if (outcome.kind === "parked") {
      failure = { ...outcome, afterMs: null };
      result.left.push(next);
    } else if (next.offsets.length > 1) {
      const middle = Math.ceil(next.offsets.length / 2);
      const tail = await cut(next, middle, next.offsets.length);
      todo.push(tail, await cut(next, 0, middle));
    } else if (outcome.kind === "too_large") {
      const shorter = await shorten(next);
      if (shorter === null) result.refused.push({ body: next, cause: "too_large", reason: outcome.reason });
      else todo.push(shorter);
    } else result.refused.push({ body: next, cause: "refused_by_backend", reason: outcome.reason });
  }
  return { ...result, failure };
}

/** Sends one body unchanged until the backend accepts or refuses it, or after `retriesMax` retries. */
export async function sendAgain(
  body: Body,
  policy: UploadPolicy,
  ports: UploadPorts,
  signal: AbortSignal,
): Promise<SendOutcome> {
  let outcome: SendOutcome = { kind: "retry", reason: "not yet sent", afterMs: null };
  for (let attempt = 0; attempt <= policy.retriesMax; attempt++) {
    if (attempt > 0) {
      ports.onRetry();
      if (!(await pause(delayMs(attempt, outcome, policy, ports), ports.clock, signal))) return outcome;
    }
    outcome = await ports.send(body, signal);
    if (outcome.kind !== "retry" || signal.aborted) return outcome;
  }
  return outcome;
}

function delayMs(attempt: number, outcome: SendOutcome, policy: UploadPolicy, ports: UploadPorts): number {
  const requestedMs = outcome.kind === "retry" ? outcome.afterMs : null;
  return backoffMs(
    attempt,
    { baseMs: policy.retryBackoffMs, maxMs: BACKOFF_MS_MAX, random: ports.random },
    requestedMs,
  );
}

/** False when the signal ends the wait. */
function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const onAbort = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", onAbort);
      resolve(true);
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
