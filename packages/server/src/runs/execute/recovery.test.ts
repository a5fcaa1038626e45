import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeClock } from "../../../../../test/fakes/clock.ts";
import type { Run } from "../../model/model.ts";
import type { EndTx, EventTx } from "../../ports/ports.ts";
import type { WorkerOptions } from "./execution-ports.ts";
import { createRecovery, type RecoveryPorts } from "./recovery.ts";

const newRun = (runId: string): Run =>
  ({
    runId,
    threadId: `thread of ${runId}`,
    attempt: 1,
    status: "running",
    crashes: 0,
    suspicions: 0,
    storageFailures: 0,
  }) as Run;

test("a run whose end was stored after the list was read stays ended (recovery.1)", async () => {
  const said: string[] = [];
  const note = (what: string, runId: string): Promise<void> => Promise.resolve(void said.push(`${what} ${runId}`));
  const tx = {
    failUnreadableRuns: () => Promise.resolve(),
    runningRuns: () => Promise.resolve([newRun("ended"), newRun("left")]),
    isCurrent: async (run: Run) => (await note("lock", run.runId), run.runId === "left"),
    updateRun: (runId: string) => note("requeue", runId),
    queueNext: () => Promise.resolve(),
  } as unknown as EndTx & EventTx;
  const ports = { clock: createFakeClock(), graphs: {}, events: { storeLateEnd: () => Promise.resolve() } };
  const recovery = createRecovery({ crashesMax: 3 } as WorkerOptions, ports as unknown as RecoveryPorts);
  const requeued = await recovery.requeueOrphans(tx, { workerId: "dead", alive: false });
  assert.deepEqual(said, ["lock ended", "lock left", "requeue left"]);
  assert.deepEqual(
    requeued.map(({ runId, status }) => [runId, status]),
    [["left", "pending"]],
  );
});
