// Contract of the storage port; each adapter's test file runs it.
// Rules:
//   contract/storage.1. A transaction sees its own writes; its result arrives after the commit; a throw discards all
//        writes.
//   contract/storage.2. Transactions that share a commit succeed or fail separately.
//   contract/storage.3. A thread has at most one running run, whatever the callers do.
//   contract/storage.4. A run's writes count only in its current attempt.
//   contract/storage.5. A large value exists once per content and thread, and reads as if it were in its row.
//   contract/storage.6. Deleting a thread removes all of its rows; a copy leaves the original unchanged.
//   contract/storage.7. Values read back as stored, NUL and lone surrogates included.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  type AuditEntry,
  BIG_VALUE_UNITS,
  type Blob,
  type Checkpoint,
  type Fingerprint,
  type Interrupt,
  type Run,
  type RunRequest,
  type RunWebhook,
  type TaskWrites,
  type Thread,
  type ThreadStatus,
  type Webhook,
  type WriteSet,
} from "../../model/model.ts";
import { interruptRecord, plainRequest, runRecord, threadRecord } from "../../model/testkit.ts";
import type { ThreadQuery, Tx } from "../../ports/ports.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { contentHash, createIdSource } from "@holdpoint/base/ids.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { auditCases } from "./audit.contract.ts";
import { auditDeletionCases } from "./audit-deletions.contract.ts";
import { auditSearchCases } from "./audit-search.contract.ts";
import { assistantCases } from "./assistants.contract.ts";
import type { OpenStorage } from "./open-storage.ts";
import { cronCases } from "./crons.contract.ts";
import { identityCases } from "./identity.contract.ts";
import { eventCases } from "./events.contract.ts";
import { inboxCountCases } from "./inbox-counts.contract.ts";
import { inboxCases } from "./inbox.contract.ts";
import { lineCases } from "./line.contract.ts";
import { noticeCases } from "./notices.contract.ts";
import { retentionCases } from "./retention.contract.ts";
import { searchCases } from "./search.contract.ts";
import { storeCases } from "./store.contract.ts";

const CLAIM = { status: "running", workerId: null, updatedAt: 77 } as const;

const newId = createIdSource(Date.now);
const ODD: JsonObject = JSON.parse(
  '{"__proto__":{"a":1},"nul":"\\u0000","half":"\\ud800","$hp":"date","list":[null,{}]}',
) as JsonObject;
const BIG = "ä".repeat(BIG_VALUE_UNITS + 1);

const REQUEST: RunRequest = { ...plainRequest, interruptAfter: "*" };

const newThread = (changes: Partial<Thread> = {}): Thread => threadRecord({ threadId: newId(), ...changes });

const newRun = (threadId: string, changes: Partial<Run> = {}): Run =>
  runRecord({ runId: newId(), threadId, request: REQUEST, ...changes });

const newInterrupt = (threadId: string, interruptId: string, changes: Partial<Interrupt> = {}): Interrupt =>
  interruptRecord({ threadId, interruptId, ns: ["a:1", "b:2"], ...changes });

/** A checkpoint with `values` in `small`, and references to values of earlier checkpoints in `from`. */
function newCheckpoint(
  threadId: string,
  checkpointId: string,
  values: JsonObject,
  from: Readonly<Record<string, string>> = {},
  changes: Partial<Checkpoint> = {},
): Checkpoint {
  const own = Object.fromEntries(Object.keys(values).map((channel) => [channel, ""]));
  const body = JSON.stringify({ ts: "", versions: {}, seen: {}, from: { ...from, ...own } });
  const rest = { ns: "", parentId: null, runId: "r", fingerprint: "f", body, small: JSON.stringify(values) };
  return { threadId, checkpointId, ...rest, metadata: "{}", ...changes };
}

const buildBlob = (threadId: string, data: string): Blob => ({ threadId, hash: contentHash(data), data });
const set = (parts: Partial<WriteSet>): WriteSet => ({ checkpoints: [], writes: [], blobs: [], ...parts });
const values = (stored: { readonly values: ReadonlyMap<string, { readonly json: Json }> } | null) =>
  stored === null ? null : Object.fromEntries([...stored.values].map(([channel, { json }]) => [channel, json]));

const ALL: ThreadQuery = {
  scope: null,
  ids: null,
  status: null,
  metadata: null,
  limit: 100,
  offset: 0,
  search: [],
  sortBy: "created_at",
  descending: true,
};

/** @param openStorage may empty the storage of an earlier test @param startStorage a storage that has just started */
export function storageContract(adapter: string, openStorage: OpenStorage, startStorage = openStorage): void {
  const called = new Set<string>();
  let verbs: readonly string[] = [];

  /** The adapter's storage, which records the operations that the tests use. */
  const noting = (storage: Awaited<ReturnType<OpenStorage>>): Awaited<ReturnType<OpenStorage>> => {
    const { longReads } = storage;
    const notingCalls = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(of, name, receiver) {
          called.add(String(name));
          return Reflect.get(of, name, receiver) as unknown;
        },
      });
    const noted = (tx: Tx): Tx => {
      verbs = Object.keys(tx);
      return notingCalls(tx);
    };
    return {
      transaction: (work) => storage.transaction((tx) => work(noted(tx))),
      read: (work) => storage.read((tx) => work(noted({ ...tx, ...longReads }))), // the same result either way
      transactionDeferred: (work) => storage.transactionDeferred((tx) => work(noted(tx))),
      longReads: notingCalls(longReads),
      dump: (work) => storage.dump(work),
    };
  };
  const open: OpenStorage = async (t) => noting(await openStorage(t));
  const openNew: OpenStorage = async (t) => noting(await startStorage(t));

  suite(`the storage port on ${adapter}`, () => {
    test("a transaction returns its result and sees its own writes (contract/storage.1)", async (t) => {
      const storage = await open(t);
      const thread = newThread();
      const seen = await storage.transaction(async (tx) => {
        await tx.insertThread(thread);
        await tx.updateThread(thread.threadId, { status: "busy" });
        return tx.thread(thread.threadId);
      });
      assert.deepEqual(seen, { ...thread, status: "busy" });
      assert.deepEqual(await storage.transactionDeferred((tx) => tx.thread(thread.threadId)), seen);
      assert.deepEqual(await storage.read((tx) => tx.thread(thread.threadId)), seen);
    });

    test("a throw discards all writes, and the caller gets the same error (contract/storage.1)", async (t) => {
      const storage = await open(t);
      const thread = newThread();
      const fault = new RangeError("on purpose");
      const ways = [
        (work: (tx: Tx) => Promise<void>) => storage.transaction(work),
        (work: (tx: Tx) => Promise<void>) => storage.transactionDeferred(work),
      ];
      for (const begin of ways) {
        const failing = begin(async (tx) => {
          await tx.insertThread(thread);
          await tx.audit([entry(thread.threadId, "abandoned")]);
          throw fault;
        });
        await assert.rejects(failing, (error) => error === fault);
      }
      assert.equal(await storage.transaction((tx) => tx.thread(thread.threadId)), null);
      assert.deepEqual(await storage.transaction((tx) => tx.listAudit(thread.threadId)), []);
    });

    test("a failed transaction leaves its neighbours in the commit untouched (contract/storage.2)", async (t) => {
      const storage = await open(t);
      const [one, two, three] = [newThread(), newThread(), newThread()];
      const results = await Promise.allSettled([
        storage.transaction((tx) => tx.insertThread(one)),
        storage.transaction(async (tx) => {
          await tx.insertThread(two);
          await tx.updateThread(one.threadId, { status: "error" });
          throw new Error("on purpose");
        }),
        storage.transactionDeferred((tx) => tx.insertThread(three)),
        storage.transaction((tx) => tx.insertThread(one)), // in use: the storage itself rejects it
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled", "rejected"],
      );
      const found = await storage.transaction(async (tx) => [
        await tx.thread(one.threadId),
        await tx.thread(two.threadId),
        await tx.thread(three.threadId),
      ]);
      assert.deepEqual(found, [one, null, three]);
    });

    test("transactions of one turn run in call order (contract/storage.2)", async (t) => {
      const storage = await open(t);
      const thread = newThread();
      await storage.transaction((tx) => tx.insertThread(thread));
      const takes = Array.from({ length: 20 }, (_, at) =>
        storage.transaction((tx) => tx.takeThread(thread.threadId, "idle", { updatedAt: at })),
      );
      const statuses = (await Promise.allSettled(takes)).map(({ status }) => status);
      assert.deepEqual(statuses, ["fulfilled", ...Array.from({ length: 19 }, () => "rejected")]);
      assert.equal((await storage.transaction((tx) => tx.thread(thread.threadId)))?.updatedAt, 0);
    });

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
        assert.equal(
          await storage.read((tx) => tx.countThreads({ ...ALL, ...query, limit: 0 }, null)),
          expected.length,
        );
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

    test("a due webhook is claimed, longest due first, and becomes due again if its attempt never ends", async (t) => {
      const storage = await open(t);
      const newWebhook = (host: string, dueAt: number, body = "{}"): Webhook => {
        const runId = newId();
        const sent = {
          url: `https://${host}/x`,
          host,
          channel: "http",
          batch: null,
          body,
          headers: { x: "1" },
        } as const;
        return { runId, ...sent, attempts: 0, dueAt, createdAt: 1 };
      };
      const [late, first, other] = [newWebhook("a", 50), newWebhook("a", 10, JSON.stringify(ODD)), newWebhook("b", 20)];
      await storage.transaction(async (tx) => {
        for (const webhook of [late, first, other]) await tx.putWebhook(webhook);
        await tx.putWebhook({ ...first, body: "again" });
      });
      const claim = (at: number, hosts: readonly string[] = []) =>
        storage.transaction((tx) => tx.claimWebhook(at, at + 1000, hosts));
      const nextAt = (hosts: readonly string[] = []) => storage.transaction((tx) => tx.nextWebhookAt(hosts));
      assert.equal(await claim(9), null);
      assert.equal(await nextAt(), 10);
      assert.deepEqual(await claim(30), { ...first, attempts: 1, dueAt: 1030 }, "once per run, as it was first");
      assert.equal(await claim(30, ["b"]), null);
      assert.equal(await nextAt(["b"]), 50);
      assert.equal((await claim(30))?.runId, other.runId);
      await storage.transaction((tx) => tx.deleteWebhook(other.runId));
      await storage.transaction((tx) => tx.delayWebhook(late.runId, 5000));
      assert.equal(await claim(1029), null);
      assert.deepEqual(await claim(1030), { ...first, attempts: 2, dueAt: 2030 });
      assert.equal(await storage.transaction((tx) => tx.countWebhooks()), 2);
      await storage.transaction((tx) => tx.deleteWebhook(first.runId));
      assert.equal(await nextAt(), 5000);
    });

    test("webhooks of a run are replaced by id, listed oldest first, and go with their thread", async (t) => {
      const storage = await open(t);
      const thread = newThread();
      const run = newRun(thread.threadId);
      const one: RunWebhook = {
        threadId: run.threadId,
        runId: run.runId,
        webhookId: "a",
        url: "https://a/x",
        format: "a2a",
        headers: { authorization: "Bearer 1" },
        createdAt: 2,
      };
      const other: RunWebhook = { ...one, webhookId: "b", format: "event", headers: {}, createdAt: 1 };
      const listed = (runId = run.runId) => storage.read((tx) => tx.runWebhooks(run.threadId, runId));
      assert.deepEqual(await listed(), []);
      await storage.transaction(async (tx) => {
        await tx.insertThread(thread);
        await tx.insertRun(run);
        for (const webhook of [{ ...one, url: "https://a/old" }, other, one]) await tx.putRunWebhook(webhook);
      });
      assert.deepEqual(await listed(), [other, one]);
      assert.deepEqual(await listed(newId()), []);
      await storage.transaction((tx) => tx.deleteRunWebhook(run.threadId, run.runId, "b"));
      assert.deepEqual(await listed(), [one]);
      await storage.transaction((tx) => tx.deleteThread(run.threadId));
      assert.deepEqual(await listed(), []);
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

    test("a checkpoint combines values of its own step, of earlier steps, and large ones (contract/storage.5, contract/storage.7)", async (t) => {
      const storage = await open(t);
      const { threadId } = newThread();
      const big = JSON.stringify(BIG);
      const reference = `#${contentHash(big)}`;
      const first = newCheckpoint(threadId, "1", { small: ODD, old: 1 }, { big: reference });
      const second = newCheckpoint(
        threadId,
        "2",
        { small: null },
        { old: "1", big: reference },
        { parentId: "1", fingerprint: "g" },
      );
      await storage.transaction((tx) =>
        tx.putWriteSet(set({ checkpoints: [first], blobs: [buildBlob(threadId, big)] })),
      );
      await storage.transaction((tx) =>
        tx.putWriteSet(set({ checkpoints: [second], blobs: [buildBlob(threadId, big)] })),
      );
      const newest = await storage.transaction((tx) => tx.checkpoint(threadId, "", null));
      assert.deepEqual(newest?.checkpoint, second);
      assert.deepEqual(values(newest), { small: null, old: 1, big: BIG });
      const older = await storage.transaction((tx) => tx.checkpoint(threadId, "", "1"));
      assert.deepEqual(values(older), { small: ODD, old: 1, big: BIG });
      assert.equal(older?.values.get("small")?.tagged, true, "it holds what may be a tag");
      const writtenBy = (id: string | null) => storage.transaction((tx) => tx.checkpointFingerprint(threadId, id));
      assert.deepEqual([await writtenBy(null), await writtenBy("1"), await writtenBy("3")], ["g", "f", null]);
      assert.equal(await storage.transaction((tx) => tx.checkpoint(threadId, "", "3")), null);
      assert.equal(await storage.transaction((tx) => tx.checkpoint(threadId, "child:1", null)), null);
      assert.equal(await storage.transaction((tx) => tx.checkpoint(newId(), "", null)), null);
    });

    test("the bytes of a thread are counted by channel, a large value once", async (t) => {
      const storage = await open(t);
      const { threadId } = newThread();
      const big = JSON.stringify(BIG);
      const reference = `#${contentHash(big)}`;
      const first = newCheckpoint(threadId, "1", { small: "ä" }, { big: reference });
      const second = newCheckpoint(threadId, "2", { small: [1] }, { big: reference }, { parentId: "1" });
      const entries = JSON.stringify([[0, "small", "ä"]]);
      const writes = [{ threadId, ns: "", checkpointId: "2", taskId: "t", taskPath: "", runId: "r", entries }];
      await storage.transaction((tx) =>
        tx.putWriteSet(set({ checkpoints: [first, second], blobs: [buildBlob(threadId, big)], writes })),
      );
      const stored = await storage.longReads.storedBytes(threadId);
      const bytes = (text: string): number => Buffer.byteLength(text);
      assert.deepEqual(stored.channels, { big: bytes(big), small: bytes('"ä"') + bytes("[1]") });
      assert.deepEqual(stored.writes, { count: 1, bytes: bytes(entries) });
      assert.equal(stored.checkpoints.count, 2);
      assert.equal(
        stored.checkpoints.bytes,
        [first, second].reduce((sum, { body, metadata }) => sum + bytes(body) + bytes(metadata), 0),
      );
      const none = { checkpoints: { count: 0, bytes: 0 }, channels: {}, writes: { count: 0, bytes: 0 } };
      assert.deepEqual(await storage.longReads.storedBytes(newId()), none);
    });

    test("the newest checkpoint is the last written one, with any id; a rollback restores the one before", async (t) => {
      const storage = await open(t);
      const { threadId } = newThread();
      const newest = () =>
        storage.transaction(async (tx) => (await tx.checkpoint(threadId, "", null))?.checkpoint.checkpointId);
      for (const [id, runId] of [
        ["5", "a"],
        ["3", "b"],
      ] as const) {
        const checkpoint = newCheckpoint(threadId, id, {}, {}, { runId });
        await storage.transaction((tx) => tx.putWriteSet(set({ checkpoints: [checkpoint] })));
        assert.equal(await newest(), id);
      }
      await storage.transaction((tx) => tx.deleteRunData(threadId, "b"));
      assert.equal(await newest(), "5");
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

    test("checkpoints come newest first, by namespace, in pages", async (t) => {
      const storage = await open(t);
      const { threadId } = newThread();
      const at = (id: string, metadata: object, ns = "") =>
        newCheckpoint(threadId, id, {}, {}, { ns, metadata: JSON.stringify(metadata) });
      const checkpoints = [
        at("1", { step: 0 }),
        at("2", { step: 1, by: "ann" }),
        at("3", { step: 2, by: "ann" }),
        at("9", {}, "x:1"),
      ];
      await storage.transaction((tx) => tx.putWriteSet(set({ checkpoints })));
      const none = { ns: "", before: null, limit: null, metadata: null };
      const list = async (query: object) =>
        (await storage.transaction((tx) => tx.checkpoints(threadId, { ...none, ...query }))).map(
          ({ checkpoint }) => checkpoint.checkpointId,
        );
      assert.deepEqual(await list({}), ["3", "2", "1"]);
      assert.deepEqual(await list({ limit: 2 }), ["3", "2"]);
      assert.deepEqual(await list({ before: "3" }), ["2", "1"]);
      assert.deepEqual(await list({ before: "3", limit: 1 }), ["2"]);
      assert.deepEqual(await list({ metadata: { by: "ann" } }), ["3", "2"]);
      assert.deepEqual(await list({ metadata: { by: "ann", step: 1 } }), ["2"]);
      assert.deepEqual(await list({ ns: "x:1" }), ["9"]);
    });

    test("task writes are kept per run; the last write of a run counts (contract/storage.5)", async (t) => {
      const storage = await open(t);
      const { threadId } = newThread();
      const big = JSON.stringify(BIG);
      const reference = `#${contentHash(big)}`;
      const wrote = (runId: string, entries: Json): TaskWrites => ({
        threadId,
        ns: "",
        checkpointId: "1",
        taskId: "task",
        taskPath: "p",
        runId,
        entries: JSON.stringify(entries),
      });
      const last = wrote("a", [
        [0, "channel", 2],
        [1, "big", null, reference],
      ]);
      const other = wrote("b", [[-4, "__resume__", [ODD]]]);
      await storage.transaction((tx) =>
        tx.putWriteSet(
          set({ checkpoints: [newCheckpoint(threadId, "1", {})], writes: [other, wrote("a", [[0, "channel", 1]])] }),
        ),
      );
      await storage.transaction((tx) => tx.putWriteSet(set({ writes: [last], blobs: [buildBlob(threadId, big)] })));
      const stored = await storage.transaction((tx) => tx.checkpoint(threadId, "", "1"));
      assert.deepEqual(stored?.writes, [last, other]);
      assert.deepEqual(
        [...stored.blobs].map(([name, { json }]) => [name, json]),
        [[reference, BIG]],
      );
      await storage.transaction((tx) => tx.deleteRunData(threadId, "a"));
      assert.deepEqual((await storage.transaction((tx) => tx.checkpoint(threadId, "", "1")))?.writes, [other]);
    });

    test("undoing the writes of one run leaves the writes of others", async (t) => {
      const storage = await open(t);
      const { threadId } = newThread();
      const checkpoints = [
        newCheckpoint(threadId, "1", { a: 1 }),
        newCheckpoint(threadId, "2", { a: 2 }, {}, { runId: "gone" }),
      ];
      await storage.transaction((tx) => tx.putWriteSet(set({ checkpoints })));
      await storage.transaction((tx) => tx.deleteRunData(threadId, "gone"));
      assert.deepEqual(values(await storage.transaction((tx) => tx.checkpoint(threadId, "", null))), { a: 1 });
    });

    test("interrupts read back as stored, in order; storing one again replaces it (contract/storage.7)", async (t) => {
      const storage = await open(t);
      const { threadId } = newThread();
      const answer = { runId: "r2", at: 5, by: "ann", value: null };
      const list = [
        newInterrupt(threadId, "first", { value: ODD, responseSchema: ODD }),
        newInterrupt(threadId, "second", { position: 1, value: false }),
        newInterrupt(threadId, "later", { createdAt: 2, value: null }),
      ];
      const read = (state: Interrupt["state"] | null) => storage.transaction((tx) => tx.interrupts(threadId, state));
      await storage.transaction((tx) => tx.putInterrupts(list.toReversed()));
      assert.deepEqual(await read(null), list);
      const [first, second, later] = list;
      assert.ok(first && second && later);
      const answered: Interrupt = { ...first, state: "answered", answer };
      await storage.transaction((tx) => tx.putInterrupts([answered]));
      assert.deepEqual(await read("answered"), [answered]);
      assert.deepEqual(await read("open"), [second, later]);
      assert.equal(await storage.read((tx) => tx.countOpenInterrupts()), 2);
      await storage.transaction((tx) => tx.putInterrupts([]));
    });

    test("the audit trail keeps its order and every value (contract/storage.7)", async (t) => {
      const storage = await open(t);
      const threadId = newId();
      const trail = [
        entry(threadId, "answered", ODD),
        entry(threadId, "abandoned"),
        entry(threadId, "reopened", false),
      ];
      await storage.transaction((tx) => tx.audit(trail.slice(0, 2)));
      await storage.transaction((tx) => tx.audit(trail.slice(2)));
      await storage.transaction((tx) => tx.audit([]));
      assert.deepEqual(
        await storage.transaction((tx) => tx.listAudit(threadId)),
        trail.map((one, at) => ({ ...one, seq: at + 1 })),
      );
      assert.deepEqual(await storage.transaction((tx) => tx.listAudit(newId())), []);
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

    test("a fingerprint keeps its first time", async (t) => {
      const storage = await open(t);
      const fingerprint: Fingerprint = {
        hash: "h",
        graphId: "g",
        nodes: { "": ["a"] },
        channels: { "": { x: "LastValue" } },
        outputs: ["x"],
      };
      await storage.transaction(async (tx) => {
        await tx.checkWritable(1);
        await tx.putFingerprint(fingerprint, 1);
        await tx.putFingerprint({ ...fingerprint, graphId: "other" }, 2);
      });
      assert.deepEqual(await storage.transaction((tx) => tx.fingerprint("h")), fingerprint);
      assert.equal(await storage.transaction((tx) => tx.fingerprint("none")), null);
    });

    assistantCases(open, ODD, (changes) => newRun(newId(), changes), newId);
    storeCases(open, ODD);
    eventCases(open, { newThread, newRun, newId });
    cronCases(open, ODD, newId);
    identityCases(open, ODD, newId);
    noticeCases(open, { newId, newThread, newInterrupt });
    auditCases(open, { newThread, newId });
    auditDeletionCases(open, { newThread, newId });
    auditSearchCases(open, { newThread, newRun, newInterrupt });
    inboxCases(open, { newThread, newInterrupt, newId });
    lineCases(open);
    inboxCountCases(open, { newThread, newInterrupt });
    searchCases(open, { newThread, newInterrupt, openNew });
    retentionCases(open, { newThread, newRun, newCheckpoint, newId });

    test("the tests above use every operation of the port", () => {
      assert.deepEqual(
        verbs.filter((verb) => !called.has(verb)),
        [],
      );
      assert.ok(verbs.length > 30);
    });
  });
}

function entry(threadId: string, action: AuditEntry["action"], value: Json = null): AuditEntry {
  return { threadId, at: 1, action, by: "ann", interruptId: "q", runId: null, value };
}
