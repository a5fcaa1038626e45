// Tests of storage on PostgreSQL with several servers on one database, and with a failing database.
//   many.1. Reads under a thread's lock stay valid until the commit, whatever other servers do.
//   many.6. A read-only transaction neither waits for a lock nor holds one; it cannot write.
// commit-outcome.1, commit-outcome.2. A COMMIT without an answer is looked up: a success if it was one, else 503 with
// nothing written.
//   many.1. After a deadlock one of the two transactions runs again.
//   many.1. An unreachable database is 503 with Retry-After, and the storage works again with it.
//   many.7. The search for dead workers finds no row of the server that searches: it is alive.
//   many.3. A stalled transaction loses its connection, and with it its lock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startPostgres } from "../../../../../test/harness/postgres/server.ts";
import { beforeDrop, newDatabase } from "../../../../../test/harness/postgres/databases.ts";
import { onlyNext, startPostgresProxy, type Fate } from "../../../../../test/fakes/postgres-proxy.ts";
import type { Thread } from "../../model/model.ts";
import { threadRecord } from "../../model/testkit.ts";
import type { Tx, WhichWorkers } from "../../ports/ports.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { createIdSource } from "@holdpoint/base/ids.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { createPostgresStorage, type PostgresStorage } from "./storage.ts";

const silent: Log = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };
const VERSIONS = { holdpoint: "1.2.3", library: "1.4.18" };
const newId = createIdSource(Date.now);

const newThread = (changes: Partial<Thread> = {}): Thread =>
  threadRecord({ threadId: newId(), updatedAt: 0, stateUpdatedAt: 0, ...changes });

async function open(uri: string, poolMax = 5): Promise<PostgresStorage> {
  const storage = createPostgresStorage({ uri, poolMax, versions: VERSIONS, log: silent });
  await storage.start();
  return storage;
}

const uri = await newDatabase();
const [one, two] = await Promise.all([open(uri), open(uri)]); // both migrate
beforeDrop(async () => void (await Promise.all([one.stop(), two.stop()])));

const unavailable = (error: unknown): boolean =>
  error instanceof ApiError && error.code === "storage_unavailable" && error.headers["Retry-After"] === "1";

test("100 calls on two servers want one thread: one gets it, and its reads stay valid (many.1)", async () => {
  const thread = newThread({ status: "interrupted" });
  await one.transaction((tx) => tx.insertThread(thread));
  const takes = Array.from({ length: 100 }, (_, at) =>
    (at % 2 === 0 ? one : two).transaction(async (tx) => {
      const seen = await tx.thread(thread.threadId);
      if (seen?.status !== "interrupted") return false;
      await tx.updateThread(thread.threadId, { status: "busy", updatedAt: seen.updatedAt + 1 });
      return true;
    }),
  );
  assert.equal((await Promise.all(takes)).filter(Boolean).length, 1);
  assert.equal((await two.transaction((tx) => tx.thread(thread.threadId)))?.updatedAt, 1);
});

test("a read of a thread in use by another server sees the stored rows at once and blocks no writer (many.6)", async () => {
  const thread = newThread();
  await one.transaction((tx) => tx.insertThread(thread));
  const status = async (tx: Tx): Promise<string | undefined> => (await tx.thread(thread.threadId))?.status;
  await one.transaction(async (tx) => {
    await tx.updateThread(thread.threadId, { status: "error" });
    assert.equal(await two.read(status), "idle");
  });
  await two.read(async (tx) => {
    assert.equal(await status(tx), "error");
    await one.transaction(async (other) => {
      await other.updateThread(thread.threadId, { status: "busy" });
    });
    assert.equal(await status(tx), "busy", "it may be of different moments");
  });
  await assert.rejects(
    two.read((tx) => tx.takeThread(thread.threadId, "busy", {})),
    /a read-only transaction cannot write/,
  );
  assert.equal(await two.read(status), "busy");
});

test("audit numbers have no gap and no duplicate, whichever server assigns them (many.1)", async () => {
  const { threadId } = newThread();
  const said = { at: 1, by: "ann", interruptId: null, runId: null, value: null } as const;
  await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      (at % 2 === 0 ? one : two).transaction((tx) => tx.audit([{ ...said, threadId, action: "continued" }])),
    ),
  );
  const trail = await one.transaction((tx) => tx.listAudit(threadId));
  assert.deepEqual(
    trail.map(({ seq }) => seq),
    Array.from({ length: 40 }, (_, at) => at + 1),
  );
});

test("two transactions that lock two threads in opposite order both succeed (many.1)", async () => {
  const [a, b] = [newThread(), newThread()];
  await one.transaction(async (tx) => {
    for (const thread of [a, b]) await tx.insertThread(thread);
  });
  const arrived: (() => void)[] = [];
  const met = new Promise<void>((resolve) => arrived.push(resolve));
  let here = 0;
  const both = (storage: PostgresStorage, first: Thread, second: Thread) =>
    storage.transaction(async (tx) => {
      const seen = await tx.thread(first.threadId);
      if (++here === 2) for (const resolve of arrived) resolve();
      await met;
      const other = await tx.thread(second.threadId);
      await tx.updateThread(first.threadId, { updatedAt: (seen?.updatedAt ?? 0) + 1 });
      await tx.updateThread(second.threadId, { updatedAt: (other?.updatedAt ?? 0) + 1 });
    });
  await Promise.all([both(one, a, b), both(two, b, a)]);
  const [x, y] = await one.transaction(async (tx) => [await tx.thread(a.threadId), await tx.thread(b.threadId)]);
  assert.deepEqual([x?.updatedAt, y?.updatedAt], [2, 2]);
});

for (const [cut, stored] of [
  ["after", true],
  ["before", false],
  ["late", false],
] as const) {
  const outcome = stored ? "a success (commit-outcome.1)" : "503, and nothing is written (commit-outcome.2)";
  test(`a COMMIT whose connection breaks, with this effect on the database (${cut}): ${outcome}`, async (t) => {
    const proxy = await startPostgresProxy(uri);
    t.after(() => proxy.close());
    const storage = await open(proxy.uri);
    t.after(() => storage.stop());
    proxy.decideFate = onlyNext(cut);
    const thread = newThread();
    const work = storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      return "done";
    });
    if (stored) assert.equal(await work, "done");
    else await assert.rejects(work, unavailable);
    proxy.deliver();
    assert.equal((await storage.transaction((tx) => tx.thread(thread.threadId))) !== null, stored);
    assert.equal(proxy.cuts(), 1);
  });
}

test("a COMMIT that never reached the database fails even if the answer to the lookup is lost (commit-outcome.2)", async (t) => {
  const proxy = await startPostgresProxy(uri);
  t.after(() => proxy.close());
  const storage = await open(proxy.uri);
  t.after(() => storage.stop());
  const fates: Fate[] = ["before", "after"]; // of the transaction, and of the first lookup
  proxy.decideFate = () => fates.shift() ?? "pass";
  const thread = newThread();
  await assert.rejects(
    storage.transaction((tx) => tx.insertThread(thread)),
    unavailable,
  );
  assert.equal(await storage.transaction((tx) => tx.thread(thread.threadId)), null);
  assert.equal(proxy.cuts(), 2);
});

test("after an immediate restart of the database: acknowledged writes survive, no call fails but with 503, and service resumes (many.1)", async (t) => {
  const server = await startPostgres(true);
  t.after(() => server.stop());
  const storage = await open(server.uri);
  t.after(() => storage.stop());
  const acknowledged: Thread[] = [];
  let refused = 0;
  const stop = new AbortController();
  const callers = Array.from({ length: 4 }, async () => {
    while (!stop.signal.aborted) {
      const thread = newThread();
      try {
        await storage.transaction((tx) => tx.insertThread(thread));
        acknowledged.push(thread);
      } catch (error) {
        assert.ok(unavailable(error), String(error));
        refused++;
        // as a caller that respects Retry-After, but sooner
        await new Promise((resolve) => void setTimeout(resolve, 5));
      }
    }
  });
  const enough = async (count: number): Promise<void> => {
    while (acknowledged.length < count) await new Promise((resolve) => void setTimeout(resolve, 1));
  };
  await enough(20);
  await server.crash();
  await server.start();
  await enough(acknowledged.length + 20);
  stop.abort();
  await Promise.all(callers);
  const found = await storage.transaction((tx) => tx.threadsAfter(null, 100_000));
  const ids = new Set(found.map(({ threadId }) => threadId));
  assert.deepEqual(
    acknowledged.filter(({ threadId }) => !ids.has(threadId)),
    [],
  );
  // None may be refused: calls outlast a short outage.
  assert.ok(ids.size <= acknowledged.length + refused);
});

test("calls beyond the number of connections queue; those on one thread take no connections from others", async (t) => {
  const small = await open(uri, 2);
  t.after(() => small.stop());
  const thread = newThread();
  await small.transaction((tx) => tx.insertThread(thread));
  const held = Promise.withResolvers<() => void>();
  const holding = small.transaction(async (tx) => {
    await tx.thread(thread.threadId);
    await new Promise<void>((release) => held.resolve(release));
  });
  const waiting = Array.from({ length: 20 }, () => small.transaction((tx) => tx.thread(thread.threadId)));
  const other = newThread();
  await small.transaction((tx) => tx.insertThread(other)); // although 20 wait
  (await held.promise)();
  await holding;
  assert.equal((await Promise.all(waiting)).filter((found) => found !== null).length, 20);
});

test("a server that looks for dead workers finds others only, and its own row when it registers again (many.7)", async () => {
  await one.transaction((tx) => tx.addWorker("own"));
  const found = (which: WhichWorkers): Promise<string | null> => one.transaction((tx) => tx.deadWorker(-60_000, which)); // every row counts as stale
  assert.equal(await found({ except: "own" }), null);
  assert.equal(await found({ only: "own" }), "own");
  await two.transaction((tx) => tx.addWorker("other"));
  assert.equal(await found({ except: "own" }), "other");
});
