// Tests of the requeue after an outage, with a storage that fails as often as a test says, on a clock that stands
// still.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../../../../test/fakes/clock.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Run } from "../../model/model.ts";
import type { Tx } from "../../ports/ports.ts";
import type { ExecutePorts } from "./execution-ports.ts";
import { STORAGE_FAILURES_MAX } from "./finish-run.ts";
import { type AfterOutage, requeueAfterOutage } from "./requeue-after-outage.ts";

const RUN = {
  runId: "run",
  threadId: "thread",
  attempt: 1,
  status: "running",
  crashes: 0,
  suspicions: 0,
  storageFailures: 0,
  request: {},
} as unknown as Run;

/** @param refusals number of transactions that fail first */
function begin(
  run: Run,
  given: { readonly refusals?: number; readonly progressed?: boolean; readonly gone?: boolean },
) {
  const clock = createFakeClock();
  const updates: Partial<Run>[] = [];
  let refusals = given.refusals ?? 0;
  const seen = { tries: 0, draining: false };
  const tx = {
    isCurrent: () => Promise.resolve(given.gone !== true),
    run: () => Promise.resolve(null),
    updateRun: (_id: string, patch: Partial<Run>) => Promise.resolve(void updates.push(patch)),
    queueNext: () => Promise.resolve(),
    thread: () => Promise.resolve({ threadId: "thread", status: "busy", onCompletion: "keep", metadata: {} }),
    interrupts: () => Promise.resolve([]),
    hasPendingRun: () => Promise.resolve(false),
    activeRuns: () => Promise.resolve([]),
    listAudit: () => Promise.resolve([]),
    runWebhooks: () => Promise.resolve([]),
    putWriteSet: () => Promise.resolve(),
    putInterrupts: () => Promise.resolve(),
    audit: () => Promise.resolve(),
    updateThread: () => Promise.resolve(),
  } as unknown as Tx;
  const ports = {
    clock,
    crashesMax: 3,
    graphs: { readUnused: () => Promise.resolve([]) },
    events: { storeLateEnd: () => Promise.resolve() },
    log: { warning: () => undefined },
    isDraining: () => seen.draining,
    storage: {
      async transaction(work: (tx: Tx) => Promise<AfterOutage>) {
        seen.tries++;
        if (refusals-- > 0) throw new ApiError("storage_unavailable", "the disk is full");
        return work(tx);
      },
    },
  } as unknown as ExecutePorts;
  const result = requeueAfterOutage(run, { progressed: () => given.progressed === true }, ports);
  return { result, updates, seen, clock };
}

test("the requeue is repeated until it is stored (requeue-after-outage.1)", async () => {
  const { result, updates, seen, clock } = begin(RUN, { refusals: 3 });
  await clock.advance(250 + 1000 + 2000);
  assert.deepEqual(await result, { finished: null, left: "taken_over", refused: [] });
  assert.equal(seen.tries, 4);
  assert.deepEqual(
    updates.map(({ status, storageFailures }) => [status, storageFailures]),
    [["pending", 1]],
  );
});

test("attempts without a checkpoint are counted and delayed, and end the run at the limit (requeue-after-outage.2)", async () => {
  const later = begin({ ...RUN, storageFailures: 2 }, {});
  await later.clock.advance(0);
  assert.equal(later.seen.tries, 0, "the third attempt in a row waits");
  await later.clock.advance(1000);
  assert.equal((await later.result).finished, null);
  assert.equal(later.updates[0]?.storageFailures, 3);

  const last = begin({ ...RUN, storageFailures: STORAGE_FAILURES_MAX }, {});
  await last.clock.advance(5000);
  const { finished } = await last.result;
  assert.equal(finished?.run.endedBy, "failure");
  assert.equal(finished.run.error?.error, "StorageError");
});

test("a checkpoint ends the count (requeue-after-outage.2)", async () => {
  const { result, updates } = begin({ ...RUN, storageFailures: STORAGE_FAILURES_MAX }, { progressed: true });
  assert.equal((await result).left, "taken_over");
  assert.equal(updates[0]?.storageFailures, 1);
});

test("a run that was deleted meanwhile is reported as deleted (requeue-after-outage.3)", async () => {
  assert.deepEqual(await begin(RUN, { gone: true }).result, { finished: null, left: "deleted" });
});

test("a stopping process leaves the run to the next start (requeue-after-outage.1)", async () => {
  const { result, seen } = begin(RUN, { refusals: 1 });
  seen.draining = true;
  assert.deepEqual(await result, { finished: null, left: "not_stored" });
});
