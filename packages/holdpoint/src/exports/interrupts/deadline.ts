// Deadline: the end of a request's wait, as the member of its response schema that only code of the graph writes.
import type { JsonSchema } from "./answer-schema.ts";

export interface Deadline<Default> {
  readonly seconds: number;
  /** At the deadline the run fails, or continues with this answer. Without it the interrupt only counts as overdue. */
  readonly onExpiry?: "fail" | Default;
}

/** @param toWireAnswer the answer on the wire for `onExpiry` */
export function withDeadline<Default>(
  schema: JsonSchema,
  deadline: Deadline<Default> | undefined,
  toWireAnswer: (onExpiry: Default) => unknown,
): JsonSchema {
  if (deadline === undefined) return schema;
  const { seconds, onExpiry } = deadline;
  const then = onExpiry === undefined || onExpiry === "fail" ? onExpiry : { answer: toWireAnswer(onExpiry) };
  return {
    ...schema,
    "x-holdpoint-deadline": {
      expires_in_seconds: seconds,
      ...(then === undefined ? {} : { on_expiry: then }),
    },
  };
}
