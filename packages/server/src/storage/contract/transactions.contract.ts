// Contract of the storage port for transactions, one part of storage.contract.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry } from "../../model/model.ts";
import type { Tx } from "../../ports/ports.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { OpenStorage } from "./open-storage.ts";
import { newThread } from "./samples.contract.ts";

export function transactionCases(open: OpenStorage): void {
  test("a transaction returns its result and sees its own writes (contract/storage.1)", async (t) => {
    const storage = await open(t);
    const thread = newThread();
    const seen = await storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      await tx.updateThread(thread.threadId, { status: "busy" });
      return tx.thread(thread.threadId);
    });
    assert.deepEqual(seen, { ...thread, status: "busy" });
    assert.deepEqual(await storage.transactionDeferred((tx) => tx.thread(thread.threadId)), seen);
    assert.deepEqual(await storage.read((tx) => tx.thread(thread.threadId)), seen);
  });

  test("a throw discards all writes, and the caller gets the same error (contract/storage.1)", async (t) => {
    const storage = await open(t);
    const thread = newThread();
    const fault = new RangeError("on purpose");
    const ways = [
      (work: (tx: Tx) => Promise<void>) => storage.transaction(work),
      (work: (tx: Tx) => Promise<void>) => storage.transactionDeferred(work),
    ];
    for (const begin of ways) {
      const failing = begin(async (tx) => {
        await tx.insertThread(thread);
        await tx.audit([entry(thread.threadId, "abandoned")]);
        throw fault;
      });
      await assert.rejects(failing, (error) => error === fault);
    }
    assert.equal(await storage.transaction((tx) => tx.thread(thread.threadId)), null);
    assert.deepEqual(await storage.transaction((tx) => tx.listAudit(thread.threadId)), []);
  });

  test("a failed transaction leaves its neighbours in the commit untouched (contract/storage.2)", async (t) => {
    const storage = await open(t);
    const [one, two, three] = [newThread(), newThread(), newThread()];
    const results = await Promise.allSettled([
      storage.transaction((tx) => tx.insertThread(one)),
      storage.transaction(async (tx) => {
        await tx.insertThread(two);
        await tx.updateThread(one.threadId, { status: "error" });
        throw new Error("on purpose");
      }),
      storage.transactionDeferred((tx) => tx.insertThread(three)),
      storage.transaction((tx) => tx.insertThread(one)), // in use: the storage itself rejects it
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled", "rejected"],
    );
    const found = await storage.transaction(async (tx) => [
      await tx.thread(one.threadId),
      await tx.thread(two.threadId),
      await tx.thread(three.threadId),
    ]);
    assert.deepEqual(found, [one, null, three]);
  });

  test("transactions of one turn run in call order (contract/storage.2)", async (t) => {
    const storage = await open(t);
    const thread = newThread();
    await storage.transaction((tx) => tx.insertThread(thread));
    const takes = Array.from({ length: 20 }, (_, at) =>
      storage.transaction((tx) => tx.takeThread(thread.threadId, "idle", { updatedAt: at })),
    );
    const statuses = (await Promise.allSettled(takes)).map(({ status }) => status);
    assert.deepEqual(statuses, ["fulfilled", ...Array.from({ length: 19 }, () => "rejected")]);
    assert.equal((await storage.transaction((tx) => tx.thread(thread.threadId)))?.updatedAt, 0);
  });
}

function entry(threadId: string, action: AuditEntry["action"], value: Json = null): AuditEntry {
  return { threadId, at: 1, action, by: "ann", interruptId: "q", runId: null, value };
}
