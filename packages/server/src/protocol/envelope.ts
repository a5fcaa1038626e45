// Envelope: the reply to a command, and which protocol code a refusal has.
// Invariants:
//   - A refusal keeps the product's code and details beside the protocol's; a fault shows its code and the id of
//     its log line.
//   - A refusal that HTTP decides (permissions, a missing thread, an unavailable storage) is no envelope over HTTP; on
//     a socket it is one.
import { type ErrorCode, ApiError } from "@holdpoint/base/api-error.ts";
import { isJsonObject } from "@holdpoint/base/json/json.ts";

export type ProtocolError =
  | "invalid_argument"
  | "unknown_command"
  | "unknown_error"
  | "no_such_run"
  | "no_such_subscription"
  | "no_such_namespace"
  | "no_such_interrupt"
  | "no_such_checkpoint"
  | "permission_denied"
  | "not_supported";

export interface Meta {
  readonly thread_id: string;
  readonly applied_through_seq: number;
}

export interface Success {
  readonly type: "success";
  readonly id: number;
  readonly result: object;
  readonly meta: Meta;
}

export interface Failure {
  readonly type: "error";
  readonly id: number | null;
  readonly error: ProtocolError;
  readonly message: string;
  readonly code?: ErrorCode;
  readonly meta?: Meta;
  readonly [extra: string]: unknown;
}

export type Envelope = Success | Failure;

/** A refusal that the protocol has a code for and the product has none. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly error: ProtocolError;

  constructor(error: ProtocolError, message: string) {
    super(message);
    this.error = error;
  }
}

const PROTOCOL_CODES: Partial<Record<ErrorCode, ProtocolError>> = {
  interrupt_unknown: "no_such_interrupt",
  interrupt_stale: "no_such_interrupt",
  checkpoint_not_found: "no_such_checkpoint",
  run_not_found: "no_such_run",
  thread_not_found: "no_such_run",
  forbidden: "permission_denied",
  unauthenticated: "permission_denied",
  refused_by_handler: "permission_denied",
  internal_error: "unknown_error",
  storage_unavailable: "unknown_error",
  commit_unknown: "unknown_error",
};

const HTTP_CODES: readonly ErrorCode[] = [
  "unauthenticated",
  "forbidden",
  "refused_by_handler",
  "thread_not_found",
  "internal_error",
  "storage_unavailable",
  "commit_unknown",
  "limit_reached",
  "worker_not_listed",
  "shutting_down",
];

export function isForHttp(error: unknown): boolean {
  if (error instanceof ApiError) return HTTP_CODES.includes(error.code);
  return !(error instanceof CommandError);
}

/** @param interruptIds the questions that the command was to answer */
export function buildFailure(
  id: number | null,
  error: ApiError | CommandError,
  interruptIds: readonly string[] = [],
): Failure {
  const { message } = error;
  if (error instanceof CommandError) return { type: "error", id, error: error.error, message };
  const protocolError = PROTOCOL_CODES[error.code] ?? "invalid_argument";
  const { see: _see, ...extra } = error.extra;
  const unknown = protocolError === "no_such_interrupt" ? { reason: "not_pending", interrupt_ids: interruptIds } : {};
  return {
    ...extra,
    ...pendingIds(extra),
    ...unknown,
    ...retryAfter(error),
    type: "error",
    id,
    error: protocolError,
    message,
    code: error.code,
  };
}

/** A refusal that time mends names the time in its header: an envelope has none. */
function retryAfter({ headers }: ApiError): { readonly retry_after_ms?: number } {
  const seconds = Number(headers["Retry-After"]);
  return Number.isFinite(seconds) ? { retry_after_ms: seconds * 1000 } : {};
}

function pendingIds({ pending }: Readonly<Record<string, unknown>>): { readonly pending_ids?: readonly unknown[] } {
  if (!Array.isArray(pending)) return {};
  return { pending_ids: pending.map((one: unknown) => (isJsonObject(one) ? one["id"] : null)) };
}
