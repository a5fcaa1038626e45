// Errors: failures of PostgreSQL or of its connection as errors of the API.
// Invariants:
//   - A connection lost before COMMIT means that nothing was written.
//   - After COMMIT, a lookup decides (commit-outcome.ts). If the lookup fails, the error says so; it never guesses.
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";

const RETRY_AFTER = { "Retry-After": "1" };

/** `deadlock_detected` and `serialization_failure`: nothing was written, and a retry can start at once. */
export function isRetryable(error: unknown): boolean {
  const code = readCode(error);
  return code === "40P01" || code === "40001";
}

/** A lock wait ended without the lock: `lock_not_available`, `deadlock_detected`. */
export function isLockTimeout(error: unknown): boolean {
  const code = readCode(error);
  return code === "55P03" || code === "40P01";
}

/** Storage failures become 503; rejections and defects stay unchanged. */
export function storageFailure(error: unknown): unknown {
  if (isClaimOfNobody(error)) {
    const detail = "This server lost its lease, and other workers took over its runs. Nothing was written. Try again.";
    return new ApiError("worker_not_listed", detail, {}, RETRY_AFTER);
  }
  return error instanceof ApiError || !isPassing(error) ? error : nothingWritten(error);
}

/** A claim in the name of a worker without a row (tables/queue.ts). */
function isClaimOfNobody(error: unknown): boolean {
  return error instanceof Error && "constraint" in error && error.constraint === "runs_worker_is_listed";
}

/** The server became a standby: another one takes writes. */
export function isReadOnly(error: unknown): boolean {
  return readCode(error) === "25006";
}

/** A statement that requires a row found none (transaction.ts). */
export function isDivisionByZero(error: unknown): boolean {
  return readCode(error) === "22012";
}

/** For any reason without a connection. */
export function nothingWritten(error: unknown): ApiError {
  return new ApiError(
    "storage_unavailable",
    `Nothing was written: ${formatReason(error)}. Try again.`,
    {},
    RETRY_AFTER,
  );
}

export function commitFailure(lost: unknown): ApiError {
  const detail = `The connection was lost before the storage confirmed the commit (${formatReason(lost)}). Check whether the write was stored, or send it again with its Idempotency-Key.`;
  return new ApiError("commit_unknown", detail, {}, RETRY_AFTER);
}

/** The connection will not answer this statement. Other errors are the database's answer to it. */
export function isConnectionLost(error: unknown): boolean {
  const code = readCode(error);
  return code === null || FROM_THE_SYSTEM.test(code) || /^(?:08|57P)/.test(code);
}

/** Classes 08 (connection), 53 (resources), 57P (shutdown), 58 (system); timeouts; a read-only standby. */
const PASSING = /^(?:08|53|57P|58)|^(?:25006|25P03|40001|40P01|55P03|57014)$/;
const FROM_THE_SYSTEM = /^E[A-Z]+$/;

function isPassing(error: unknown): boolean {
  const code = readCode(error);
  if (code !== null) return PASSING.test(code) || FROM_THE_SYSTEM.test(code);
  // Errors that `pg` itself creates have no code.
  return /connection|connect|not queryable|Client was closed|timeout/i.test(describeError(error).message);
}

/** The message, or the code if there is none: for a refused connection, Node has only the code. */
export function formatReason(error: unknown): string {
  return describeError(error).message || readCode(error) || "no reason given";
}

function readCode(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}
