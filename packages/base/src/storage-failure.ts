// Storage failure: distinguishes an unavailable storage from every other failure, and retries reads until it recovers.
// Invariants:
//   - The cause decides, never a message: an error counts if it, its `cause` or one of its `errors` comes from the
//     storage.
//   - A failing read does not fail a call whose run is accepted: the read repeats until the storage recovers, the
//     caller disconnects or the server stops.
import { ApiError, type ErrorCode } from "./api-error.ts";
import type { Clock } from "./clock.ts";

const CODES: ReadonlySet<ErrorCode> = new Set(["storage_unavailable", "commit_unknown", "worker_not_listed"]);
/** Limit of nested causes to check: an error can be its own cause. */
const DEPTH_MAX = 8;

export function isStorageFailure(thrown: unknown, depth = 0): boolean {
  if (!(thrown instanceof Error) || depth > DEPTH_MAX) return false;
  if (thrown instanceof ApiError && CODES.has(thrown.code)) return true;
  if (isStorageFailure(thrown.cause, depth + 1)) return true;
  return thrown instanceof AggregateError && thrown.errors.some((one) => isStorageFailure(one, depth + 1));
}

const AGAIN_MS = [50, 100, 250, 500, 1000] as const;

/**
 * Repeats a read while the storage fails.
 * @param isOver checked before each repetition; true once no caller needs the result
 * @returns null if isOver ended the wait
 */
export async function retryWhileUnavailable<T>(
  clock: Clock,
  read: () => Promise<T>,
  isOver: () => boolean,
): Promise<T | null> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
    }
    const delayMs = AGAIN_MS[Math.min(attempt, AGAIN_MS.length - 1)] ?? 0;
    await new Promise<void>((resolve) => void clock.after(delayMs, resolve));
    if (isOver()) return null;
  }
}
