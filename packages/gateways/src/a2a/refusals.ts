// Refusals: errors of the API as errors of the protocol.
import { RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { ApiRefusal } from "../calls/own-api.ts";

const NOT_FOUND = new Set(["thread_not_found", "run_not_found"]);

/** Other errors pass unchanged. */
export function protocolError(error: unknown): unknown {
  if (!(error instanceof ApiRefusal) || error.status >= 500) return error;
  const { code } = error;
  const options = { message: `${error.message} (${code})`, metadata: { code }, cause: error };
  if (NOT_FOUND.has(code)) return new TaskNotFoundError(options);
  if (error.status === 409 || error.status === 403) return new UnsupportedOperationError(options);
  return new RequestMalformedError(options);
}

export async function refusable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw protocolError(error);
  }
}

/** A refusal that is about the caller's rights: its reply has an HTTP status of its own. */
export function findStatus(error: unknown): number | null {
  const cause = error instanceof Error ? error.cause : null;
  if (!(cause instanceof ApiRefusal)) return null;
  return cause.status === 401 || cause.status === 403 ? cause.status : null;
}
