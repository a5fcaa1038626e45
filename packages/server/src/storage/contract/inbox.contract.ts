// Contract of the storage port for the inbox, one part of storage.contract.ts.
// Rules:
//   contract/inbox.8. The inbox lists the open interrupts of paused threads, and nothing else.
//   contract/inbox.9. Pages follow the creation order, each after the end of the previous one; new items move nothing.
//   contract/inbox.10. Every filter holds, alone and combined, for any number of matches.
//   contract/inbox.11. A deadline is due if it has passed, its interrupt is open, and it has an action.
//   contract/inbox.12. The count is the number of items on all pages, with each filter.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Interrupt, Thread } from "../../model/model.ts";
import type { InboxQuery, InboxTally, Storage, Tx } from "../../ports/ports.ts";
import type { OpenStorage } from "./open-storage.ts";

interface Makers {
  readonly newThread: (changes?: Partial<Thread>) => Thread;
  readonly newInterrupt: (threadId: string, interruptId: string, changes?: Partial<Interrupt>) => Interrupt;
  readonly newId: () => string;
}

export const EVERYTHING: InboxQuery = {
  scope: null,
  threadId: null,
  graphId: null,
  assistantId: null,
  node: null,
  kind: null,
  claimedBy: null,
  unclaimed: false,
  assignedTo: null,
  unassigned: false,
  snoozed: null,
  deadline: null,
  now: 1000,
  createdBefore: null,
  metadata: null,
  search: [],
  after: null,
  limit: 100,
  bytesMax: 1_000_000,
  descending: false,
  order: "age",
};

const reviewBy = (...assignees: readonly (readonly string[])[]): Interrupt["review"] => ({
  assignees,
  approvals: 1,
  rejections: 1,
  fourEyes: false,
  excluded: [],
  escalations: [],
  votes: [],
  fault: null,
});

/** The number of items that match, and the items by facet, over all parts. */
export async function countTotals(
  storage: Storage,
  query: Partial<InboxQuery>,
): Promise<{ readonly count: number; readonly tallies: readonly InboxTally[]; readonly parts: number }> {
  let count = 0;
  let parts = 0;
  const tallies: InboxTally[] = [];
  let after: InboxQuery["after"] = null;
  do {
    const part: InboxQuery = { ...EVERYTHING, ...query, after };
    const counted = await storage.read(async (tx) => tx.countInbox(part));
    const tallied = await storage.read(async (tx) => tx.tallyInbox(part));
    assert.deepEqual(tallied.next, counted.next);
    count += counted.found;
    tallies.push(...tallied.found);
    parts++;
    after = counted.next;
  } while (after !== null);
  return { count, tallies, parts };
}

export function inboxCases(open: OpenStorage, { newThread, newInterrupt, newId }: Makers): void {
  const paused = (changes: Partial<Thread> = {}): Thread =>
    newThread({ status: "interrupted", pause: "question", ...changes });
  const list = async (storage: Storage, query: Partial<InboxQuery> = {}): Promise<readonly string[]> => {
    const { rows, more } = await storage.read((tx) => tx.inbox({ ...EVERYTHING, ...query }));
    const { count, tallies } = await countTotals(storage, query);
    if (!more && query.after === undefined) assert.equal(count, rows.length); // contract/inbox.12
    assert.equal(
      tallies.reduce((sum, tally) => sum + tally.count, 0),
      count,
    );
    return rows.map(({ interrupt }) => interrupt.interruptId);
  };

  test("the inbox has the open interrupts of paused threads, with the thread's metadata (contract/inbox.8)", async (t) => {
    const storage = await open(t);
    const threads = (["interrupted", "busy", "idle", "error"] as const).map((status) =>
      newThread({ status, metadata: { status } }),
    );
    const stopped = paused({ pause: "breakpoint" });
    await storage.transaction(async (tx) => {
      for (const thread of [...threads, stopped]) await tx.insertThread(thread);
      for (const { threadId, status } of threads) {
        await tx.putInterrupts([
          newInterrupt(threadId, `open on ${status}`),
          newInterrupt(threadId, `answered on ${status}`, { state: "answered" }),
          newInterrupt(threadId, `abandoned on ${status}`, { state: "abandoned" }),
        ]);
      }
      await tx.putInterrupts([newInterrupt(stopped.threadId, "stop", { kind: "breakpoint", createdAt: 2 })]);
    });
    const { rows } = await storage.read((tx) => tx.inbox(EVERYTHING));
    const [first] = threads;
    assert.deepEqual(
      rows.map(({ interrupt, metadata, status }) => [interrupt.interruptId, metadata, status]),
      [
        ["open on interrupted", { status: "interrupted" }, "interrupted"],
        ["stop", {}, "interrupted"],
      ],
    );
    assert.deepEqual(await list(storage, { threadId: stopped.threadId }), ["stop"]);
    assert.deepEqual(await list(storage, { threadId: stopped.threadId, kind: "form" }), []);
    assert.deepEqual(rows[0]?.interrupt, newInterrupt(first?.threadId ?? "", "open on interrupted"));
    await storage.transaction((tx) => tx.deleteThread(first?.threadId ?? ""));
    assert.deepEqual(await list(storage), ["stop"]);
  });

  test("a breakpoint is an inbox item without an interrupt (contract/inbox.8)", async (t) => {
    const storage = await open(t);
    const thread = paused({ pause: "breakpoint" });
    const stop = newInterrupt(thread.threadId, "stop", { kind: "breakpoint" });
    await storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      await tx.putInterrupts([stop]);
    });
    const seen = await storage.transaction(async (tx) => [
      await tx.interrupts(thread.threadId, null),
      await tx.openBreakpoint(thread.threadId),
      await tx.breakpoints(thread.threadId),
      await tx.interrupt(thread.threadId, "stop"),
      await tx.interrupt(thread.threadId, "other"),
      await tx.openBreakpoint(newId()),
      await tx.countOpenInterrupts(),
    ]);
    assert.deepEqual(seen, [[], stop, [stop], stop, null, null, 0]);
  });

  test("pages follow the creation order both ways, while new items arrive (contract/inbox.9)", async (t) => {
    const storage = await open(t);
    const times = [5, 1, 3, 3, 3, 2, 4];
    const threads = times.map(() => paused({ metadata: { team: "a" } }));
    const ask = (tx: Tx, thread: Thread, createdAt: number) =>
      tx.putInterrupts([newInterrupt(thread.threadId, `${createdAt} ${thread.threadId}`, { createdAt })]);
    await storage.transaction(async (tx) => {
      for (const [at, thread] of threads.entries()) {
        await tx.insertThread(thread);
        await ask(tx, thread, times[at] ?? 0);
      }
    });
    const expected = await list(storage);
    assert.deepEqual(expected, expected.toSorted());
    for (const filter of [{}, { metadata: { team: "a" } }, { graphId: "graph" }] satisfies Partial<InboxQuery>[]) {
      for (const descending of [false, true]) {
        const seen: string[] = [];
        let after: InboxQuery["after"] = null;
        for (let page = 0; page < times.length; page++) {
          const query: InboxQuery = { ...EVERYTHING, ...filter, descending, after, limit: 2 };
          const { rows } = await storage.read((tx) => tx.inbox(query));
          seen.push(...rows.map(({ interrupt }) => interrupt.interruptId));
          after = rows.at(-1)?.interrupt ?? after;
          if (page > 0) continue;
          const late = paused(); // before all unread items, in either direction
          await storage.transaction(async (tx) => {
            await tx.insertThread(late);
            await ask(tx, late, descending ? 9 : 0);
          });
        }
        assert.deepEqual(seen, descending ? expected.toReversed() : expected, JSON.stringify(filter));
        const extra = (await list(storage)).filter((id) => !expected.includes(id));
        await storage.transaction(async (tx) => {
          for (const id of extra) await tx.deleteThread(id.slice(2));
        });
      }
    }
  });

  test("every filter holds, alone and combined (contract/inbox.10)", async (t) => {
    const storage = await open(t);
    const items: readonly (readonly [string, Partial<Interrupt>, Thread["metadata"]])[] = [
      [
        "a",
        { graphId: "g1", node: "ask", kind: "form", review: reviewBy(["zoe"], ["ann"]) },
        { team: "x", n: 1, tags: ["t"] },
      ],
      [
        "b",
        { graphId: "g1", assistantId: "other", createdAt: 2, review: reviewBy(["group:ops"]) },
        { team: "x", n: "1" },
      ],
      ["c", { kind: "breakpoint", createdAt: 3, claim: { by: "ann", at: 1, until: null } }, { team: "y", long: LONG }],
      ["d", { node: "ask", createdAt: 4, claim: { by: "ann", at: 1, until: 1000 } }, { 'odd."key"': null, ok: true }],
      ["e", { createdAt: 5, claim: { by: "bob", at: 1, until: 1001 } }, { deep: { x: 1 }, long: `${LONG}!` }],
    ];
    await storage.transaction(async (tx) => {
      for (const [interruptId, changes, metadata] of items) {
        const thread = paused({ metadata });
        await tx.insertThread(thread);
        await tx.putInterrupts([newInterrupt(thread.threadId, interruptId, changes)]);
      }
    });
    const finds: readonly (readonly [Partial<InboxQuery>, string])[] = [
      [{}, "abcde"],
      [{ descending: true }, "edcba"],
      [{ graphId: "g1" }, "ab"],
      [{ graphId: "none" }, ""],
      [{ assistantId: "other" }, "b"],
      [{ node: "ask" }, "ad"],
      [{ kind: "form" }, "a"],
      [{ kind: "breakpoint" }, "c"],
      [{ graphId: "g1", kind: "question" }, "b"],
      [{ createdBefore: 3 }, "ab"],
      [{ claimedBy: "ann" }, "c"],
      [{ claimedBy: "ann", now: 999 }, "cd"],
      [{ claimedBy: "bob" }, "e"],
      [{ unclaimed: true }, "abd"],
      [{ assignedTo: ["ann"] }, "ac"],
      [{ assignedTo: ["group:ops", "bob"] }, "be"],
      [{ assignedTo: ["nobody"] }, ""],
      [{ unassigned: true }, "d"],
      [{ metadata: {} }, "abcde"],
      [{ metadata: { team: "x" } }, "ab"],
      [{ metadata: { team: "x", n: 1 } }, "a"],
      [{ metadata: { team: "x" }, graphId: "g1", assistantId: "other" }, "b"],
      [{ metadata: { tags: ["t"] } }, "a"],
      [{ metadata: { deep: { x: 1 } } }, "e"],
      [{ metadata: { long: LONG } }, "c"],
      [{ metadata: { 'odd."key"': null } }, "d"],
      [{ metadata: { ok: true } }, "d"],
      [{ metadata: { ok: "true" } }, ""],
      [{ metadata: { team: "x' OR 1=1 --" } }, ""],
      [{ scope: [{ key: "team", op: "eq", value: "x" }] }, "ab"],
      [{ scope: [{ key: "tags", op: "contains", value: "t" }] }, "a"],
      [{ scope: [{ key: "team", op: "in", value: ["x", "none"] }] }, "ab"],
      [{ scope: [{ key: "team", op: "in", value: ["none"] }] }, ""],
      [{ scope: [{ key: "team", op: "in", value: ["x"] }], metadata: { n: 1 } }, "a"],
      [{ scope: [{ key: "team", op: "eq", value: "y" }], metadata: { team: "x" } }, ""],
      [{ metadata: { team: "x" }, descending: true, limit: 1 }, "b"],
    ];
    for (const [query, expected] of finds) {
      assert.equal((await list(storage, query)).join(""), expected, JSON.stringify(query));
    }
  });

  test("a metadata filter uses the thread's current metadata (contract/inbox.10)", async (t) => {
    const storage = await open(t);
    const thread = paused({ metadata: { owner: "ann", kept: 1 } });
    const { threadId } = thread;
    const find = async (owner: string) => (await list(storage, { metadata: { owner } })).length;
    const put = (changes: Partial<Interrupt>) =>
      storage.transaction((tx) => tx.putInterrupts([newInterrupt(threadId, "q", changes)]));
    await storage.transaction((tx) => tx.insertThread(thread));
    await put({});
    assert.equal(await find("ann"), 1);
    await storage.transaction((tx) => tx.updateThread(threadId, { metadata: { owner: "bob" } }));
    assert.deepEqual([await find("ann"), await find("bob")], [0, 1]);
    await storage.transaction((tx) => tx.takeThread(threadId, "interrupted", { metadata: { owner: "cyd" } }));
    assert.equal(await find("cyd"), 0, "the thread is busy");
    await storage.transaction((tx) => tx.updateThread(threadId, { status: "interrupted" }));
    assert.equal(await find("cyd"), 1);
    await put({ state: "answered" });
    assert.equal(await find("cyd"), 0);
    await put({ createdAt: 7 });
    assert.equal(await find("cyd"), 1);
    const copy = newThread({ threadId: newId(), status: "interrupted", metadata: { owner: "cyd" } });
    await storage.transaction(async (tx) => {
      await tx.insertThread(copy);
      await tx.copyThreadData(threadId, copy.threadId);
    });
    assert.equal(await find("cyd"), 2);
  });

  test("an interrupt is due after its deadline, if the deadline has an action (contract/inbox.11)", async (t) => {
    const storage = await open(t);
    const [waits, busy] = [paused(), newThread({ status: "busy" })];
    const fail = { onExpiry: "fail" } as const;
    await storage.transaction(async (tx) => {
      for (const thread of [waits, busy]) await tx.insertThread(thread);
      await tx.putInterrupts([
        newInterrupt(waits.threadId, "second", { expiresAt: 20, onExpiry: { answer: null } }),
        newInterrupt(waits.threadId, "first", { expiresAt: 10, ...fail }),
        newInterrupt(waits.threadId, "merely overdue", { expiresAt: 5 }),
        newInterrupt(waits.threadId, "answered", { expiresAt: 5, ...fail, state: "answered" }),
        newInterrupt(busy.threadId, "of a busy thread", { expiresAt: 5, ...fail }),
      ]);
    });
    const due = async (at: number, limit = 10) =>
      (await storage.transaction((tx) => tx.dueInterrupts(at, limit))).map(({ interruptId }) => interruptId);
    assert.equal(await storage.transaction((tx) => tx.nextDeadline()), 10);
    assert.deepEqual(await due(9), []);
    assert.deepEqual(await due(10), ["first"]);
    assert.deepEqual(await due(20), ["first", "second"]);
    assert.deepEqual(await due(20, 1), ["first"]);
    await storage.transaction((tx) => tx.deleteThread(waits.threadId));
    assert.equal(await storage.transaction((tx) => tx.nextDeadline()), null);
  });

  test("due escalations are those of open items of paused threads, earliest first", async (t) => {
    const storage = await open(t);
    const waits = newThread({ status: "interrupted", pause: "question" });
    const busy = newThread({ status: "busy" });
    await storage.transaction(async (tx) => {
      for (const thread of [waits, busy]) await tx.insertThread(thread);
      await tx.putInterrupts([
        newInterrupt(waits.threadId, "second", { escalatesAt: 20 }),
        newInterrupt(waits.threadId, "first", { escalatesAt: 10 }),
        newInterrupt(waits.threadId, "never"),
        newInterrupt(waits.threadId, "answered", { escalatesAt: 5, state: "answered" }),
        newInterrupt(busy.threadId, "of a busy thread", { escalatesAt: 5 }),
      ]);
    });
    const due = async (at: number, limit = 10) =>
      (await storage.transaction((tx) => tx.dueEscalations(at, limit))).map(({ interruptId }) => interruptId);
    assert.equal(await storage.transaction((tx) => tx.nextEscalation()), 10);
    assert.deepEqual(
      [await due(9), await due(10), await due(20), await due(20, 1)],
      [[], ["first"], ["first", "second"], ["first"]],
    );
    await storage.transaction((tx) => tx.deleteThread(waits.threadId));
    assert.equal(await storage.transaction((tx) => tx.nextEscalation()), null);
  });

  test("comments are the entries of one interrupt, in pages", async (t) => {
    const storage = await open(t);
    const threadId = newId();
    const entry = (interruptId: string, action: "commented" | "answered", value: string) =>
      ({ threadId, at: 1, action, by: "ann", runId: null, interruptId, value }) as const;
    const entries = [
      entry("a", "commented", "1"),
      entry("b", "commented", "2"),
      entry("a", "answered", "3"),
      entry("a", "commented", "4"),
    ];
    await storage.transaction((tx) => tx.audit(entries));
    const page = async (after: number, limit: number) =>
      (await storage.transaction((tx) => tx.listComments(threadId, "a", { after, limit }))).map(({ seq, value }) => [
        seq,
        value,
      ]);
    assert.deepEqual(
      [await page(0, 10), await page(0, 1), await page(1, 10)],
      [
        [
          [1, "1"],
          [4, "4"],
        ],
        [[1, "1"]],
        [[4, "4"]],
      ],
    );
  });

  test("the audit trail comes in pages", async (t) => {
    const storage = await open(t);
    const threadId = newId();
    const origin = { address: "::1", userAgent: null };
    const said = { threadId, at: 1, action: "answered", by: "ann", runId: null, value: null } as const;
    const entries = ["a", "b", "c"].map((interruptId) => ({
      ...said,
      interruptId,
      ...(interruptId === "b" ? { via: "inbox" as const, origin } : {}),
    }));
    await storage.transaction((tx) => tx.audit(entries));
    const read = async (after: number, limit: number) =>
      storage.transaction((tx) => tx.listAudit(threadId, { after, limit }));
    assert.deepEqual(
      await read(1, 5),
      entries.slice(1).map((one, at) => ({ ...one, seq: at + 2 })),
    );
    assert.equal((await read(0, 2)).length, 2);
    assert.deepEqual(await read(3, 2), []);
  });
}

/** Longer than an index entry. */
const LONG = "long ".repeat(100);
