import assert from "node:assert/strict";
import { test } from "node:test";
import { createQueueLimit } from "./queue-limit.ts";

/** The replies of a limit to calls in a row; each call is accepted unless the queue is full. */
async function ask(runsMax: number, waiting: number, calls: number, msBetween: number) {
  let now = 0;
  let counted = 0;
  let accepted = 0;
  const room = createQueueLimit(runsMax, { monotonic: () => now });
  const countPendingRuns = (): number => {
    counted++;
    return waiting + accepted;
  };
  for (let at = 0; at < calls; at++) {
    if (!(await room.isFull({ countPendingRuns }))) accepted++;
    now += msBetween;
  }
  return { counted, accepted };
}

const CASES: readonly (readonly [
  name: string,
  given: Parameters<typeof ask>,
  outcome: Awaited<ReturnType<typeof ask>>,
])[] = [
  ["an empty queue is counted once for many runs", [100, 0, 50, 0], { counted: 1, accepted: 50 }],
  ["from half of the limit on each call counts (queue-limit.1)", [100, 0, 70, 0], { counted: 21, accepted: 70 }],
  ["no more than the limit are accepted (queue-limit.1)", [100, 0, 130, 0], { counted: 81, accepted: 100 }],
  ["a queue that is half full is counted each time (queue-limit.1)", [100, 50, 10, 0], { counted: 10, accepted: 10 }],
  ["a full queue takes nothing", [100, 100, 10, 0], { counted: 10, accepted: 0 }],
  ["a count is old after a second (queue-limit.2)", [1000, 0, 10, 1000], { counted: 10, accepted: 10 }],
  ["where one may wait, one does", [1, 0, 3, 0], { counted: 3, accepted: 1 }],
];

for (const [name, given, outcome] of CASES) {
  test(name, async () => {
    assert.deepEqual(await ask(...given), outcome);
  });
}
