// Contract of the storage port for batches of the outbox, notices and one-use tokens, one part of storage.contract.ts.
// Rules:
//   contract/notices.1. A batch is claimed in order of its due times, up to its limit; rows of other batches stay.
//   contract/notices.2. An attempt may leave the count of attempts as it was.
//   contract/notices.3. A notice is stale once its item is closed or deleted, until it shows that.
//   contract/notices.4. A token is spent once, however many callers race; after its expiry nothing of it is kept.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Interrupt, Notice, Thread, Webhook } from "../../model/model.ts";
import type { Storage } from "../../ports/ports.ts";
import type { NewId } from "@holdpoint/base/ids.ts";

export interface NoticeSamples {
  readonly newId: NewId;
  readonly newThread: () => Thread;
  readonly newInterrupt: (threadId: string, interruptId: string) => Interrupt;
}

export function noticeCases(
  open: (t: TestContext) => Promise<Storage>,
  { newId, newThread, newInterrupt }: NoticeSamples,
): void {
  const delivery = (batch: string | null, dueAt: number): Webhook => {
    const address = { url: "", host: "slack.com", channel: "slack", body: "{}", headers: {} } as const;
    return { ...address, runId: newId(), batch, attempts: 0, dueAt, createdAt: dueAt };
  };

  test("rows of a batch are claimed together, longest due first (contract/notices.1, contract/notices.2)", async (t) => {
    const storage = await open(t);
    const [first, second, third, later] = [10, 11, 12, 99].map((at) => delivery("team", at));
    const other = delivery("another", 12);
    assert.ok(first !== undefined && second !== undefined && third !== undefined && later !== undefined);
    await storage.transaction(async (tx) => {
      for (const row of [third, other, later, second, first]) await tx.putWebhook(row);
    });
    const claimed = await storage.transaction(async (tx) => {
      const one = await tx.claimWebhook(50, 500, []);
      return [one, ...(await tx.claimBatch("team", { at: 50, until: 500, limit: 1 }))];
    });
    assert.deepEqual(claimed, [
      { ...first, attempts: 1, dueAt: 500 },
      { ...second, attempts: 1, dueAt: 500 },
    ]);
    await storage.transaction((tx) => tx.delayWebhook(first.runId, 60, 0));
    const rest = await storage.transaction((tx) => tx.claimBatch("team", { at: 60, until: 600, limit: 9 }));
    assert.deepEqual(
      rest.map(({ runId, attempts }) => [runId, attempts]),
      [
        [first.runId, 1],
        [third.runId, 1],
      ],
    );
    assert.deepEqual((await storage.transaction((tx) => tx.claimWebhook(60, 600, [])))?.runId, other.runId);
  });

  test("a notice is stale while it shows an item as open that is not (contract/notices.3)", async (t) => {
    const storage = await open(t);
    const thread = newThread();
    const [open1, answered] = ["1", "2"].map((digit) => newInterrupt(thread.threadId, digit.repeat(32)));
    assert.ok(open1 !== undefined && answered !== undefined);
    const notice = (interruptId: string, createdAt: number): Notice => {
      return {
        noticeId: newId(),
        threadId: thread.threadId,
        interruptId,
        target: { ts: "1.2" },
        shown: "open",
        createdAt,
      };
    };
    const [ofOpen, ofAnswered, ofDeleted] = [
      notice(open1.interruptId, 1),
      notice(answered.interruptId, 2),
      notice("3".repeat(32), 3),
    ];
    await storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      await tx.putInterrupts([open1, { ...answered, state: "answered" }]);
      for (const one of [ofOpen, ofAnswered, ofDeleted]) await tx.putNotice(one);
    });
    const stale = (limit = 9) => storage.transaction((tx) => tx.staleNotices(limit));
    assert.deepEqual(await stale(), [ofAnswered, ofDeleted]);
    assert.deepEqual(await stale(1), [ofAnswered]);
    await storage.transaction((tx) => tx.putNotice({ ...ofAnswered, shown: "closed" }));
    assert.deepEqual(await stale(), [ofDeleted]);
    const of = (id: string) => storage.transaction((tx) => tx.listNotices(thread.threadId, id));
    assert.deepEqual(await of(answered.interruptId), [{ ...ofAnswered, shown: "closed" }]);
    await storage.transaction((tx) => tx.deleteNoticesBefore(9));
    assert.deepEqual([await of(answered.interruptId), await of(open1.interruptId)], [[], [ofOpen]]);
  });

  test("a one-use token is spent once (contract/notices.4)", async (t) => {
    const storage = await open(t);
    const spend = (at: number) => storage.transaction((tx) => tx.spendToken("token", 100, at));
    const isSpent = () => storage.transaction((tx) => tx.isSpent("token"));
    assert.equal(await isSpent(), false);
    const won = (await Promise.all([spend(1), spend(1), spend(1), spend(1)])).filter(Boolean);
    assert.deepEqual([won.length, await isSpent()], [1, true]);
    await storage.transaction((tx) => tx.spendToken("another", 300, 101));
    assert.equal(await isSpent(), false, "expired tokens leave no row");
  });
}
