// Tests of first-event-id.1.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../model/model.ts";
import type { Tx } from "../ports/ports.ts";
import { eventStart } from "./first-event-id.ts";

const ATTEMPTS: readonly (readonly [attempt: number, last: number | null, firstId: number])[] = [
  [0, null, 0],
  [1, null, 1_000_000],
  [1, 245, 1_000_000],
  [2, 1_000_300, 2_000_000],
  [2, 3_000_001, 4_000_000],
];

for (const [attempt, last, firstId] of ATTEMPTS) {
  test(`after ${attempt} attempts and stored events up to ${last ?? "none"}, ids begin at ${firstId}, also without a crash`, async () => {
    const extent = last === null ? null : { last, events: 3, bytes: 300 };
    const tx = { eventExtent: () => extent } as unknown as Tx;
    const run = { threadId: "thread", runId: "run", attempt, crashes: 0, suspicions: 0, storageFailures: 0 } as Run;
    assert.equal((await eventStart(tx, run)).firstId, firstId);
  });
}
