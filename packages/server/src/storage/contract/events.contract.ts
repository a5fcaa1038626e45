// Contract of the storage port for events, one part of storage.contract.ts.
// Rules:
//   contract/events.1. Rows read back as stored, in order of arrival: of a run, and of all runs of a thread. A page ends
//        at its limit of rows, or with the row that reaches its limit of bytes.
//   contract/events.2. `seq` grows and is never reused, even after the newest row expires. It can be raised, not lowered.
//   contract/events.3. Trimming drops the oldest rows of one run and keeps the rows that fit both limits.
//   contract/events.4. Events of an ended run expire at its time, all of them and no others; also with their run or
//        thread.
//   contract/events.5. A ticket is taken once, also by callers at the same time.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Run, Thread } from "../../model/model.ts";
import type { EventQuery, EventRow, Storage } from "../../ports/ports.ts";
import type { NewId } from "@holdpoint/base/ids.ts";

const ALL: EventQuery = { runId: null, afterSeq: 0, fromId: 0, limit: 100 };

export function eventCases(
  open: (t: TestContext) => Promise<Storage>,
  {
    newThread,
    newRun,
    newId,
    isSealed,
  }: { newThread: () => Thread; newRun: (threadId: string) => Run; newId: NewId; isSealed: boolean },
): void {
  const row = (threadId: string, runId: string, first: number, changes: Partial<EventRow> = {}): EventRow => ({
    threadId,
    runId,
    first,
    last: first,
    lines: `values\t${first}\n`,
    goneAt: null,
    storedAt: 1_795_000_000_000,
    ...changes,
  });
  const [thread, run, other] = [newId(), newId(), newId()];
  const listFirsts = async (storage: Storage, query: Partial<EventQuery>) =>
    (await storage.transaction((tx) => tx.events(thread, { ...ALL, ...query }))).map(({ runId, first }) =>
      runId === run ? first : -first,
    );

  test(
    "events read back as stored, of a run and of a thread, from a position on (contract/events.1, contract/events.2)",
    { skip: isSealed },
    async (t) => {
      const storage = await open(t);
      const odd = row(thread, run, 0, { last: 2, lines: 'a|ä:1\t"\\u0000\\ud800"\nb\t@ref\nend\t{}\n', goneAt: 9 });
      await storage.transaction(async (tx) => {
        assert.equal(await tx.newestEvents(thread), 0);
        await tx.appendEvents([odd, row(thread, other, 5)]);
        await tx.appendEvents([row(thread, run, 3), row(newId(), run, 7)]);
      });
      const [stored] = await storage.transaction((tx) => tx.events(thread, ALL));
      assert.deepEqual({ ...stored, seq: 0 }, { ...odd, seq: 0 });
      assert.deepEqual(await listFirsts(storage, {}), [0, -5, 3]);
      assert.deepEqual(await listFirsts(storage, { runId: run }), [0, 3]);
      assert.deepEqual(await listFirsts(storage, { runId: run, fromId: 2 }), [0, 3]);
      assert.deepEqual(await listFirsts(storage, { runId: run, fromId: 3 }), [3]);
      assert.deepEqual(await listFirsts(storage, { limit: 1 }), [0]);
      const bytes = Buffer.byteLength(odd.lines);
      for (const [bytesMax, page] of [
        [1, [0]],
        [bytes, [0]],
        [bytes + 1, [0, -5]],
        [bytes + 1000, [0, -5, 3]],
      ] as const)
        assert.deepEqual(await listFirsts(storage, { bytesMax }), page);
      assert.deepEqual(await listFirsts(storage, { bytesMax: bytes + 1000, limit: 2 }), [0, -5]);
      assert.deepEqual(await listFirsts(storage, { runId: run, bytesMax: 1 }), [0]);
      assert.deepEqual(await listFirsts(storage, { afterSeq: stored?.seq ?? 0 }), [-5, 3]);
      const extent = await storage.transaction((tx) => tx.eventExtent(thread, run));
      assert.deepEqual(extent, { first: 0, last: 3, events: 4, bytes: Buffer.byteLength(odd.lines) + 9 });
      assert.equal(await storage.transaction((tx) => tx.eventExtent(thread, newId())), null);
      assert.equal(await storage.transaction((tx) => tx.newestEvents(thread)), (stored?.seq ?? 0) + 2);
    },
  );

  test("the seq of the next row is raised, and never lowered (contract/events.2)", async (t) => {
    const storage = await open(t);
    const next = async (): Promise<number> => {
      await storage.transaction((tx) => tx.appendEvents([row(thread, run, 0)]));
      return storage.transaction((tx) => tx.newestEvents(thread));
    };
    await storage.transaction((tx) => tx.raiseEventSeq(1_000_000));
    assert.equal(await next(), 1_000_001);
    await storage.transaction((tx) => tx.raiseEventSeq(5_000_000_000));
    assert.equal(await next(), 5_000_000_001);
    await storage.transaction((tx) => tx.raiseEventSeq(7));
    assert.equal(await next(), 5_000_000_002);
  });

  test("the lines of a row are replaced, and its place stays (contract/events.1)", async (t) => {
    const storage = await open(t);
    await storage.transaction((tx) => tx.appendEvents([row(thread, run, 0, { last: 2 }), row(thread, run, 3)]));
    const [before, next] = await storage.transaction((tx) => tx.events(thread, ALL));
    const lines = "v3/gone\t3\n";
    assert.ok(before !== undefined && next !== undefined);
    await storage.transaction((tx) => tx.replaceLines(before, lines));
    await storage.transaction((tx) => tx.replaceLines({ ...next, threadId: newId() }, lines));
    assert.deepEqual(await storage.transaction((tx) => tx.events(thread, ALL)), [{ ...before, lines }, next]);
  });

  test("a position in a thread stays valid after the newest row expires (contract/events.2)", async (t) => {
    const storage = await open(t);
    await storage.transaction((tx) => tx.appendEvents([row(thread, run, 0, { goneAt: 1 })]));
    const before = await storage.transaction((tx) => tx.newestEvents(thread));
    await storage.transaction((tx) => tx.deleteGoneEvents(1, 10));
    await storage.transaction((tx) => tx.appendEvents([row(thread, other, 1)]));
    assert.deepEqual(await listFirsts(storage, { afterSeq: before }), [-1]);
  });

  for (const [name, eventsMax, bytesMax, kept] of [
    ["nothing goes when all fits", 10, 1000, [0, 1, 2, 3]],
    ["the oldest go when there are too many", 2, 1000, [2, 3]],
    ["the oldest go when they are too long", 10, 30, [1, 2, 3]],
    ["a row too long for itself goes too", 10, 1, []],
  ] as const) {
    test(`${name} (contract/events.3)`, { skip: isSealed }, async (t) => {
      const storage = await open(t);
      await storage.transaction(async (tx) => {
        await tx.appendEvents([0, 1, 2, 3].map((first) => row(thread, run, first)));
        await tx.appendEvents([row(thread, other, 9)]);
        await tx.trimEvents(thread, run, eventsMax, bytesMax);
      });
      assert.deepEqual(await listFirsts(storage, {}), [...kept, -9]);
    });
  }

  test("events of a run expire at its time, and not before (contract/events.4)", async (t) => {
    const storage = await open(t);
    await storage.transaction(async (tx) => {
      await tx.appendEvents([row(thread, run, 0), row(thread, run, 1, { goneAt: 100 })]);
      await tx.appendEvents([row(thread, other, 2, { goneAt: 200 })]);
    });
    const sweep = (at: number, runsMax = 10) => storage.transaction((tx) => tx.deleteGoneEvents(at, runsMax));
    assert.equal(await sweep(99), 0);
    assert.deepEqual(await listFirsts(storage, {}), [0, 1, -2]);
    assert.equal(await sweep(100), 1);
    assert.deepEqual(await listFirsts(storage, {}), [-2]);
    assert.equal(await sweep(200, 1), 1);
    assert.deepEqual(await listFirsts(storage, {}), []);
  });

  test("deleting a run or a thread deletes its events (contract/events.4)", async (t) => {
    const storage = await open(t);
    const owner = newThread();
    const [gone, stays] = [newRun(owner.threadId), newRun(owner.threadId)];
    const rows = [row(owner.threadId, gone.runId, 0), row(owner.threadId, stays.runId, 1)];
    await storage.transaction(async (tx) => {
      await tx.insertThread(owner);
      for (const one of [gone, stays]) await tx.insertRun(one);
      await tx.appendEvents(rows);
      await tx.deleteRun(gone.runId);
    });
    const left = () => storage.transaction((tx) => tx.events(owner.threadId, ALL));
    assert.deepEqual(
      (await left()).map(({ first }) => first),
      [1],
    );
    await storage.transaction((tx) => tx.deleteThread(owner.threadId));
    assert.deepEqual(await left(), []);
  });

  test("a ticket is taken once, counted by caller, and expires (contract/events.5)", async (t) => {
    const storage = await open(t);
    const ticket = (digest: string, caller: string, expiresAt: number) => ({
      digest,
      caller,
      headers: "x",
      expiresAt,
    });
    const given = [ticket("a", "ann", 10), ticket("b", "ann", 20), ticket("c", "bob", 30)];
    await storage.transaction(async (tx) => {
      for (const one of given) await tx.putSocketTicket(one);
    });
    const count = (caller: string) => storage.transaction((tx) => tx.countSocketTickets(caller));
    assert.deepEqual([await count("ann"), await count("bob"), await count("cid")], [2, 1, 0]);
    await storage.transaction((tx) => tx.deleteSocketTicketsBefore(10));
    assert.equal(await count("ann"), 1);
    const claimed = await Promise.all(
      Array.from({ length: 5 }, () => storage.transaction((tx) => tx.takeSocketTicket("b"))),
    );
    assert.deepEqual(
      claimed.filter((one) => one !== null),
      [given[1]],
    );
    assert.equal(await storage.transaction((tx) => tx.takeSocketTicket("a")), null);
  });
}
