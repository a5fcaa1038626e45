// Group commit: one transaction for all database work of one turn of the event loop.
// Invariants:
//   - A result reaches its caller after the commit that holds it is on disk.
//   - A task that throws undoes its own writes only.
//   group-commit.3. When the commit fails, every task with writes fails, and the next group starts clean. Tasks that
//        only read run again without those.
//   - From BEGIN to COMMIT only microtasks run: no other code sees the open transaction.
//   - A failed commit may survive a crash: its frames are in the log, complete but unsynced. An empty commit in the
//     same place overwrites them. After its sync the failed commit is void, and its callers get `storage_unavailable`.
//     Until then they get `commit_unknown`, and all other callers get `storage_unavailable`.
//   - Kept rows are dropped with every rollback, and when another connection has changed the file.
import { randomUUID } from "node:crypto";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Database } from "./database.ts";
import { isFileFault, isStorageFault, storageFailure, unknownOutcome } from "./storage-faults.ts";

export interface GroupCommit {
  /** @param soon true if no caller waits: the task may linger to share a commit */
  run<T>(work: () => T | Promise<T>, soon: boolean): Promise<T>;
  /** Resolves when all work requested so far is on disk. */
  settle(): Promise<void>;
}

interface Task {
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (reason: unknown) => void;
  result: unknown;
  wrote: boolean;
  failure: { readonly reason: unknown } | null;
}

/** Longest wait of a task without a waiting caller. */
const LINGER_MS = 10;

const OVERWRITE =
  "INSERT INTO meta (key, value) VALUES ('overwritten', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";

export interface CommitHooks {
  /** Before a commit with writes; throws if they would miss the file that the next start opens. */
  readonly before: () => void;
  /** After a commit with writes. */
  readonly after: () => void;
  /** The disk refused a write or a commit. */
  readonly refused: () => void;
}

interface GroupState {
  readonly db: Database;
  readonly log: Log;
  readonly hooks: CommitHooks;
  waiting: Task[];
  scheduled: "no" | "soon" | "now";
  timer: NodeJS.Timeout | undefined;
  active: Promise<void>;
  /** A failed commit may survive. */
  inDoubt: boolean;
  /** SQLite's count of changes by other connections. */
  dataVersion: unknown;
}

export function createGroupCommit(db: Database, log: Log, hooks: CommitHooks): GroupCommit {
  const group: GroupState = {
    db,
    log,
    hooks,
    waiting: [],
    scheduled: "no",
    timer: undefined,
    active: Promise.resolve(),
    inDoubt: false,
    dataVersion: null,
  };
  return {
    run: (work, soon) =>
      new Promise((resolve, reject) => {
        group.waiting.push({ work, resolve, reject, result: undefined, wrote: false, failure: null });
        schedule(group, soon);
      }),
    async settle() {
      clearTimeout(group.timer);
      start(group);
      await group.active;
    },
  };
}

function schedule(group: GroupState, soon: boolean): void {
  if (group.scheduled === "now" || (soon && group.scheduled === "soon")) return;
  if (soon) {
    group.scheduled = "soon";
    group.timer = setTimeout(start, LINGER_MS, group);
    return;
  }
  clearTimeout(group.timer);
  group.scheduled = "now";
  setImmediate(start, group);
}

function start(group: GroupState): void {
  group.active = group.active.then(() => flush(group));
}

async function flush(group: GroupState): Promise<void> {
  group.scheduled = "no";
  const tasks = group.waiting;
  group.waiting = [];
  if (tasks.length > 0) await commitTasks(group, tasks);
}

async function commitTasks(group: GroupState, tasks: readonly Task[]): Promise<void> {
  const wasInDoubt = group.inDoubt;
  try {
    await commit(group, tasks);
  } catch (error) {
    const failure = wasInDoubt || !group.inDoubt || voided(group) ? storageFailure(error) : unknownOutcome(error);
    group.db.kept.dropAll();
    if (isStorageFault(error)) group.hooks.refused();
    try {
      rollBack(group.db);
    } catch (second) {
      group.log.error("rollback_failed", { reason: describeError(second).message }); // the next BEGIN tries again
    }
    group.log.error("commit_failed", { reason: failure.message, works: tasks.length });
    const writers = tasks.filter(({ wrote }) => wrote);
    const again = group.inDoubt || writers.length === 0 ? [] : tasks.filter(({ wrote }) => !wrote);
    for (const task of again.length > 0 ? writers : tasks) {
      task.reject(task.wrote ? failure : storageFailure(error)); // group-commit.3
    }
    for (const task of again) Object.assign(task, { result: undefined, failure: null });
    if (again.length > 0) await commitTasks(group, again); // fewer than before
    return;
  }
  for (const task of tasks) {
    if (task.failure === null) task.resolve(task.result as never);
    else task.reject(task.failure.reason);
  }
}

/** @throws {Error} if the commit fails; `inDoubt` says whether its writes may survive nevertheless */
async function commit(group: GroupState, tasks: readonly Task[]): Promise<void> {
  const { db } = group;
  overwrite(group);
  rollBack(db); // the rest of an earlier failed rollback
  db.run("BEGIN");
  noticeOthers(group);
  const state = { written: false };
  for (const task of tasks) await runTask(group, task, state);
  const hasWrites = tasks.some(({ wrote }) => wrote);
  if (hasWrites) group.hooks.before();
  try {
    db.run("COMMIT");
  } catch (error) {
    group.inDoubt = isFileFault(error);
    throw error;
  }
  if (hasWrites) group.hooks.after();
}

function noticeOthers(group: GroupState): void {
  const version = group.db.get("PRAGMA data_version")?.["data_version"];
  if (version !== group.dataVersion) group.db.kept.dropAll();
  group.dataVersion = version;
}

/** @throws {Error} while no sync succeeds */
function overwrite(group: GroupState): void {
  if (!group.inDoubt) return;
  const { db } = group;
  rollBack(db);
  db.run("BEGIN IMMEDIATE");
  db.run(OVERWRITE, randomUUID());
  db.run("COMMIT");
  group.inDoubt = false;
}

/** Tried at once, because the fault may have been brief. */
function voided(group: GroupState): boolean {
  try {
    overwrite(group);
    return true;
  } catch {
    return false;
  }
}

function rollBack(db: Database): void {
  if (db.inTransaction()) db.run("ROLLBACK");
}

/** @param transaction whether a task of it has written */
async function runTask({ db, hooks }: GroupState, task: Task, transaction: { written: boolean }): Promise<void> {
  const isFirst = !transaction.written;
  task.wrote = false;
  db.onWrite(() => {
    db.onWrite(null);
    task.wrote = true;
    transaction.written = true;
    if (!isFirst) db.run("SAVEPOINT task"); // before its first write: most reads and refusals need none
  });
  try {
    task.result = await task.work();
  } catch (error) {
    if (!db.inTransaction()) throw error; // SQLite rolled back the whole transaction
    if (task.wrote) undo(db, transaction, isFirst);
    const isFault = isStorageFault(error);
    if (isFault) hooks.refused();
    task.failure = { reason: isFault ? storageFailure(error) : error };
  } finally {
    db.onWrite(null);
  }
}

/** The savepoints stay open until the commit: the newest of a name counts. */
function undo(db: Database, transaction: { written: boolean }, isFirst: boolean): void {
  db.kept.dropAll();
  if (!isFirst) {
    db.run("ROLLBACK TO task");
    return;
  }
  db.run("ROLLBACK"); // nothing else was written
  db.run("BEGIN");
  transaction.written = false;
}
