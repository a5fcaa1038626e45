// Tests of the claims that a process has not started yet.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runRecord } from "../../model/testkit.ts";
import type { ClaimTx } from "../../ports/ports.ts";
import type { WorkerPorts } from "./execution-ports.ts";
import { createClaims } from "./run-slots.ts";

test("a run whose claim was undone is not here: its cancellation goes to the process that has it", async () => {
  const claims = createClaims({
    clock: { now: () => 0 },
    engine: { lease: { workerId: () => "w" } },
    events: { wakes: { listeners: () => 0, hasRemoteListeners: () => false } },
  } as unknown as WorkerPorts);
  const tx = {} as ClaimTx;
  const claim = (runId: string, chosen: Parameters<typeof claims.claim>[2]): Promise<unknown> =>
    claims.claim(tx, () => ({ run: runRecord({ threadId: "t", runId, attempt: 1 }), thread: null }), chosen);
  const [ended, other] = [new Map(), new Map()];
  await claim("a", ended);
  assert.equal(claims.abort("a", "cancel"), true, "until it starts");
  await claim("b", ended);
  assert.deepEqual([claims.abort("a", "cancel"), claims.abort("b", "cancel")], [false, true], "in a repetition");
  await claim("b", other);
  claims.dropUnstarted(ended);
  assert.equal(claims.abort("b", "cancel"), true, "another transaction has claimed it here");
  assert.equal(claims.started("b"), "cancel");
  claims.dropUnstarted(other);
  assert.equal(claims.started("b"), null);
});
