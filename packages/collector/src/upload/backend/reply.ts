// Reply: maps a backend's status to the outcome of an upload.
// Invariants:
//   - Every status has exactly one outcome, defined here.
//   - A conflict is a delivery: the backend has these runs already.
import { retryAfterMs } from "@holdpoint/base/retry-after.ts";
import type { SendOutcome } from "./port.ts";

const PASSING = new Set([408, 425, 429, 499]);
export function toOutcome(status: number, detail: string, retryAfter: string | undefined, nowMs: number): SendOutcome {
  const reason = `${status}${detail === "" ? "" : ` ${detail}`}`;
  if ((status >= 200 && status < 300) || status === 409) return { kind: "sent" };
  if (status >= 500 || PASSING.has(status)) return { kind: "retry", reason, afterMs: retryAfterMs(retryAfter, nowMs) };
  if (status === 413) return { kind: "too_large", reason };
  if (status === 400 || status === 422) return { kind: "refused", reason };
  return { kind: "parked", reason };
}
