// Problem: a refusal as RFC 9457 has it, in one shape for every status.
import { ApiError, describeError, ERROR_CODES } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

export interface Problem {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is no ApiError is a defect of ours: it is logged whole and told in one word. */
export function problemOf(thrown: unknown, log: Log): Problem {
  const error = thrown instanceof ApiError ? thrown : hidden(thrown, log);
  const [, title] = ERROR_CODES[error.code];
  const { code, status, message: detail, extra } = error;
  const text = JSON.stringify({ type: `urn:holdpoint:error:${code}`, title, status, detail, code, ...extra });
  return { status, text, headers: { "Content-Type": "application/problem+json", ...error.headers } };
}

function hidden(thrown: unknown, log: Log): ApiError {
  const { name, message } = describeError(thrown);
  log.error("request_failed", { name, message, stack: thrown instanceof Error ? thrown.stack : undefined });
  return new ApiError("internal_error", "The server failed; its log says why.");
}
