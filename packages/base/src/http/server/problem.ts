// Problem: a refusal in RFC 9457 form, one shape for every status.
import { randomUUID } from "node:crypto";
import { ApiError, describeError, ERROR_CODES } from "../../api-error.ts";
import type { Log } from "../../log/log.ts";
import { fitted, shortText } from "./problem-size.ts";

export interface Problem {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function toProblem(thrown: unknown, log: Log): Problem {
  const error = toApiError(thrown, log);
  const text = JSON.stringify(problemObject(error));
  return { status: error.status, text, headers: { "Content-Type": "application/problem+json", ...error.headers } };
}

/** The members of a problem, also for one of several in a single reply. Human-readable members come first. */
export function problemObject({ code, status, message: text, extra }: ApiError): object {
  const [, title] = ERROR_CODES[code];
  const detail = shortText(text);
  return fitted({ title, detail, message: detail, type: `urn:holdpoint:error:${code}`, status, code }, extra);
}

/** Any error other than ApiError is a defect: the log has its details, the reply its code and the id of the log line. */
export function toApiError(thrown: unknown, log: Log): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const { name, message } = describeError(thrown);
  const faultId = randomUUID();
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  log.error("request_failed", { fault_id: faultId, name, message, stack });
  return new ApiError("internal_error", "Internal error; the server log has the details.", { fault_id: faultId });
}
