// Contract of the search index, one part of storage.contract.ts.
// Rules:
//   contract/search.1. A list with words has the items, threads or entries whose document has all of them, as words or as
//        their beginnings, within scope and filters, in the order and pages of the list.
//   contract/search.2. A changed thread is unindexed until it is indexed; a deleted one has no documents.
//   contract/search.3. No word is syntax.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Interrupt, Thread } from "../../model/model.ts";
import { splitWords } from "@holdpoint/api/text/search-words.ts";
import type { AuditQuery, InboxQuery, SearchDocument, Storage, ThreadQuery } from "../../ports/ports.ts";
import { ALL } from "./audit-search.contract.ts";
import { EVERYTHING, countTotals } from "./inbox.contract.ts";
import type { OpenStorage } from "./open-storage.ts";

interface Makers {
  /** A storage that has just started. */
  readonly openNew: OpenStorage;
  readonly newThread: (changes?: Partial<Thread>) => Thread;
  readonly newInterrupt: (threadId: string, interruptId: string, changes?: Partial<Interrupt>) => Interrupt;
}

const THREADS: ThreadQuery = {
  scope: null,
  ids: null,
  idPrefix: null,
  status: null,
  metadata: null,
  search: [],
  limit: 10_000,
  offset: 0,
  sortBy: "created_at",
  descending: false,
};

const buildDocument = (interruptId: string, text: string): SearchDocument => ({
  interruptId,
  kind: interruptId === "" ? "thread" : "open",
  words: [...new Set(splitWords(text))],
});

async function changedThreads(storage: Storage, now: number, claimedUntil = now): Promise<readonly string[]> {
  const found = await storage.transaction((tx) => tx.unindexedThreads(100, { now, claimedUntil }));
  return found.map(({ threadId }) => threadId);
}

export function searchCases(open: OpenStorage, { newThread, newInterrupt, openNew }: Makers): void {
  /** A paused thread with one item and one entry, and their documents. */
  const put = async (storage: Storage, name: string, [ofThread, ofItem]: readonly [string, string], at = 1) => {
    const thread = newThread({
      status: "interrupted",
      pause: "question",
      metadata: { name, team: "x" },
      createdAt: at,
    });
    const { threadId } = thread;
    await storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      await tx.putInterrupts([newInterrupt(threadId, name, { createdAt: at })]);
      await tx.audit([{ threadId, at, action: "claimed", by: "ann", runId: null, interruptId: name, value: null }]);
      await tx.audit([{ threadId, at, action: "bypassed", by: "bob", runId: null, interruptId: null, value: name }]);
      const documents = [buildDocument("", ofThread), buildDocument(name, ofItem)];
      await tx.putSearchDocuments({ threadId, updatedAt: 1, seq: 2 }, documents);
    });
    return threadId;
  };
  const items = async (storage: Storage, text: string, query: Partial<InboxQuery> = {}) => {
    const all = { ...EVERYTHING, search: splitWords(text), ...query };
    const { rows } = await storage.read((tx) => tx.inbox(all));
    const { count, tallies } = await countTotals(storage, { search: splitWords(text), ...query });
    if (query.limit === undefined) assert.equal(count, rows.length);
    assert.equal(
      tallies.reduce((sum, tally) => sum + tally.count, 0),
      count,
    );
    return rows.map(({ interrupt }) => interrupt.interruptId).join("");
  };
  const threads = async (storage: Storage, text: string, query: Partial<ThreadQuery> = {}) => {
    const all = { ...THREADS, search: splitWords(text), ...query };
    const found = await storage.read((tx) => tx.searchThreads(all));
    assert.equal(await storage.read((tx) => tx.countThreads(all, null)), found.length);
    return found.map(({ metadata }) => JSON.stringify(metadata["name"]).slice(1, -1)).join("");
  };
  const entries = async (storage: Storage, text: string, query: Partial<AuditQuery> = {}) => {
    const { rows } = await storage.read(async (tx) => tx.searchAudit({ ...ALL, search: splitWords(text), ...query }));
    return rows.map(({ entry, item }) => (item === null ? "-" : entry.interruptId)).join("");
  };

  test("each list finds its documents by words and their beginnings (contract/search.1)", async (t) => {
    const storage = await open(t);
    await put(storage, "a", ["thread of Ann", "Refund order 4711"]);
    await put(storage, "b", ["thread of Bob", "Refund order 4712 Größe"], 2);
    const rows: readonly (readonly [string, string, string, string])[] = [
      ["refund", "ab", "", "ba"],
      ["REFUND 4711", "a", "", "a"],
      ["ref ord 471", "ab", "", "ba"],
      ["grosse", "", "", ""],
      ["größ", "b", "", "b"],
      ["4711 4712", "", "", ""],
      ["thread", "", "ab", "--"],
      ["ann", "", "a", "-"],
      ["efund", "", "", ""],
    ];
    for (const [text, ofItems, ofThreads, ofTrail] of rows) {
      assert.equal(await items(storage, text), ofItems, text);
      assert.equal(await threads(storage, text), ofThreads, text);
      assert.equal(await entries(storage, text), ofTrail, text);
    }
    const outside = [{ key: "name", op: "eq", value: "b" }] as const;
    assert.equal(await items(storage, "refund", { scope: outside }), "b");
    assert.equal(await threads(storage, "thread", { scope: outside }), "b");
    assert.equal(await entries(storage, "refund", { scope: outside }), "b");
    assert.equal(await items(storage, "refund", { metadata: { team: "x" }, descending: true }), "ba");
    assert.equal(await items(storage, "refund", { order: "deadline" }), "ab");
    assert.equal(await items(storage, "refund", { limit: 1 }), "a");
    assert.equal(await threads(storage, "thread", { status: "idle" }), "");
    assert.equal(await entries(storage, "refund", { by: "bob" }), "");
  });

  test("a list with many matches has its order and pages (contract/search.1)", { timeout: 120_000 }, async (t) => {
    const storage = await open(t);
    const thread = newThread({ status: "interrupted", pause: "question", metadata: { name: "m", team: "x" } });
    const { threadId } = thread;
    const ids = Array.from({ length: 2400 }, (_, at) => String(at).padStart(6, "0"));
    const audited = { threadId, at: 1, action: "claimed", by: "ann", runId: null, value: null } as const;
    await storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      await tx.putInterrupts(ids.map((id, at) => newInterrupt(threadId, id, { createdAt: at })));
      await tx.audit(ids.slice(0, 5).map((interruptId) => ({ ...audited, interruptId })));
      const documents = ids.map((id, at) => buildDocument(id, `common ${at % 2 === 0 ? "even" : "odd"}`));
      await tx.putSearchDocuments({ threadId, updatedAt: 1, seq: 0 }, documents);
    });
    for (const query of [{}, { threadId }, { kind: "question" }, { metadata: { team: "x" } }] as const) {
      const all = { ...EVERYTHING, ...query, search: ["common"], limit: 3 };
      const first = await storage.read((tx) => tx.inbox(all));
      const next = await storage.read((tx) => tx.inbox({ ...all, after: first.rows.at(-1)?.interrupt ?? null }));
      const seen = [...first.rows, ...next.rows].map(({ interrupt }) => interrupt.interruptId);
      assert.deepEqual(seen, ids.slice(0, 6), JSON.stringify(query));
      assert.equal((await countTotals(storage, { ...query, search: ["common"] })).count, 2400);
      assert.equal((await countTotals(storage, { ...query, search: ["comm", "odd"] })).count, 1200);
    }
    assert.equal(await entries(storage, "common"), ids.slice(0, 5).toReversed().join(""));
  });

  test("a changed thread is unindexed until it is indexed (contract/search.2)", async (t) => {
    const storage = await openNew(t);
    const threadId = await put(storage, "a", ["one", "two"]);
    assert.deepEqual(await changedThreads(storage, 1, 100), [threadId]);
    assert.deepEqual(await changedThreads(storage, 99), [], "another server has it");
    const again = await put(storage, "b", ["one", "two"]);
    await storage.transaction(async (tx) => {
      const found = await tx.unindexedThreads(100, { now: 1, claimedUntil: 100 });
      assert.deepEqual(
        found.map((one) => one.threadId),
        [again],
      );
      await tx.indexed(found);
    });
    await storage.transaction((tx) => tx.updateThread(again, { metadata: { name: "b2" } }));
    assert.deepEqual(await changedThreads(storage, 1), [again]);
    const said = { threadId: again, at: 1, action: "commented", by: "ann", runId: null, value: "" } as const;
    await storage.transaction((tx) => tx.audit([{ ...said, interruptId: "b" }]));
    assert.ok((await changedThreads(storage, 1)).includes(again));
    assert.equal(await storage.read(async (tx) => tx.indexedSeq(again)), 2);
    const found = await storage.read(async (tx) => tx.unindexedItems(again, { ids: [], limit: 5 }));
    assert.deepEqual([found.items.map(({ interruptId }) => interruptId), found.missing], [["b"], 0]);
    const swept = await storage.read(async (tx) => tx.sweepUnindexed(100));
    if (swept !== null) assert.deepEqual(new Set(swept.map((one) => one.threadId)), new Set([threadId, again]));
    assert.equal(await storage.read(async (tx) => tx.sweepUnindexed(100)), null);
  });

  test("a switched off index has no documents, and finds every thread when it is on again (contract/search.2)", async (t) => {
    const storage = await openNew(t);
    const thread = newThread();
    await storage.transaction((tx) => tx.insertThread(thread));
    const look = () => storage.transaction((tx) => tx.unindexedThreads(10, { now: 1, claimedUntil: 1 }));
    const stamp = { threadId: thread.threadId, updatedAt: thread.updatedAt, seq: 0 };
    const documents = [{ interruptId: "", kind: "thread", words: ["rose"] }] as const;
    await storage.transaction((tx) => tx.putSearchDocuments(stamp, documents));
    await storage.transaction(async (tx) => tx.indexed(await tx.unindexedThreads(10, { now: 1, claimedUntil: 1 })));
    const find = () => storage.read((tx) => tx.searchThreadIds({ ...THREADS, search: ["rose"] }));
    assert.deepEqual(await find(), [thread.threadId]);
    await storage.transaction((tx) => tx.switchSearch(false));
    assert.deepEqual(await find(), []);
    await storage.transaction((tx) => tx.switchSearch(true));
    const swept = (await storage.read(async (tx) => tx.sweepUnindexed(10))) ?? [];
    assert.deepEqual(
      [...swept, ...(await look())].map(({ threadId }) => threadId),
      [thread.threadId],
    );
  });

  test("a sweep ends although threads are added meanwhile (contract/search.2)", async (t) => {
    const storage = await openNew(t);
    let sweeps = 0;
    for (let found: object | null = {}; found !== null; sweeps++) {
      assert.ok(sweeps <= 2, "it goes on with the new threads");
      await storage.transaction((tx) => tx.insertThread(newThread({ threadId: `${sweeps}` })));
      found = await storage.read(async (tx) => tx.sweepUnindexed(1));
    }
  });

  test("a deleted thread, and a shortened trail, have no documents (contract/search.2)", async (t) => {
    const storage = await open(t);
    const first = await put(storage, "a", ["secret", "secret"]);
    const second = await put(storage, "b", ["secret", "secret"]);
    await storage.transaction((tx) => tx.deleteThread(first));
    assert.equal(await threads(storage, "secret"), "b");
    const late = { threadId: first, updatedAt: 1, seq: 0 };
    await storage.transaction((tx) => tx.putSearchDocuments(late, [buildDocument("", "secret")]));
    await storage.transaction((tx) => tx.insertThread(newThread({ threadId: first, metadata: { name: "again" } })));
    assert.equal(await threads(storage, "secret"), "b", "a late batch writes nothing");
    await changedThreads(storage, 1, 100);
    assert.equal(await storage.transaction((tx) => tx.deleteAuditBefore(second, 2)), 1);
    assert.equal(await threads(storage, "secret"), "");
    assert.deepEqual(await changedThreads(storage, 1), [second]);
    const found = await storage.read(async (tx) => tx.unindexedItems(second, { ids: [], limit: 5 }));
    assert.equal(found.missing, 1);
  });

  test("no text of a search is syntax (contract/search.3)", async (t) => {
    const storage = await open(t);
    await put(storage, "a", ["or and not near", "or and not near"]);
    const texts = [
      '"',
      "' OR 1=1 --",
      "a* NEAR(b)",
      "NOT x",
      "-or",
      "^or",
      "{words}:or",
      "or:*",
      "a & !b | <-> c",
      "*",
      "_open",
      "\u0000",
      "\\",
    ];
    for (const text of texts) {
      for (const list of [items, threads, entries]) await list(storage, text);
    }
    assert.equal(await items(storage, "OR AND NOT NEAR"), "a");
    assert.equal(await threads(storage, "open"), "");
    assert.equal(await threads(storage, "thread"), "");
  });
}
