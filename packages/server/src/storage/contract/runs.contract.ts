// Contract of the storage port for runs and their queue, one part of storage.contract.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run, Thread } from "../../model/model.ts";
import type { Tx } from "../../ports/ports.ts";
import type { OpenStorage } from "./open-storage.ts";
import { BIG, CLAIM, newCheckpoint, newId, newRun, newThread, ODD, REQUEST, set } from "./samples.contract.ts";

export function runCases(open: OpenStorage): void {
  test("a run reads back as stored; a patch changes only the fields it names (contract/storage.5, contract/storage.7)", async (t) => {
    const storage = await open(t);
    const thread = newThread();
    const run = newRun(thread.threadId, {
      metadata: ODD,
      request: {
        ...REQUEST,
        config: ODD,
        context: [ODD],
        command: { update: ODD, goto: "x" },
        interruptBefore: ["a"],
      },
      input: JSON.stringify({ text: BIG, odd: ODD }),
      error: { error: "E", message: "m" },
      overlay: "[]",
      pausedOn: ["1", "2"],
    });
    await storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      await tx.insertRun(run);
    });
    assert.deepEqual(await storage.transaction((tx) => tx.run(thread.threadId, run.runId)), run);
    assert.equal(await storage.transaction((tx) => tx.run(newId(), run.runId)), null, "another thread's");
    const patch = { status: "success", endedBy: "done", error: null, attempt: 2, pausedOn: [] } as const;
    await storage.transaction((tx) => tx.updateRun(run.runId, patch));
    assert.deepEqual(await storage.transaction((tx) => tx.run(thread.threadId, run.runId)), { ...run, ...patch });
    await storage.transaction((tx) => tx.deleteRun(run.runId));
    assert.equal(await storage.transaction((tx) => tx.run(thread.threadId, run.runId)), null);
  });

  test("runs come newest first, active ones in queue order", async (t) => {
    const storage = await open(t);
    const { threadId } = newThread();
    const goesFirst = { request: { ...REQUEST, goesFirst: true } };
    const [ended, running, waits, urgent] = [
      newRun(threadId, { status: "success" }),
      newRun(threadId, { status: "running", attempt: 1 }),
      newRun(threadId),
      newRun(threadId, goesFirst),
    ] as const;
    await storage.transaction(async (tx) => {
      for (const run of [ended, waits, urgent, running]) await tx.insertRun(run);
    });
    const list = async (limit: number, offset: number, status: Run["status"] | null) =>
      (await storage.transaction((tx) => tx.runs(threadId, { limit, offset, status }))).map(({ runId }) => runId);
    assert.deepEqual(
      await list(10, 0, null),
      [urgent, waits, running, ended].map(({ runId }) => runId),
    );
    assert.deepEqual(
      await list(2, 1, null),
      [waits, running].map(({ runId }) => runId),
    );
    assert.deepEqual(
      await list(10, 0, "pending"),
      [urgent, waits].map(({ runId }) => runId),
    );
    const active = await storage.transaction((tx) => tx.activeRuns(threadId));
    assert.deepEqual(active, [running, urgent, waits]);
    assert.deepEqual(await storage.transaction((tx) => tx.runningRuns()), [running]);
    assert.equal(await storage.transaction((tx) => tx.countPendingRuns()), 2);
    assert.equal(await storage.transaction((tx) => tx.hasPendingRun(threadId)), true);
    assert.equal(await storage.transaction((tx) => tx.hasPendingRun(newId())), false);
  });

  test("the next run is the oldest whose thread is neither busy nor interrupted", async (t) => {
    const storage = await open(t);
    const [runs, paused, first, second] = [
      newThread({ status: "busy" }),
      newThread({ status: "interrupted" }),
      newThread({ status: "busy" }),
      newThread({ status: "busy" }),
    ] as const;
    const later = newRun(first.threadId);
    const latest = newRun(second.threadId, { request: { ...REQUEST, goesFirst: true } });
    await storage.transaction(async (tx) => {
      for (const thread of [runs, paused, first, second]) await tx.insertThread(thread);
      await tx.insertRun(newRun(runs.threadId, { status: "running" }));
      await tx.insertRun({ ...newRun(runs.threadId), runId: "0" });
      await tx.insertRun({ ...newRun(paused.threadId), runId: "1" });
      await tx.insertRun(later);
      await tx.insertRun(latest);
      for (const { threadId } of [runs, paused, first, second]) await tx.queueNext(threadId);
    });
    const next = () => storage.transaction((tx) => tx.claimPendingRun(CLAIM, null));
    const claimed = (run: Run, thread: Thread) => ({ run: { ...run, ...CLAIM, attempt: run.attempt + 1 }, thread });
    assert.deepEqual(await next(), claimed(latest, second), "an answer goes before what merely waits");
    assert.deepEqual(await next(), claimed(later, first));
    assert.equal(await next(), null);
    await storage.transaction(async (tx) => {
      await tx.updateThread(paused.threadId, { status: "busy" });
      await tx.queueNext(paused.threadId);
    });
    assert.equal((await next())?.run.runId, "1");
    const stored = await storage.transaction((tx) => tx.run(second.threadId, latest.runId));
    assert.deepEqual(stored, claimed(latest, second).run);
  });

  test("the runs of a thread follow one another, and a run that its thread holds back waits outside the line", async (t) => {
    const storage = await open(t);
    const [one, other] = [newThread({ status: "busy" }), newThread({ status: "busy" })] as const;
    const runs = [newRun(one.threadId), newRun(other.threadId), newRun(other.threadId)] as const;
    const next = () => storage.transaction((tx) => tx.claimPendingRun(CLAIM, null));
    await storage.transaction(async (tx) => {
      for (const thread of [one, other]) await tx.insertThread(thread);
      for (const run of runs) {
        await tx.insertRun(run);
        await tx.queueNext(run.threadId);
        await tx.queueNext(run.threadId);
      }
      await tx.queueNext(newId());
    });
    assert.deepEqual((await next())?.run, { ...runs[0], ...CLAIM, attempt: 1 });
    assert.deepEqual((await next())?.run, { ...runs[1], ...CLAIM, attempt: 1 });
    assert.equal(await next(), null, "one at a time");
    const end = async (status: "interrupted" | "idle"): Promise<void> =>
      storage.transaction(async (tx) => {
        await tx.updateRun(runs[1].runId, { status: "success" });
        await tx.updateThread(other.threadId, { status });
        await tx.queueNext(other.threadId);
      });
    await end("interrupted");
    assert.equal(await next(), null, "it waits for a person");
    await end("idle");
    await storage.transaction((tx) => tx.updateThread(other.threadId, { status: "interrupted" }));
    assert.equal(await next(), null, "it was in the line, and leaves it");
    await end("idle");
    assert.deepEqual((await next())?.run, { ...runs[2], ...CLAIM, attempt: 1 });
  });

  test("a worker's running runs are found by its id, and a live worker keeps its runs", async (t) => {
    const storage = await open(t);
    const workers = [newId(), newId()];
    await storage.transaction(async (tx) => {
      for (const workerId of workers) await tx.addWorker(workerId);
    });
    const running = workers.map((workerId) => newRun(newThread().threadId, { status: "running", workerId }));
    await storage.transaction(async (tx) => {
      for (const run of running) await tx.insertRun(run);
    });
    await storage.transaction((tx) => tx.failUnreadableRuns(9)); // all of them open
    for (const [at, workerId] of workers.entries()) {
      assert.deepEqual(await storage.transaction((tx) => tx.runningRuns(workerId)), [running[at]]);
    }
    assert.equal((await storage.transaction((tx) => tx.runningRuns())).length, 2);
    assert.equal(await storage.transaction((tx) => tx.deadWorker(60_000)), null);
    await storage.transaction(async (tx) => {
      for (const run of running) await tx.updateRun(run.runId, { status: "success", workerId: null });
      for (const workerId of workers) await tx.removeWorker(workerId);
    });
  });

  test("a delayed run blocks no other run until it is due, and then queues with its due time", async (t) => {
    const storage = await open(t);
    const threads = [newThread({ status: "busy" }), newThread(), newThread(), newThread()] as const;
    const at = (offsetMs: number): number => startedAt + offsetMs;
    const startedAt = Date.now();
    const [now, soon, sooner, late] = threads.map(({ threadId }, index) =>
      newRun(threadId, { dueAt: [null, at(-50), at(-100), at(60_000)][index] ?? null }),
    ) as [Run, Run, Run, Run];
    await storage.transaction(async (tx) => {
      for (const thread of threads) await tx.insertThread(thread);
      for (const run of [now, soon, sooner, late]) {
        await tx.insertRun(run);
        await tx.queueNext(run.threadId);
      }
    });
    const read = <T>(query: (tx: Tx) => T | Promise<T>): Promise<T> => storage.transaction(query);
    assert.equal(await read((tx) => tx.hasPendingRun(soon.threadId)), false);
    assert.equal(await read((tx) => tx.nextDueAt()), sooner.dueAt);
    const order: string[] = [];
    for (;;) {
      const next = await read((tx) => tx.claimPendingRun(CLAIM, at(0)));
      if (next === null) break;
      assert.equal(next.run.dueAt, null);
      order.push(next.run.runId);
    }
    assert.deepEqual(order, [sooner.runId, soon.runId, now.runId], "as if accepted when they were due");
    assert.equal(await read((tx) => tx.nextDueAt()), late.dueAt);
    assert.equal(await read((tx) => tx.claimPendingRun(CLAIM, null)), null, "nobody asked for what is delayed");
    assert.equal((await read((tx) => tx.claimPendingRun(CLAIM, at(60_000))))?.run.runId, late.runId);
    assert.equal(await read((tx) => tx.nextDueAt()), null);
  });

  test("active runs of all threads come in pages", async (t) => {
    const storage = await open(t);
    const runs = Array.from({ length: 5 }, () => newRun(newId()));
    const others = [newRun(newId(), { status: "running" }), newRun(newId(), { status: "success" })];
    await storage.transaction(async (tx) => {
      for (const run of [...others, ...runs]) await tx.insertRun(run);
    });
    const seen: string[] = [];
    for (let after: Run | null = null; ;) {
      const page: readonly Run[] = await storage.transaction((tx) =>
        tx.allActiveRuns({ status: "pending", after, limit: 2 }),
      );
      if (page.length === 0) break;
      seen.push(...page.map(({ runId }) => runId));
      after = page.at(-1) ?? null;
    }
    assert.deepEqual(
      seen,
      runs.map(({ runId }) => runId),
    );
    const running = await storage.transaction((tx) => tx.allActiveRuns({ status: "running", after: null, limit: 9 }));
    assert.deepEqual(running, [others[0]]);
    assert.equal(await storage.transaction((tx) => tx.threadOfRun(others[0]?.runId ?? "")), others[0]?.threadId);
    assert.equal(await storage.transaction((tx) => tx.threadOfRun(newId())), null);
  });

  test("the storage rejects a second running run of a thread (contract/storage.3)", async (t) => {
    const storage = await open(t);
    const { threadId } = newThread();
    const [one, two] = [newRun(threadId, { status: "running" }), newRun(threadId)];
    await storage.transaction(async (tx) => {
      await tx.insertRun(one);
      await tx.insertRun(two);
    });
    await assert.rejects(storage.transaction((tx) => tx.updateRun(two.runId, { status: "running" })));
    await assert.rejects(storage.transaction((tx) => tx.insertRun(newRun(threadId, { status: "running" }))));
    assert.deepEqual(await storage.transaction((tx) => tx.runningRuns()), [one]);
    await storage.transaction(async (tx) => {
      await tx.updateRun(one.runId, { status: "success" });
      await tx.updateRun(two.runId, { status: "running" });
    });
  });

  test("a run's writes count only while it runs in that attempt (contract/storage.4)", async (t) => {
    const storage = await open(t);
    const { threadId } = newThread();
    const run = newRun(threadId, { status: "running", attempt: 2 });
    await storage.transaction((tx) => tx.insertRun(run));
    const write = (attempt: number, id: string) =>
      storage.transaction((tx) =>
        tx.putRunWrites({ ...run, attempt }, set({ checkpoints: [newCheckpoint(threadId, id, {})] })),
      );
    const current = (attempt: number) => storage.transaction((tx) => tx.isCurrent({ ...run, attempt }));
    assert.deepEqual([await write(1, "a"), await write(3, "b"), await write(2, "c")], [false, false, true]);
    assert.deepEqual([await current(1), await current(2), await current(3)], [false, true, false]);
    for (const status of ["pending", "success", "error", "timeout", "interrupted"] as const) {
      await storage.transaction((tx) => tx.updateRun(run.runId, { status }));
      assert.deepEqual([await write(2, "d"), await current(2)], [false, false], status);
    }
    await storage.transaction((tx) => tx.deleteRun(run.runId));
    assert.equal(await write(2, "e"), false);
    const kept = await storage.transaction((tx) =>
      tx.checkpoints(threadId, { ns: "", before: null, limit: null, metadata: null }),
    );
    assert.deepEqual(
      kept.map(({ checkpoint }) => checkpoint.checkpointId),
      ["c"],
    );
  });

  test("the newest run is the one with the greatest id, of any thread", async (t) => {
    const storage = await open(t);
    const thread = newThread();
    assert.equal(await storage.transaction((tx) => tx.newestRunId()), null);
    const runs = [newRun(thread.threadId), newRun(thread.threadId)];
    await storage.transaction(async (tx) => {
      await tx.insertThread(thread);
      for (const run of runs) await tx.insertRun(run);
    });
    assert.equal(
      await storage.transaction((tx) => tx.newestRunId()),
      runs
        .map(({ runId }) => runId)
        .toSorted()
        .at(-1),
    );
  });

  test("a repeated call is found by its idempotency key until the key expires", async (t) => {
    const storage = await open(t);
    const record = { key: "k\u0000", requestHash: "h", threadId: newId(), runId: newId(), createdAt: 1000 };
    await storage.transaction((tx) => tx.putIdempotency(record));
    assert.deepEqual(await storage.transaction((tx) => tx.idempotency(record.key)), record);
    await assert.rejects(storage.transaction((tx) => tx.putIdempotency({ ...record, runId: newId() })));
    await storage.transaction((tx) => tx.deleteIdempotencyBefore(1000));
    assert.deepEqual(await storage.transaction((tx) => tx.idempotency(record.key)), record);
    await storage.transaction((tx) => tx.deleteIdempotencyBefore(1001));
    assert.equal(await storage.transaction((tx) => tx.idempotency(record.key)), null);
  });
}
