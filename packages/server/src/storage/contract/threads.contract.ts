// Contract of the storage port for threads, their deletion and copies, one part of storage.contract.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry, Run, ThreadStatus } from "../../model/model.ts";
import type { ThreadQuery, Tx } from "../../ports/ports.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { OpenStorage } from "./open-storage.ts";
import {
  ALL,
  BIG,
  buildBlob,
  newCheckpoint,
  newId,
  newInterrupt,
  newRun,
  newThread,
  ODD,
  set,
  values,
} from "./samples.contract.ts";

export function threadCases(open: OpenStorage): void {
  test("a thread reads back as stored; a patch changes only the fields it names (contract/storage.7)", async (t) => {
    const storage = await open(t);
    const thread = newThread({
      metadata: ODD,
      config: { configurable: ODD },
      status: "interrupted",
      pause: "question",
      graphId: "g",
      assistantId: "a",
      checkpointId: "c",
      overlay: JSON.stringify(ODD),
      error: { error: "E", message: "\u0000" },
      ttlMs: 5,
    });
    const patch = { status: "idle", pause: null, error: null, overlay: null, ttlMs: null, metadata: {} } as const;
    await storage.transaction((tx) => tx.insertThread(thread));
    assert.deepEqual(await storage.transaction((tx) => tx.thread(thread.threadId)), thread);
    await storage.transaction((tx) => tx.updateThread(thread.threadId, patch));
    assert.deepEqual(await storage.transaction((tx) => tx.thread(thread.threadId)), { ...thread, ...patch });
    await storage.transaction((tx) => tx.updateThread(thread.threadId, {}));
    assert.equal(await storage.transaction((tx) => tx.thread(newId())), null);
  });

  test("a thread becomes busy from one expected status only", async (t) => {
    const storage = await open(t);
    const thread = newThread({ status: "interrupted", pause: "question" });
    await storage.transaction((tx) => tx.insertThread(thread));
    const take = (threadId: string, from: ThreadStatus): Promise<string> =>
      storage
        .transaction(async (tx) => {
          await tx.takeThread(threadId, from, { graphId: "new" });
          await tx.updateThread(threadId, { updatedAt: 5 }); // deleted with its thread
        })
        .then(
          () => "taken",
          (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
        );
    const statuses = [];
    for (const from of ["idle", "error", "busy", "interrupted", "interrupted"] as const)
      statuses.push(await take(thread.threadId, from));
    assert.deepEqual(statuses, ["thread_busy", "thread_busy", "thread_busy", "taken", "thread_busy"]);
    assert.equal(await take(newId(), "idle"), "thread_busy");
    const busy = { ...thread, status: "busy", pause: null, graphId: "new", updatedAt: 5 };
    assert.deepEqual(await storage.transaction((tx) => tx.thread(thread.threadId)), busy);
  });

  test("a thread search by status, ids and metadata, sorted and paged (contract/storage.7)", async (t) => {
    const storage = await open(t);
    const threads = [
      newThread({
        createdAt: 1,
        updatedAt: 9,
        stateUpdatedAt: 1,
        metadata: { owner: "ann", tags: ["a", "b"], deep: { x: 1 } },
      }),
      newThread({ createdAt: 2, updatedAt: 8, stateUpdatedAt: 3, metadata: { owner: "bob" }, status: "busy" }),
      newThread({
        createdAt: 3,
        updatedAt: 7,
        stateUpdatedAt: 2,
        metadata: { owner: "ann", 'odd."key"': "x", $: null },
        status: "error",
      }),
    ];
    const [one, two, three] = threads.map(({ threadId }) => threadId);
    await storage.transaction(async (tx) => {
      for (const thread of threads) await tx.insertThread(thread);
    });
    const finds: readonly [Partial<ThreadQuery>, readonly (string | undefined)[]][] = [
      [{}, [three, two, one]],
      [{ descending: false }, [one, two, three]],
      [{ sortBy: "updated_at" }, [one, two, three]],
      [{ sortBy: "state_updated_at" }, [two, three, one]],
      [{ sortBy: "thread_id", descending: false }, [one, two, three]],
      [{ sortBy: "status", descending: false }, [two, three, one]],
      [{ limit: 1, offset: 1 }, [two]],
      [{ status: "busy" }, [two]],
      [{ status: "interrupted" }, []],
      [{ ids: [one ?? "", three ?? "", newId()] }, [three, one]],
      [{ ids: [] }, []],
      [{ idPrefix: two?.slice(0, 30) ?? "" }, [two]],
      [{ idPrefix: "x" }, []],
      [{ metadata: {} }, [three, two, one]],
      [{ metadata: { owner: "ann" } }, [three, one]],
      [{ metadata: { owner: "ann", tags: ["b"] } }, [one]],
      [{ metadata: { deep: {} } }, [one]],
      [{ metadata: { deep: { x: 2 } } }, []],
      [{ metadata: { 'odd."key"': "x", $: null } }, [three]],
      [{ metadata: { owner: "ann' OR 1=1 --" } }, []],
      [{ metadata: { owner: "ann" }, status: "error", ids: [three ?? ""] }, [three]],
      [{ scope: [{ key: "owner", op: "eq", value: "ann" }] }, [three, one]],
      [{ scope: [{ key: "tags", op: "contains", value: "b" }] }, [one]],
      [{ scope: [{ key: "owner", op: "contains", value: "ann" }] }, []],
      [{ scope: [{ key: "owner", op: "in", value: ["bob", "ann", 1] }] }, [three, two, one]],
      [{ scope: [{ key: "owner", op: "in", value: ["ann"] }], metadata: { owner: "ann" } }, [three, one]],
      [{ scope: [{ key: "owner", op: "in", value: [] }] }, []],
      [{ scope: [{ key: "none", op: "in", value: ["ann"] }] }, []],
      [{ scope: [{ key: "owner", op: "eq", value: "bob" }], metadata: { owner: "ann" } }, []],
    ];
    for (const [query, expected] of finds) {
      const found = await storage.transaction((tx) => tx.searchThreads({ ...ALL, ...query }));
      assert.deepEqual(
        found.map(({ threadId }) => threadId),
        expected,
        JSON.stringify(query),
      );
      assert.deepEqual(await storage.read((tx) => tx.searchThreadIds({ ...ALL, ...query })), expected);
      if (query.limit !== undefined) continue;
      assert.equal(await storage.read((tx) => tx.countThreads({ ...ALL, ...query, limit: 0 }, null)), expected.length);
    }
  });

  test("a thread expires at its time, unless it is busy, or paused with paused threads exempt", async (t) => {
    const storage = await open(t);
    const due = newThread({ updatedAt: 1000, ttlMs: 500 });
    const busy = newThread({ updatedAt: 1000, ttlMs: 500, status: "busy" });
    await storage.transaction(async (tx) => {
      for (const thread of [due, busy, newThread({ updatedAt: 0 })]) await tx.insertThread(thread);
    });
    const waits = newThread({ updatedAt: 1000, ttlMs: 500, status: "interrupted" });
    const keeps = newThread({ updatedAt: 1000, ttlMs: 600, ttlStrategy: "keep_latest" });
    await storage.transaction(async (tx) => {
      for (const thread of [waits, keeps]) await tx.insertThread(thread);
    });
    const expired = async (at: number, limit: number, paused: boolean) =>
      (await storage.transaction((tx) => tx.expiredThreads(at, limit, paused))).map(({ threadId }) => threadId);
    assert.deepEqual(await expired(1500, 10, true), []);
    assert.deepEqual(await expired(1501, 10, false), [due.threadId]);
    assert.deepEqual(await expired(1501, 0, true), []);
    assert.equal((await expired(1501, 10, true)).length, 2);
    assert.equal((await expired(1601, 10, false)).length, 2);
    await storage.transaction((tx) => tx.pruneThread(keeps.threadId, 1601));
    assert.deepEqual(await expired(2000, 10, false), [due.threadId]);
    await storage.transaction((tx) => tx.updateThread(keeps.threadId, { updatedAt: 3000 }));
    assert.equal((await expired(3601, 10, false)).length, 2);
  });

  /** A thread with one row of every kind. */
  const fill = async (tx: Tx, threadId: string): Promise<Run> => {
    const run = newRun(threadId, { input: JSON.stringify(BIG) });
    const writes = [{ threadId, ns: "", checkpointId: "1", taskId: "t", taskPath: "p", runId: "r", entries: "[]" }];
    await tx.insertThread(newThread({ threadId, checkpointId: "1" }));
    await tx.insertRun(run);
    await tx.putInterrupts([newInterrupt(threadId, "q")]);
    await tx.audit([entry(threadId, "cancelled")]);
    await tx.putIdempotency({ key: threadId, requestHash: "h", threadId, runId: run.runId, createdAt: 1 });
    const big = JSON.stringify(`${BIG}!`);
    const checkpoints = [newCheckpoint(threadId, "1", { a: 1 }, { big: `#${contentHash(big)}` })];
    await tx.putWriteSet(set({ checkpoints, writes, blobs: [buildBlob(threadId, big)] }));
    return run;
  };

  test("deleting a thread removes all of its rows and none of its neighbour (contract/storage.6)", async (t) => {
    const storage = await open(t);
    const [gone, kept] = [newId(), newId()];
    const run = await storage.transaction(async (tx) => {
      await fill(tx, kept);
      return fill(tx, gone);
    });
    const left = (threadId: string, runId: string) =>
      storage.transaction(async (tx) => [
        (await tx.thread(threadId)) === null,
        (await tx.run(threadId, runId)) === null,
        (await tx.interrupts(threadId, null)).length,
        (await tx.listAudit(threadId)).length,
        (await tx.idempotency(threadId))?.threadId === "",
        (await tx.checkpoint(threadId, "", null)) === null,
      ]);
    assert.equal(await storage.transaction((tx) => tx.deleteThread(gone)), true);
    assert.deepEqual(await left(gone, run.runId), [true, true, 0, 0, true, true]);
    const [other] = await storage.transaction((tx) => tx.runs(kept, { limit: 1, offset: 0, status: null }));
    assert.deepEqual(await left(kept, other?.runId ?? ""), [false, false, 1, 1, false, false]);
    assert.equal(await storage.transaction((tx) => tx.deleteThread(gone)), false);
    assert.equal(await storage.transaction((tx) => tx.countPendingRuns()), 1);
  });

  test("a copy has the state and the interrupts, but no runs and no audit trail (contract/storage.6)", async (t) => {
    const storage = await open(t);
    const [from, to] = [newId(), newId()];
    await storage.transaction(async (tx) => {
      await fill(tx, from);
      await tx.insertThread(newThread({ threadId: to }));
      await tx.copyThreadData(from, to);
      await tx.deleteThread(from);
    });
    const stored = await storage.transaction((tx) => tx.checkpoint(to, "", null));
    assert.deepEqual(values(stored), { a: 1, big: `${BIG}!` });
    assert.deepEqual(
      stored?.writes.map(({ taskPath }) => taskPath),
      ["p"],
    );
    assert.deepEqual(await storage.transaction((tx) => tx.interrupts(to, "open")), [newInterrupt(to, "q")]);
    assert.deepEqual(await storage.transaction((tx) => tx.runs(to, { limit: 9, offset: 0, status: null })), []);
    assert.deepEqual(await storage.transaction((tx) => tx.listAudit(to)), []);
  });

  test("a copy has all large values, also one that came while others were copied", async (t) => {
    const storage = await open(t);
    const [from, to] = [newId(), newId()];
    const texts = ["0", "b", "c", "d", "e", "f"].map((hash) => ({ hash, text: hash.repeat(1_500_000) }));
    const put = (checkpointId: string, some: typeof texts) =>
      storage.transaction((tx) => {
        const references = Object.fromEntries(some.map(({ hash }) => [hash, `#${hash}`]));
        const blobs = some.map(({ hash, text }) => ({ threadId: from, hash, data: JSON.stringify(text) }));
        return tx.putWriteSet(set({ checkpoints: [newCheckpoint(from, checkpointId, {}, references)], blobs }));
      });
    await storage.transaction((tx) => tx.insertThread(newThread({ threadId: from })));
    await put("1", texts.slice(1));
    const next = (after: string | null) => storage.transaction((tx) => tx.copyValuesAhead(from, to, after));
    for (let after = await next(null); after !== null; after = await next(after)) {
      if (after === "e") await put("2", texts); // the first value is behind the place that the copy has reached
      assert.equal(await storage.transaction((tx) => tx.checkpoint(to, "", null)), null);
    }
    await storage.transaction(async (tx) => {
      await tx.insertThread(newThread({ threadId: to }));
      await tx.copyThreadData(from, to);
      await tx.deleteThread(from);
    });
    await storage.transaction((tx) => tx.abandonCopy(to)); // too late
    const { checkpointId } = (await storage.transaction((tx) => tx.checkpoint(to, "", null)))?.checkpoint ?? {};
    const copied = await storage.transaction((tx) => tx.checkpoint(to, "", checkpointId ?? ""));
    const wanted = texts.slice(checkpointId === "2" ? 0 : 1);
    assert.deepEqual(values(copied), Object.fromEntries(wanted.map(({ hash, text }) => [hash, text])));
  });
}

function entry(threadId: string, action: AuditEntry["action"], value: Json = null): AuditEntry {
  return { threadId, at: 1, action, by: "ann", interruptId: "q", runId: null, value };
}
