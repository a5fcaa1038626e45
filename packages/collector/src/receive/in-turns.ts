// In turns: runs a generator to its end. Short work ends at once; long work yields to other requests between its slices.
import { setImmediate as nextTurn } from "node:timers/promises";

export function inTurns<T>(steps: Generator<undefined, T>): T | Promise<T> {
  const first = steps.next();
  return first.done === true ? first.value : rest(steps);
}

async function rest<T>(steps: Generator<undefined, T>): Promise<T> {
  for (;;) {
    await nextTurn();
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
