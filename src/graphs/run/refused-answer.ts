// Refused answer: LangGraph rejected an answer that passed the check before acceptance (a refinement of a Zod schema).
// Rules:
//   refused-answer.1. LangGraph's own mark decides: it names an error caused by a resume value, also as the cause of
//        another.
//   refused-answer.2. If another task of the same step failed for its own reason, the run has failed.
import { ApiError } from "../../base/api-error.ts";

/** LangGraph has it since 1.7. */
const INVALID_RESUME = Symbol.for("langgraph.invalid_resume");
const CAUSES_MAX = 10;

export function isRefusedAnswer(thrown: unknown): boolean {
  // refused-answer.2
  if (thrown instanceof AggregateError) return thrown.errors.length > 0 && thrown.errors.every((one) => isMarked(one));
  return isMarked(thrown);
}

/** refused-answer.1. */
function isMarked(thrown: unknown): boolean {
  let current: unknown = thrown;
  for (let depth = 0; depth < CAUSES_MAX; depth++) {
    if (typeof current !== "object" || current === null) return false;
    if (Reflect.get(current, INVALID_RESUME) === true) return true;
    current = Reflect.get(current, "cause");
  }
  return false;
}

/** The node asks another question at the place of an answer, which it did not get (langgraph/asked-payload.ts). */
export function interruptMoved(): ApiError {
  const detail =
    "The node asked another question than the one that was answered. Nothing was delivered, and the question is open again. Make the questions of the node the same each time it runs, or send input null to have it ask anew.";
  return new ApiError("interrupt_moved", detail);
}

export function isInterruptMoved(thrown: unknown): boolean {
  return thrown instanceof ApiError && thrown.code === "interrupt_moved";
}
