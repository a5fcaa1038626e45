// Error text: the error of a task as clients get it.
import { describeError } from "@holdpoint/base/api-error.ts";

/** JSON text of the error's message and name: the hooks of the official SDKs parse it. */
export function readErrorText(error: unknown): string | null {
  if (error === undefined || error === null) return null;
  if (typeof error === "string") return error;
  const { name, message } = describeError(error instanceof Error ? error : Object.assign(new Error(), error));
  return JSON.stringify({ message, name });
}
