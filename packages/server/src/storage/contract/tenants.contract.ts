// Contract of the storage port for the limits of tenants, one part of storage.contract.ts.
// Rules:
//   contract/tenants.1. A tenant's runs, open items and bytes count, and nobody else's; what has ended counts no more.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenStorage } from "./open-storage.ts";
import { buildBlob, newInterrupt, newRun, newThread, set } from "./samples.contract.ts";

export function tenantCases(open: OpenStorage): void {
  test("what a tenant uses counts for it alone (contract/tenants.1)", async (t) => {
    const storage = await open(t);
    const [own, foreign] = [newThread({ status: "interrupted" }), newThread({ status: "interrupted" })];
    const { threadId } = own;
    const [pending, ended] = [newRun(threadId), newRun(threadId, { status: "success" })];
    const item = { namespace: ["a"], key: "k", value: { text: "12345678" }, createdAt: 1, updatedAt: 1, ttlMs: null };
    await storage.transaction(async (tx) => {
      for (const thread of [own, foreign]) {
        await tx.insertThread(thread);
        await tx.putInterrupts([
          newInterrupt(thread.threadId, "open"),
          newInterrupt(thread.threadId, "left", { state: "abandoned" }),
        ]);
      }
      await tx.holdTenant("ann");
      await tx.ownThread(foreign.threadId, "ann");
      await tx.ownThread(foreign.threadId, "ben");
      await tx.ownThread(threadId, "ann");
      for (const run of [pending, ended, newRun(foreign.threadId)]) {
        await tx.insertRun(run);
        await tx.ownRun(run.runId);
      }
    });
    const count = () =>
      storage.transaction(async (tx) => [await tx.countTenantRuns("ann"), await tx.countTenantQuestions("ann")]);
    assert.deepEqual(await count(), [1, 1]);
    const measure = async () => (await storage.read((tx) => tx.measureTenant("ann"))).bytes;
    const before = await measure();
    assert.ok(before > 0);
    await storage.transaction((tx) => tx.putWriteSet(set({ blobs: [buildBlob(threadId, "x".repeat(5000))] })));
    const withBlob = await measure(); // sealed values are larger
    assert.ok(withBlob - before >= 5000);
    await storage.transaction(async (tx) => {
      await tx.putStoreItem({ ...item, expiresAt: null }, []);
      await tx.ownStoreItem(item.namespace, item.key, "ann");
    });
    const withItem = await measure();
    assert.ok(withItem - withBlob >= JSON.stringify(item.value).length);
    await storage.transaction(async (tx) => {
      await tx.updateRun(pending.runId, { status: "success" });
      await tx.putInterrupts([newInterrupt(threadId, "open", { state: "answered" })]);
    });
    assert.deepEqual(await count(), [0, 0]);
    await storage.transaction((tx) => tx.deleteThread(threadId));
    assert.equal(await measure(), withItem - withBlob);
  });
}
