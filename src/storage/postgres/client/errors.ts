// Failures: what PostgreSQL, or the way to it, says went wrong, in the words of the API.
// Invariants:
//   client/errors.1. Before COMMIT was sent, a lost connection means that nothing was written.
//   client/errors.2. After it, that is looked up (outcome.ts). When it cannot be, just that is said; it is never guessed.
import { ApiError, describeError } from "../../../base/api-error.ts";

const RETRY_AFTER = { "Retry-After": "1" };

/** `deadlock_detected` and `serialization_failure`: nothing was written, and the same work can be done again at once. */
export function mayBeDoneAgain(error: unknown): boolean {
  const code = codeOf(error);
  return code === "40P01" || code === "40001";
}

/** A lock was waited for in vain, or was given to whoever else waited: `lock_not_available`, `deadlock_detected`. */
export function gaveWay(error: unknown): boolean {
  const code = codeOf(error);
  return code === "55P03" || code === "40P01";
}

/** Errors of the storage become 503; others, refusals and defects, stay what they are. */
export function storageFailure(error: unknown): unknown {
  if (isClaimOfNobody(error)) {
    const detail = "This server was away for too long, and others have taken its runs. Nothing was written. Try again.";
    return new ApiError("worker_not_listed", detail, {}, RETRY_AFTER);
  }
  return error instanceof ApiError || !isPassing(error) ? error : nothingWritten(error);
}

/** A run was claimed in the name of a worker that was taken off the list (queue-verbs.ts, tables/queue.3). */
function isClaimOfNobody(error: unknown): boolean {
  return error instanceof Error && "constraint" in error && error.constraint === "runs_worker_is_listed";
}

/** A statement that was to find a row has found none (session.ts). */
export function isDivisionByZero(error: unknown): boolean {
  return codeOf(error) === "22012";
}

/** Whatever the reason is that there is no connection. */
export function nothingWritten(error: unknown): ApiError {
  return new ApiError("storage_unavailable", `Nothing was written: ${reasonOf(error)}. Try again.`, {}, RETRY_AFTER);
}

/** client/errors.2. */
export function commitFailure(lost: unknown): ApiError {
  const detail = `The connection was lost before the storage had said whether this was stored (${reasonOf(lost)}). Look whether it is there, or send it again with its Idempotency-Key.`;
  return new ApiError("commit_unknown", detail, {}, RETRY_AFTER);
}

/** Nothing more is heard of the statement. Other errors are the database's answer to it. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return code === null || FROM_THE_SYSTEM.test(code) || /^(?:08|57P)/.test(code);
}

/** Classes 08 (connection), 53 (resources), 57P (shutdown), 58 (system); timeouts; a read-only standby. */
const PASSING = /^(?:08|53|57P|58)|^(?:25006|25P03|40001|40P01|55P03|57014)$/;
const FROM_THE_SYSTEM = /^E[A-Z]+$/;

function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== null) return PASSING.test(code) || FROM_THE_SYSTEM.test(code);
  // What `pg` makes itself has no code.
  return /connection|connect|not queryable|Client was closed|timeout/i.test(describeError(error).message);
}

/** In words, or as a code where there are none: of a refused connection, Node says only that. */
export function reasonOf(error: unknown): string {
  return describeError(error).message || codeOf(error) || "no reason was given";
}

function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}
