// Contract of the storage port for retention, one part of storage.contract.ts.
// Rules:
//   contract/retention.12. Pruning keeps the newest checkpoints complete and deletes data of older ones only.
//   contract/retention.13. Ended runs and old audit entries expire by age; others stay.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry, Blob, Checkpoint, Run, TaskWrites, Thread } from "../../model/model.ts";
import type { Storage } from "../../ports/ports.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { OpenStorage } from "./open-storage.ts";

interface Makers {
  readonly newThread: (changes?: Partial<Thread>) => Thread;
  readonly newRun: (threadId: string, changes?: Partial<Run>) => Run;
  readonly newCheckpoint: (
    threadId: string,
    checkpointId: string,
    values: JsonObject,
    from?: Readonly<Record<string, string>>,
    changes?: Partial<Checkpoint>,
  ) => Checkpoint;
  readonly newId: () => string;
}

export function retentionCases(open: OpenStorage, { newThread, newRun, newCheckpoint, newId }: Makers): void {
  const blob = (threadId: string, data: string): Blob => ({ threadId, hash: contentHash(data), data });
  const written = (threadId: string, ns: string, checkpointId: string, entries: string): TaskWrites => ({
    threadId,
    ns,
    checkpointId,
    entries,
    taskId: "t",
    taskPath: "",
    runId: "r2",
  });

  test("a pruned thread keeps its newest checkpoints, complete, and nothing else (contract/retention.12)", async (t) => {
    const storage = await open(t);
    const thread = newThread({ checkpointId: "3" });
    const { threadId } = thread;
    const [used, unused, ofWrite, ofRun] = ["used", "unused", "of a write", "of a run"].map((name) =>
      blob(threadId, JSON.stringify(name.padEnd(5000))),
    );
    assert.ok(used && unused && ofWrite && ofRun);
    const run = newRun(threadId, { input: ofRun.data });
    const at = (checkpointId: string, values: JsonObject, from = {}, ns = "", runId = "r2") =>
      newCheckpoint(threadId, checkpointId, values, from, { ns, runId });
    await storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      await tx.insertRun(run);
      await tx.putWriteSet({
        checkpoints: [
          at("1", { a: 1, gone: "x" }, { big: `#${unused.hash}` }, "", "r1"),
          at("2", { b: { $hp: "date" } }, { a: "1" }, "", "r1"),
          at("3", { c: 3 }, { a: "1", b: "2", big: `#${used.hash}` }),
          at("1", { s: "old step" }, {}, "child:old-task", "r1"),
          at("4", { s: 1 }, {}, "child:task"),
          at("5", { t: 2 }, { s: "4" }, "child:task"),
          at("1", { m: "memory" }, {}, "keeper", "r1"),
        ],
        writes: [
          written(threadId, "", "2", "[]"),
          written(threadId, "", "3", `[[0,"c",null,"#${ofWrite.hash}"]]`),
          written(threadId, "child:old-task", "1", "[]"),
        ],
        blobs: [used, unused, ofWrite, ofRun],
      });
    });
    assert.equal(await storage.transaction((tx) => tx.pruneThread(threadId, 9)), 4);
    const read = async (ns: string, checkpointId: string | null) =>
      storage.transaction((tx) => tx.checkpoint(threadId, ns, checkpointId));
    const values = async (ns: string) =>
      Object.fromEntries([...((await read(ns, null))?.values ?? [])].map(([channel, { json }]) => [channel, json]));
    assert.deepEqual(await values(""), { a: 1, b: { $hp: "date" }, c: 3, big: JSON.parse(used.data) as string });
    assert.deepEqual(await values("child:task"), { s: 1, t: 2 });
    assert.deepEqual(await values("keeper"), { m: "memory" });
    assert.equal(await read("child:old-task", null), null);
    assert.deepEqual([await read("", "1"), await read("", "2")], [null, null]);
    const root = await read("", null);
    assert.deepEqual([root?.writes.length, root?.blobs.size], [1, 1]);
    assert.equal((await storage.transaction((tx) => tx.run(threadId, run.runId)))?.input, ofRun.data);
    const all = { ns: "", before: null, limit: null, metadata: null };
    assert.equal((await storage.transaction((tx) => tx.checkpoints(threadId, all))).length, 1);
    assert.equal(await storage.transaction((tx) => tx.pruneThread(threadId, 10)), 0);
    assert.deepEqual(await values(""), { a: 1, b: { $hp: "date" }, c: 3, big: JSON.parse(used.data) as string });
  });

  /** As LangGraph saves one channel with a value in every third checkpoint, and one with a value in the first only. */
  const rebuilt = (threadId: string, count: number): readonly Checkpoint[] =>
    Array.from({ length: count }, (_, at): Checkpoint => {
      const since = at % 3;
      const made = newCheckpoint(threadId, `${at}`, since === 0 ? { delta: at } : {}, at > 0 ? { a: "0" } : {});
      const first = newCheckpoint(threadId, "0", { delta: 0, a: 1 });
      const body = { ...(JSON.parse((at === 0 ? first : made).body) as JsonObject), versions: { delta: at + 1, a: 1 } };
      const counters = since === 0 ? {} : { delta: [since, since] };
      const metadata = {
        counters_since_delta_snapshot: { ...counters, unused: [0, at] },
        delta_writes_versioned: true,
      };
      return {
        ...(at === 0 ? first : made),
        parentId: at === 0 ? null : `${at - 1}`,
        body: JSON.stringify(body),
        metadata: JSON.stringify(metadata),
      };
    });

  test("pruning keeps the checkpoints that rebuild a value of the newest one (contract/retention.12)", async (t) => {
    const storage = await open(t);
    for (const [count, left] of [
      [6, ["5", "4", "3"]],
      [7, ["6"]],
    ] as const) {
      const { threadId } = newThread();
      const checkpoints = rebuilt(threadId, count);
      const writes = checkpoints.map(({ checkpointId }) => written(threadId, "", checkpointId, `[[0,"delta",1]]`));
      await storage.transaction(async (tx) => {
        await tx.insertThread(newThread({ threadId }));
        await tx.putWriteSet({ checkpoints, writes, blobs: [] });
        await tx.pruneThread(threadId, 9);
      });
      const all = { ns: "", before: null, limit: null, metadata: null };
      const kept = await storage.transaction((tx) => tx.checkpoints(threadId, all));
      assert.deepEqual(
        kept.map(({ checkpoint }) => checkpoint.checkpointId),
        left,
      );
      for (const stored of kept) {
        assert.equal(stored.values.get("a")?.json, 1);
        assert.equal(stored.writes.length, 1);
      }
      const seed = Number(left.at(-1));
      assert.equal(kept.at(-1)?.values.get("delta")?.json, seed);
    }
  });

  test("a checkpoint comes with its ancestors and the requested values", async (t) => {
    const storage = await open(t);
    const { threadId } = newThread();
    const [first, ...rest] = rebuilt(threadId, 5);
    const fork = { ...newCheckpoint(threadId, "9", { delta: 9, a: 2 }), parentId: "1" };
    const writes = [written(threadId, "", "1", `[[0,"delta",1]]`)];
    assert.ok(first);
    await storage.transaction((tx) => tx.putWriteSet({ checkpoints: [first, ...rest, fork], writes, blobs: [] }));
    const line = async (from: string, limit: number, channels: readonly string[]) =>
      (await storage.transaction((tx) => tx.checkpointLine(threadId, "", from, { limit, channels }))).map((stored) => [
        stored.checkpoint.checkpointId,
        Object.fromEntries([...stored.values].map(([channel, { json }]) => [channel, json])),
        stored.writes.length,
      ]);
    assert.deepEqual(await line("4", 3, ["delta"]), [
      ["4", {}, 0],
      ["3", { delta: 3 }, 0],
      ["2", {}, 0],
    ]);
    assert.deepEqual(await line("9", 9, ["a"]), [
      ["9", { a: 2 }, 0],
      ["1", { a: 1 }, 1],
      ["0", { a: 1 }, 0],
    ]);
    assert.deepEqual(await line("none", 9, ["a"]), []);
  });

  test("ended runs expire by age; their idempotency keys stay valid (contract/retention.13)", async (t) => {
    const storage = await open(t);
    const thread = newThread();
    const { threadId } = thread;
    const runs = (["success", "error", "interrupted", "pending", "success"] as const).map((status, at) =>
      newRun(threadId, { status, updatedAt: at === 4 ? 100 : 1 }),
    );
    await storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      for (const run of runs) await tx.insertRun(run);
      const [first] = runs;
      await tx.putIdempotency({ key: "k", requestHash: "h", threadId, runId: first?.runId ?? "", createdAt: 1 });
    });
    assert.equal(await storage.transaction((tx) => tx.deleteEndedRuns(threadId, 100)), 3);
    const left = await storage.transaction((tx) => tx.runs(threadId, { limit: 10, offset: 0, status: null }));
    assert.deepEqual(left.map(({ status }) => status).toReversed(), ["pending", "success"]);
    assert.equal((await storage.transaction((tx) => tx.idempotency("k")))?.runId, runs[0]?.runId);
  });

  test("audit entries expire by age, and numbering continues (contract/retention.13)", async (t) => {
    const storage = await open(t);
    const threadId = newId();
    const said = { action: "answered", by: "ann", interruptId: "q", runId: null, value: null } as const;
    const entry = (at: number): AuditEntry => ({ ...said, threadId, at });
    const numbers = async (from: Storage) =>
      (await from.transaction((tx) => tx.listAudit(threadId))).map(({ seq }) => seq);
    await storage.transaction((tx) => tx.audit([1, 2, 3].map(entry)));
    assert.equal(await storage.transaction((tx) => tx.deleteAuditBefore(threadId, 3)), 2);
    assert.deepEqual(await numbers(storage), [3]);
    assert.equal(await storage.transaction((tx) => tx.deleteAuditBefore(threadId, 10)), 0);
    await storage.transaction((tx) => tx.audit([entry(11)]));
    assert.deepEqual(await numbers(storage), [3, 4]);
  });

  test("threads come in id order", async (t) => {
    const storage = await open(t);
    const threads = [newThread(), newThread(), newThread()];
    await storage.transaction(async (tx) => {
      for (const thread of threads) await tx.insertThread(thread);
    });
    const after = async (threadId: string | null, limit: number) =>
      storage.transaction((tx) => tx.threadsAfter(threadId, limit));
    assert.deepEqual(await after(null, 2), threads.slice(0, 2));
    assert.deepEqual(await after(threads[1]?.threadId ?? "", 2), threads.slice(2));
  });
}
