// Contract of the storage port for erasure, one part of storage.contract.ts.
// Rules:
//   contract/erasure.1. Rows of a thread are counted in every table that has some, and none are after its deletion but
//        those of messages that still have to tell that the item is gone.
//   contract/erasure.2. Deliveries that name a text are found by page, sealed ones too.
//   contract/erasure.3. Items are found by one label of their namespace, whole, wherever it stands.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenStorage } from "./open-storage.ts";
import { newId, newInterrupt, newRun, newThread } from "./samples.contract.ts";

const DELIVERY = {
  url: "",
  host: "a",
  channel: "http",
  headers: {},
  batch: null,
  attempts: 0,
  dueAt: 1,
  createdAt: 1,
} as const;

export function erasureCases(open: OpenStorage): void {
  test("rows of a thread are counted by table, and gone with it (contract/erasure.1)", async (t) => {
    const storage = await open(t);
    const [thread, other] = [newThread(), newThread()];
    const item = newInterrupt(thread.threadId, "1".repeat(32));
    await storage.transaction(async (tx) => {
      for (const one of [thread, other]) await tx.insertThread(one);
      await tx.insertRun(newRun(thread.threadId));
      await tx.insertRun(newRun(other.threadId));
      await tx.putInterrupts([item]);
      const notice = { threadId: thread.threadId, interruptId: item.interruptId, target: {}, createdAt: 1 };
      await tx.putNotice({ ...notice, noticeId: "a", shown: "open" });
      await tx.putNotice({ ...notice, noticeId: "b", shown: "closed" });
    });
    const count = async (): Promise<object> => {
      const counts = await storage.read((tx) => tx.countThreadRows(thread.threadId));
      return Object.fromEntries(Object.entries(counts).filter(([, rows]) => rows > 0));
    };
    const { threads, runs, interrupts, notices } = (await count()) as Record<string, number>;
    assert.deepEqual({ threads, runs, interrupts, notices }, { threads: 1, runs: 1, interrupts: 1, notices: 2 });
    await storage.transaction(async (tx) => {
      await tx.deleteThread(thread.threadId);
      await tx.eraseThreadRows(thread.threadId);
    });
    assert.deepEqual(await count(), { notices: 1 });
    assert.equal(await storage.scrub(), true);
  });

  test("deliveries that name a text are found by page (contract/erasure.2)", async (t) => {
    const storage = await open(t);
    const ids = [newId(), newId(), newId()].toSorted();
    await storage.transaction(async (tx) => {
      for (const runId of ids)
        await tx.putWebhook({
          ...DELIVERY,
          runId,
          body: JSON.stringify({ thread_id: runId === ids[1] ? "of b" : "b" }),
        });
    });
    const page = (after: string) => storage.read((tx) => tx.webhooksNaming("of b", after, 2));
    assert.deepEqual(await page(""), { ids: [ids[1]], next: ids[1] });
    assert.deepEqual(await page(ids[1] ?? ""), { ids: [], next: null });
  });

  test("items are found by a whole label of their namespace (contract/erasure.3)", async (t) => {
    const storage = await open(t);
    const item = { key: "k", value: {}, createdAt: 1, updatedAt: 1, ttlMs: null, expiresAt: null };
    await storage.transaction(async (tx) => {
      for (const namespace of [["a"], ["x", "a"], ["a", "x"], ["aa"], ["x"]])
        await tx.putStoreItem({ ...item, namespace }, []);
    });
    const found = await storage.read((tx) => tx.itemsLabelled("a", 9));
    assert.deepEqual(found.map(({ namespace, key }) => [...namespace, key].join()).toSorted(), [
      "a,k",
      "a,x,k",
      "x,a,k",
    ]);
    assert.equal(await storage.read((tx) => tx.countItemsLabelled("a")), 3);
  });
}
