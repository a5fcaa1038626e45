// Contract of the storage port for crons, one part of storage.contract.ts.
// Rules:
//   contract/crons.1. A cron reads back as stored; a patch changes only the fields it names.
//   contract/crons.2. A search returns the matches of its filters and its scope, in order; a count ignores the page.
//   contract/crons.3. Exactly one caller gets a tick, however many ask and how often.
//   contract/crons.4. Due crons come in order; a disabled cron is never due; deleting a thread deletes its crons.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Cron } from "../../model/model.ts";
import type { CronQuery, Storage } from "../../ports/ports.ts";
import type { NewId } from "@holdpoint/base/ids.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";

const ALL: CronQuery = {
  scope: null,
  metadata: null,
  assistantId: null,
  threadId: null,
  enabled: null,
  limit: 100,
  offset: 0,
  sortBy: "created_at",
  descending: true,
};

export function cronCases(open: (t: TestContext) => Promise<Storage>, odd: JsonObject, newId: NewId): void {
  const newCron = (changes: Partial<Cron> = {}): Cron => ({
    cronId: newId(),
    assistantId: "a",
    threadId: null,
    schedule: "* * * * *",
    timezone: null,
    endTime: null,
    enabled: true,
    onRunCompleted: "delete",
    metadata: {},
    payload: {},
    nextAt: null,
    createdAt: 1,
    updatedAt: 1,
    caller: { name: "ann", user: null, permissions: [] },
    reach: { threads: null, assistants: null },
    disabledReason: null,
    ...changes,
  });
  const insert = async (storage: Storage, crons: readonly Cron[]): Promise<void> => {
    await storage.transaction(async (tx) => {
      for (const cron of crons) await tx.insertCron(cron);
    });
  };

  test("a cron reads back as stored; a patch changes only the fields it names (contract/crons.1)", async (t) => {
    const storage = await open(t);
    const cron = newCron({
      threadId: newId(),
      timezone: "Europe/Berlin",
      endTime: 9,
      enabled: false,
      onRunCompleted: "keep",
      metadata: odd,
      payload: { input: odd },
      nextAt: 5,
      disabledReason: "caller_gone",
      caller: { name: "ann", user: odd, permissions: ["x"] },
      reach: { threads: [{ key: "k", op: "eq", value: odd }], assistants: null },
    });
    const get = () => storage.transaction((tx) => tx.cron(cron.cronId));
    await insert(storage, [cron]);
    assert.deepEqual(await get(), cron);
    const patch = { enabled: true, threadId: null, timezone: null, endTime: null, nextAt: null, metadata: {} };
    await storage.transaction((tx) => tx.updateCron(cron.cronId, patch));
    assert.deepEqual(await get(), { ...cron, ...patch });
    await storage.transaction((tx) => tx.deleteCron(newId()));
    await storage.transaction((tx) => tx.deleteCron(cron.cronId));
    assert.equal(await get(), null);
  });

  test("a search filters by fields and by metadata, in order, in pages (contract/crons.2)", async (t) => {
    const storage = await open(t);
    const threadId = newId();
    const one = newCron({ createdAt: 1, nextAt: 30, metadata: { owner: "ann", n: 1 } });
    const two = newCron({ createdAt: 2, nextAt: 20, assistantId: "b", metadata: { owner: "bob" }, enabled: false });
    const three = newCron({ createdAt: 3, nextAt: 10, threadId, metadata: { owner: "ann", n: 2 } });
    await insert(storage, [one, two, three]);
    const found = async (changes: Partial<CronQuery>) => {
      const query = { ...ALL, ...changes };
      return storage.transaction(async (tx) => {
        const times: (number | undefined)[] = [];
        for (const { id } of await tx.searchCrons(query)) times.push((await tx.cron(id))?.createdAt);
        return [times, await tx.countCrons(query)];
      });
    };
    assert.deepEqual(await found({}), [[3, 2, 1], 3]);
    assert.deepEqual(await found({ sortBy: "next_run_date", descending: true }), [[1, 2, 3], 3]);
    assert.deepEqual(await found({ limit: 1, offset: 1 }), [[2], 3]);
    assert.deepEqual(await found({ assistantId: "b" }), [[2], 1]);
    assert.deepEqual(await found({ threadId }), [[3], 1]);
    assert.deepEqual(await found({ enabled: true }), [[3, 1], 2]);
    assert.deepEqual(await found({ metadata: { owner: "ann", n: 1 } }), [[1], 1]);
    assert.deepEqual(await found({ scope: [{ key: "owner", op: "eq", value: "bob" }] }), [[2], 1]);
  });

  test("one of several concurrent callers gets the tick (contract/crons.3)", async (t) => {
    const storage = await open(t);
    const cron = newCron({ nextAt: 10 });
    await insert(storage, [cron]);
    const claim = (dueAt: number, nextAt: number | null) =>
      storage.transaction((tx) => tx.claimTick(cron.cronId, dueAt, nextAt));
    const claims = await Promise.all([20, 30, 40].map(async (nextAt) => ((await claim(10, nextAt)) ? nextAt : null)));
    const [first = 0, ...others] = claims.filter((nextAt) => nextAt !== null); // a refused transaction comes later again
    assert.deepEqual(others, []);
    assert.equal((await storage.transaction((tx) => tx.cron(cron.cronId)))?.nextAt, first);
    assert.equal(await claim(10, 20), false, "not twice");
    assert.equal(await claim(first, null), true);
    assert.equal(await claim(first, 30), false, "none is left");
  });

  test("due crons come in order; deleting a thread deletes its crons (contract/crons.4)", async (t) => {
    const storage = await open(t);
    const threadId = newId();
    const crons = [10, 30, 20].map((nextAt) => newCron({ nextAt, createdAt: nextAt }));
    await insert(storage, [...crons, newCron({ nextAt: null }), newCron({ nextAt: 15, createdAt: 15, threadId })]);
    const due = async (at: number, limit = 9) =>
      (await storage.transaction((tx) => tx.dueCrons(at, limit))).map(({ nextAt }) => nextAt);
    assert.deepEqual(await due(9), []);
    assert.deepEqual(await due(20), [10, 15, 20]);
    assert.deepEqual(await due(99, 2), [10, 15]);
    assert.equal(await storage.transaction((tx) => tx.nextCronAt()), 10);
    await storage.transaction((tx) => tx.deleteThread(threadId));
    assert.deepEqual(await due(99), [10, 20, 30]);
    await storage.transaction(async (tx) => {
      for (const { cronId } of crons) await tx.deleteCron(cronId);
    });
    assert.equal(await storage.transaction((tx) => tx.nextCronAt()), null);
  });
}
