// Reply: maps a backend's status to the outcome of an upload.
// Invariants:
//   reply.1. Every status has exactly one outcome, defined here.
//   reply.2. A conflict is a delivery: the backend has these runs already.
import type { SendOutcome } from "./port.ts";

const PASSING = new Set([408, 425, 429, 499]);
/** Real backends ask for less, and a date may be years away. */
const RETRY_AFTER_MS_MAX = 3_600_000;

export function toOutcome(status: number, detail: string, retryAfter: string | undefined, nowMs: number): SendOutcome {
  const reason = `${status}${detail === "" ? "" : ` ${detail}`}`;
  if ((status >= 200 && status < 300) || status === 409) return { kind: "sent" }; // reply.2
  if (status >= 500 || PASSING.has(status)) return { kind: "retry", reason, afterMs: retryAfterMs(retryAfter, nowMs) };
  if (status === 413) return { kind: "too_large", reason };
  if (status === 400 || status === 422) return { kind: "refused", reason };
  return { kind: "parked", reason };
}

/** Seconds or an HTTP date → ms from now. */
export function retryAfterMs(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(seconds) ? null : Math.min(Math.max(0, seconds), RETRY_AFTER_MS_MAX);
}
