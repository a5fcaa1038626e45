// Contract of the storage port for erasure, one part of storage.contract.ts.
// Rules:
//   contract/erasure.1. Rows of a thread are counted in every table that has some, and none are after its deletion but
//        those of messages that still have to tell that the item is gone.
//   contract/erasure.2. Deliveries that name a text are found by page, sealed ones too.
//   contract/erasure.4. A person is replaced on every page, a dry run only counts, and the chain verifies with an older anchor if
//        each changed entry is noted: without the note it is a fault.
//   contract/erasure.5. Of an erasure that has begun only the place changes, and nothing brings back one that has ended.
//   contract/erasure.6. The erasure of a thread stands until its end, and a repeat of its start replaces it.
//   contract/erasure.3. Items are found by one label of their namespace, whole, wherever it stands.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createPersonalNames } from "@holdpoint/base/personal-names.ts";
import { verifyAudit } from "../../inbox/audit/verify-audit.ts";
import type { AuditEntry } from "../../model/model.ts";
import type { ErasedPage, RowCursor } from "../../ports/ports.ts";
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

/** Somebody who is called by the name of the erased person. */
const ANOTHER = {
  name: "bob",
  issuer: "https://id.example",
  subject: "s",
  displayName: "zoe@example.com",
  email: null,
  groups: [],
  createdAt: 1,
  seenAt: 1,
};

const BEGUN = {
  pseudonym: "erased-1",
  identifiers: ["zoe@example.com"],
  at: { pass: 1, rows: null, isRowsDone: false, traces: null, found: 0, foundInPass: 0, foundBefore: 0 },
};

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
          body: JSON.stringify({ thread_id: runId === ids[1] ? "of b" : "b", assistant_id: "of b" }),
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

  test("the erasure of a thread stands until its end (contract/erasure.6)", async (t) => {
    const storage = await open(t);
    const [one, other] = [
      { threadId: "a", isLimited: false, at: 1 },
      { threadId: "b", isLimited: true, at: 2 },
    ];
    await storage.transaction(async (tx) => {
      for (const erasure of [other, one, { ...one, at: 3 }]) await tx.putThreadErasure(erasure);
      await tx.beginPersonErasure("zoe@example.com", BEGUN);
    });
    assert.deepEqual(await storage.read((tx) => tx.threadErasures()), [{ ...one, at: 3 }, other]);
    await storage.transaction((tx) => tx.endThreadErasure("a"));
    assert.deepEqual(await storage.read((tx) => tx.threadErasures()), [other]);
  });

  test("a person is replaced on every page, and the chain verifies (contract/erasure.4, contract/erasure.5)", async (t) => {
    const storage = await open(t);
    const names = createPersonalNames(["zoe@example.com"], "erased-1");
    const thread = { ...newThread(), metadata: { owner: "zoe@example.com" } };
    const entry = (by: string): AuditEntry => ({
      threadId: thread.threadId,
      at: 5,
      action: "commented",
      by,
      interruptId: null,
      runId: null,
      value: { text: `I am ${by}` },
      via: "api",
      origin: { address: "10.0.0.1", userAgent: "x" },
    });
    await storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      await tx.putPerson(ANOTHER);
      await tx.audit([entry("zoe@example.com"), entry("bob"), entry("zoe@example.com")]);
      const item = { key: "k", value: {}, createdAt: 1, updatedAt: 1, ttlMs: null, expiresAt: null };
      await tx.putStoreItem({ ...item, namespace: ["a"], key: "zoe@example.com" }, []);
      await tx.beginPersonErasure("zoe@example.com", BEGUN);
    });
    const anchor = await storage.read((tx) => tx.auditHeads());
    const pages = async (dryRun: boolean): Promise<readonly ErasedPage[]> => {
      const all: ErasedPage[] = [];
      for (let place: RowCursor | null = null; ;) {
        const at: RowCursor | null = place;
        const page = await storage.transaction(async (tx) => {
          const done = await tx.erasePersonPage(at, names, { rows: 2, dryRun });
          for (const { namespace, key } of dryRun ? [] : done.items) await tx.deleteStoreItem(namespace, key);
          for (const threadId of done.threadIds) await tx.unindexThread(threadId);
          return done;
        });
        all.push(page);
        place = page.next;
        if (place === null) return all;
      }
    };
    const count = (done: readonly ErasedPage[]): Record<string, number> => {
      const rows: Record<string, number> = {};
      for (const page of done) if (page.rows > 0) rows[page.table] = (rows[page.table] ?? 0) + page.rows;
      return rows;
    };
    const expected = { threads: 1, thread_metadata: 1, audit: 2, store_items: 1 };
    assert.deepEqual(count(await pages(true)), expected);
    const erased = await pages(false);
    assert.deepEqual(count(erased), expected);
    assert.deepEqual(count(await pages(true)), {});
    const trail = await storage.read((tx) => tx.listAudit(thread.threadId));
    assert.deepEqual(
      trail.map(({ by, value, origin }) => [by, value, origin?.address]),
      ["erased-1", "bob", "erased-1"].map((by) => [by, { text: `I am ${by}` }, by === "bob" ? "10.0.0.1" : ""]),
    );
    assert.deepEqual((await storage.read((tx) => tx.thread(thread.threadId)))?.metadata, { owner: "erased-1" });
    assert.equal((await storage.read((tx) => tx.person("bob")))?.displayName, ANOTHER.displayName);
    const [first, second] = erased.flatMap(({ entries }) => entries);
    assert.ok(first !== undefined && second !== undefined);
    await storage.transaction((tx) => tx.noteErasedEntry(first));
    const { faults } = await verifyAudit({ storage }, anchor);
    assert.deepEqual(
      faults.map(({ fault, position }) => [fault, position]),
      [["changed", second.position]],
    );
    await storage.transaction((tx) => tx.noteErasedEntry(second));
    const report = await verifyAudit({ storage }, anchor);
    assert.deepEqual([report.faults, report.erased, report.deleted], [[], 2, 0]);
    const stored = () => storage.read((tx) => tx.personErasure("zoe@example.com"));
    await storage.transaction((tx) => tx.beginPersonErasure("zoe@example.com", { ...BEGUN, pseudonym: "erased-2" }));
    assert.deepEqual(await stored(), BEGUN);
    const moved = { ...BEGUN, at: { ...BEGUN.at, isRowsDone: true } };
    await storage.transaction((tx) => tx.movePersonErasure("zoe@example.com", moved));
    assert.deepEqual(await stored(), moved);
    await storage.transaction((tx) => tx.endPersonErasure("zoe@example.com"));
    await storage.transaction((tx) => tx.movePersonErasure("zoe@example.com", moved));
    assert.equal(await stored(), null);
  });
}
