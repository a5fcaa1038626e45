// Kept rows: after any change, failed and rolled-back ones included, the storage reads what its file says.
// The cases are random, and every verb that changes a kept row takes part. The reader has a connection of its own.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { seeded } from "../../../../../test/harness/faults/fault-server.ts";
import type { Checkpoint, Interrupt, Run, Thread, ThreadStatus } from "../../model/model.ts";
import { interruptRecord, runRecord, threadRecord } from "../../model/testkit.ts";
import type { Tx } from "../../ports/ports.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { createIdSource } from "@holdpoint/base/ids.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { openDatabase } from "./client/database.ts";
import { createSqliteStorage, type SqliteStorage } from "./storage.ts";
import { checkpointVerbs } from "./tables/checkpoints.ts";
import { interruptVerbs } from "./tables/interrupts.ts";
import { defineMetadataFilter } from "./tables/verbs.ts";
import { createPendingRuns } from "./tables/pending-runs.ts";
import { runVerbs } from "./tables/runs.ts";
import { threadVerbs } from "./tables/threads.ts";

const newId = createIdSource(Date.now);
const silent: Log = { debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined };
const REFUSED = new Error("refused");
const STEPS = 200;

const buildThread = (threadId: string, metadata: Thread["metadata"]): Thread => threadRecord({ threadId, metadata });

const buildRun = (threadId: string, changes: Partial<Run>): Run =>
  runRecord({
    runId: newId(),
    threadId,
    assistantId: "a",
    graphId: "g",
    metadata: { nul: "\0", half: "\ud800" },
    request: { ...({} as Run["request"]), goesFirst: false },
    ...changes,
  });

const buildInterrupt = (threadId: string, interruptId: string, changes: Partial<Interrupt>): Interrupt =>
  interruptRecord({ threadId, interruptId, graphId: "g", assistantId: "a", ...changes });

/** @param before the newest checkpoint: if it has the text itself, the new one refers to it, so that pruning rewrites it */
const buildCheckpoint = (threadId: string, before: Checkpoint | undefined): Checkpoint => {
  const refers = before?.small.includes("text") === true;
  const from = { text: refers ? before.checkpointId : "" };
  return {
    threadId,
    ns: "",
    checkpointId: newId(),
    parentId: null,
    runId: "r",
    fingerprint: "f",
    body: JSON.stringify({ ts: "", versions: {}, seen: {}, from }),
    small: JSON.stringify(refers ? {} : { text: newId() }),
    metadata: "{}",
  };
};

const KINDS = ["question", "breakpoint"] as const;

/** One random change. `pick(n)` is a number below n. */
async function change(tx: Tx, threads: readonly string[], runs: string[], pick: (below: number) => number) {
  const isSecondThere = (await tx.thread(threads[1] ?? "")) !== null;
  const threadId = threads[isSecondThere ? pick(threads.length) : 1] ?? "";
  const runId = runs[pick(runs.length)] ?? "";
  const thread = await tx.thread(threadId);
  const newest = (await tx.checkpoint(threadId, "", null))?.checkpoint;
  const metadata = { [`m${pick(3)}`]: pick(3), list: [1] };
  const insert = async (run: Run): Promise<void> => {
    await tx.insertRun(run);
    runs.push(run.runId);
  };
  const changes: readonly (() => unknown)[] = [
    () =>
      thread === null ? tx.insertThread(buildThread(threadId, metadata)) : tx.updateThread(threadId, { metadata }),
    () => tx.updateThread(threadId, { status: (["idle", "interrupted"] as const)[pick(2)] ?? "idle", pause: null }),
    () => (thread === null ? null : tx.takeThread(threadId, thread.status, { metadata, graphId: "g" })),
    () => tx.takeThread(threadId, "error" satisfies ThreadStatus, { metadata }),
    () => insert(buildRun(threadId, { input: "x".repeat(pick(2) * 5000) })),
    () => insert(buildRun(threadId, { dueAt: 100 + pick(20) })),
    () => tx.claimPendingRun({ status: "running", workerId: "w", updatedAt: pick(9) }, pick(2) === 0 ? null : 110),
    () => tx.updateRun(runId, { status: (["success", "pending", "error"] as const)[pick(3)] ?? "error" }),
    () => tx.updateRun(runId, { dueAt: pick(2) === 0 ? null : 105, error: { error: "E", message: "m" } }),
    () => tx.deleteRun(runId),
    () => tx.deleteEndedRuns(threadId, 5),
    () =>
      tx.putInterrupts([
        buildInterrupt(threadId, `i${pick(4)}`, {
          state: (["open", "answered"] as const)[pick(2)] ?? "open",
          kind: KINDS[pick(2)] ?? "question",
          createdAt: pick(2),
          position: pick(2),
        }),
      ]),
    () => tx.audit([{ threadId, at: 1, action: "answered", by: "me", interruptId: null, runId: null, value: null }]),
    () => tx.putWriteSet({ checkpoints: [buildCheckpoint(threadId, newest)], writes: [], blobs: [] }),
    () => tx.putWriteSet({ checkpoints: [buildCheckpoint(threadId, newest)], writes: [], blobs: [] }),
    () => (pick(3) === 0 ? tx.deleteRunData(threadId, "r") : null),
    () => tx.pruneThread(threadId, 9),
    () => tx.copyThreadData(threads[0] ?? "", threads[1] ?? ""),
    () => (pick(4) === 0 ? tx.deleteThread(threadId) : null),
  ];
  await changes[thread === null ? 0 : pick(changes.length)]?.(); // rows of a thread come after the thread
}

type Reads = Pick<
  Tx,
  | "nextDueAt"
  | "thread"
  | "interrupts"
  | "openBreakpoint"
  | "breakpoints"
  | "hasPendingRun"
  | "checkpoint"
  | "checkpointFingerprint"
  | "run"
  | "isCurrent"
>;

/** All that kept rows decide. */
async function lookAt(tx: Reads, threads: readonly string[], runs: readonly string[]): Promise<unknown> {
  const seen: unknown[] = [await tx.nextDueAt()];
  for (const id of threads) {
    seen.push(await tx.thread(id), await tx.interrupts(id, null), await tx.interrupts(id, "open"));
    seen.push(await tx.openBreakpoint(id), await tx.breakpoints(id), await tx.hasPendingRun(id));
    const head = await tx.checkpoint(id, "", null);
    seen.push(head?.checkpoint, await tx.checkpointFingerprint(id, null));
    for (const runId of runs) seen.push(await tx.run(id, runId));
  }
  for (const runId of runs) {
    for (const attempt of [0, 1]) seen.push(await tx.isCurrent({ threadId: "", runId, attempt }));
  }
  return seen;
}

function openVerbs(path: string): Reads & { readonly close: () => void } {
  const db = openDatabase(path);
  defineMetadataFilter(db);
  const pending = createPendingRuns(db);
  const verbs = { ...threadVerbs(db, pending), ...runVerbs(db, pending), ...interruptVerbs(db) };
  return { ...verbs, ...checkpointVerbs(db), close: () => db.close() };
}

/** Members of metadata and open items that the index tables should have, and those that they have. */
function indexRows(path: string): readonly (readonly unknown[])[] {
  const db = new DatabaseSync(path, { readOnly: true });
  const rows = (sql: string): readonly unknown[] => db.prepare(sql).all();
  const members = `SELECT t.thread_id, j.key, j.atom AS value FROM threads AS t, json_each(t.metadata) AS j
    WHERE j.type NOT IN ('object', 'array')`;
  const items = "SELECT thread_id, interrupt_id FROM interrupts WHERE state = 'open'";
  const found = [
    rows(`SELECT * FROM (${members}) ORDER BY 1, 2`),
    rows("SELECT thread_id, key, CAST(value AS INTEGER) AS value FROM thread_metadata ORDER BY 1, 2"),
    rows(
      `SELECT * FROM (SELECT i.*, m.key FROM (${items}) AS i JOIN thread_metadata AS m USING (thread_id)) ORDER BY 1, 2, 3`,
    ),
    rows("SELECT thread_id, interrupt_id, key FROM inbox_metadata ORDER BY 1, 2, 3"),
  ];
  db.close();
  return found;
}

async function open(t: TestContext): Promise<{ readonly storage: SqliteStorage; readonly path: string }> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-kept-"));
  const versions = { holdpoint: "1", library: "1" };
  const storage = createSqliteStorage({ folder, owner: "this test", versions, log: silent });
  await storage.start();
  t.after(async () => {
    await storage.stop();
    rmSync(folder, { recursive: true });
  });
  return { storage, path: join(folder, "holdpoint.db") };
}

test("kept rows are those of the file after any change and any rollback (kept-rows.1, kept-rows.2)", async (t) => {
  const { storage, path } = await open(t);
  const { seed, next } = seeded();
  t.diagnostic(`HOLDPOINT_TEST_SEED=${seed}`);
  const pick = (below: number): number => Math.floor(next() * below);
  const threads = [newId(), newId(), newId()];
  const runs: string[] = [];
  for (let step = 0; step < STEPS; step++) {
    // One to three transactions share a commit; each may fail at any point.
    const works = Array.from({ length: 1 + pick(3) }, () =>
      storage
        .transaction(async (tx) => {
          for (let at = 0; at <= pick(3); at++) await change(tx, threads, runs, pick);
          if (pick(4) === 0) throw REFUSED;
        })
        .catch((error: unknown) => {
          const isBusy = error instanceof ApiError && error.code === "thread_busy";
          if (error !== REFUSED && !isBusy && !/UNIQUE/.test(String(error))) throw error;
        }),
    );
    await Promise.all(works);
    const file = openVerbs(path);
    const [kept, stored] = [await storage.read((tx) => lookAt(tx, threads, runs)), await lookAt(file, threads, runs)];
    file.close();
    assert.deepEqual(kept, stored, `step ${step}`);
    const [members, indexed, items, indexedItems] = indexRows(path);
    assert.deepEqual(indexed, members, `step ${step}`);
    assert.deepEqual(indexedItems, items, `step ${step}`);
    if (runs.length > 12) runs.splice(0, 6);
  }
});

test("a change of the file by another connection drops kept rows (kept-rows.2)", async (t) => {
  const { storage, path } = await open(t);
  const threadId = newId();
  await storage.transaction((tx) => tx.insertThread(buildThread(threadId, {})));
  const other = new DatabaseSync(path);
  other.prepare("UPDATE threads SET graph_id = 'new' WHERE thread_id = ?").run(threadId);
  other.close();
  assert.equal((await storage.read((tx) => tx.thread(threadId)))?.graphId, "new");
});
