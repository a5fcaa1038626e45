// Refused answer: the library refused an answer that passed the check before acceptance (a refinement of a Zod schema).
// Rules:
//   refused-answer.1. The library's own mark decides: it names an error that a resume value caused, also as the cause of another.
//   refused-answer.2. When another task failed in the same step for a reason of its own, the run has failed.

/** Of the library, since 1.7. */
const INVALID_RESUME = Symbol.for("langgraph.invalid_resume");
const CAUSES_MAX = 10;

export function isRefusedAnswer(thrown: unknown): boolean {
  if (thrown instanceof AggregateError) return thrown.errors.length > 0 && thrown.errors.every((one) => isMarked(one)); // refused-answer.2
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
