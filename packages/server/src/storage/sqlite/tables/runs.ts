// Runs in SQLite: rows, queue order.
// Invariants:
//   - At most one run of a thread is `running`; the unique partial index rejects a second.
//   - A large input is a blob of the thread, shared with the checkpoints that hold the same value.
//   - A delayed run is not in the queue; when due, it takes the place of a run accepted at that time.
//   - A kept row of a run follows each of its changes here (client/kept-rows.ts), and so do the pending runs
//     (pending-runs.ts).
//   - A pending run that does not open, or whose thread does not, fails when its turn comes, and a running one at
//     recovery: it holds no other.
import type { SQLInputValue } from "node:sqlite";
import { BIG_VALUE_UNITS, type Run } from "../../../model/model.ts";
import type { ClaimedRow, QueueTx, RunAttempt, RunTx } from "../../../ports/ports.ts";
import { contentHash, firstIdAt } from "@holdpoint/base/ids.ts";
import { RUN_COLUMNS, type RunRow } from "../../shared/columns.ts";
import { SealedValueError } from "@holdpoint/base/keyring.ts";
import { describeUnreadable, readOpening } from "../../shared/sealing.ts";
import type { Database, Row } from "../client/database.ts";
import type { KeptRow } from "../client/kept-rows.ts";
import type { PendingRuns } from "./pending-runs.ts";
import { table } from "./shared/rows.ts";
import {
  LINE_FIELDS,
  type Turn,
  lineEndsSql,
  loseTurn,
  newTurn,
  nextInLineSql,
  noteTurn,
  placeSql,
  readCaller,
} from "../../shared/line.ts";
import { readHead } from "../../shared/run-head.ts";
import { shortRequest, wholeRequest } from "../../shared/stored-request.ts";
import { readThread } from "./threads.ts";

const RUNS = table<RunRow>("runs", RUN_COLUMNS);

/** Delayed runs that enter the queue in one claim; more follow with the next. */
const DUE_AT_ONCE_MAX = 100;

export function runVerbs(db: Database, pending: PendingRuns): RunTx & QueueTx {
  const reader = createReader(db);
  return {
    ...readVerbs(db, reader),
    ...writeVerbs(db, pending),
    ...claimVerbs(db, reader, pending),
    ...runningVerbs(db, reader),
    ...queueVerbs(db),
  };
}

const INPUT_BYTES = `CASE WHEN input LIKE '#%'
  THEN (SELECT octet_length(data) FROM blobs AS b WHERE b.thread_id = r.thread_id AND b.hash = substr(r.input, 2))
  ELSE coalesce(octet_length(input), 0) END`;

interface RunReader {
  readonly read: (row: Row) => Run;
  readonly list: (where: string, ...parameters: SQLInputValue[]) => readonly Run[];
  /** The row of a run; kept afterwards. */
  readonly row: (runId: string) => KeptRow | null;
}

/** An open item that a run asked. */
const OPEN_ITEM = `SELECT 1 FROM interrupts AS i
  WHERE i.thread_id = runs.thread_id AND i.run_id = runs.run_id AND i.state = 'open'`;

function createReader(db: Database): RunReader {
  const read = (row: Row): Run => {
    const { urgent: _urgent, queueKey: _key, caller: _caller, request, ...rest } = RUNS.read(db, row);
    const run = { ...rest, request: wholeRequest(request) };
    if (run.input?.startsWith("#") !== true) return run;
    const blob = db.get("SELECT data FROM blobs WHERE thread_id = ? AND hash = ?", run.threadId, run.input.slice(1));
    const place = { thread_id: run.threadId, hash: run.input.slice(1) };
    return { ...run, input: String(db.sealing.open("blobs", "data", place, blob?.["data"])) };
  };
  const row = (runId: string): KeptRow | null => {
    const kept = db.kept.runs.get(runId);
    if (kept !== undefined) return kept;
    const found = db.get(`SELECT ${RUNS.columns} FROM runs WHERE run_id = ?`, runId) as KeptRow | null;
    if (found !== null) db.kept.runs.set(runId, found);
    return found;
  };
  const list = (where: string, ...parameters: SQLInputValue[]): readonly Run[] =>
    readOpening(db.all(`SELECT ${RUNS.columns} FROM runs WHERE ${where}`, ...parameters), read);
  return { read, list, row };
}

function readVerbs(
  db: Database,
  { read, list, row }: RunReader,
): Pick<RunTx, "threadOfRun" | "run" | "runs" | "activeRuns" | "runsOfAssistant" | "allActiveRuns" | "newestRunId"> {
  return {
    threadOfRun(runId) {
      const row = db.get("SELECT thread_id FROM runs WHERE run_id = ?", runId);
      return row === null ? null : String(row["thread_id"]);
    },
    run(threadId, runId) {
      const found = row(runId);
      return found === null || found["thread_id"] !== threadId ? null : read(found);
    },
    runs(threadId, query) {
      const rows = db.all(
        `SELECT thread_id, run_id, status, attempt, updated_at, octet_length(request) + ${INPUT_BYTES} AS bytes
         FROM runs AS r WHERE thread_id = ? AND (? IS NULL OR status = ?)
         ORDER BY run_id DESC LIMIT ? OFFSET ?`,
        threadId,
        query.status,
        query.status,
        query.limit,
        query.offset,
      );
      return rows.map(readHead);
    },
    activeRuns: (threadId) =>
      list(
        `thread_id = ? AND status IN ('pending', 'running')
         ORDER BY status = 'running' DESC, due_at IS NOT NULL, urgent DESC, queue_key`,
        threadId,
      ),
    runsOfAssistant: (assistantId, which, limit) =>
      list(
        `assistant_id = ? AND status ${which === "active" ? "" : "NOT"} IN ('pending', 'running')
         ${which === "active" ? "" : `AND NOT EXISTS (${OPEN_ITEM})`} ORDER BY run_id LIMIT ?`,
        assistantId,
        limit,
      ),
    allActiveRuns: ({ status, after, limit }) =>
      list(
        `status = '${status}' AND (thread_id, run_id) > (?, ?) ORDER BY thread_id, run_id LIMIT ?`,
        after?.threadId ?? "",
        after?.runId ?? "",
        limit,
      ),
    newestRunId() {
      const id = db.get("SELECT max(run_id) AS id FROM runs")?.["id"];
      return typeof id === "string" ? id : null;
    },
  };
}

function writeVerbs(
  db: Database,
  pending: PendingRuns,
): Pick<RunTx, "insertRun" | "updateRun" | "deleteRun" | "deleteEndedRuns"> {
  return {
    insertRun(run, inputHash) {
      let { input } = run;
      if (input !== null && input.length > BIG_VALUE_UNITS) {
        const hash = inputHash ?? contentHash(input);
        const data = db.sealing.seal("blobs", "data", { thread_id: run.threadId, hash }, input);
        db.run("INSERT OR IGNORE INTO blobs (thread_id, hash, data) VALUES (?, ?, ?)", run.threadId, hash, data);
        input = `#${hash}`;
      }
      const queueKey = run.dueAt === null ? run.runId : `${firstIdAt(run.dueAt)}/${run.runId}`;
      const request = shortRequest(run.request);
      const [urgent, caller] = [run.request.goesFirst ? 1 : 0, readCaller(run.request.user)];
      const [row] = RUNS.insert(db, [{ ...run, request, input, queueKey, urgent, caller }]);
      if (row !== undefined) db.kept.runs.set(run.runId, row);
      if (run.status === "pending") pending.added(run.runId, run.threadId, run.dueAt !== null);
    },
    updateRun(runId, patch) {
      RUNS.update(db, { keyColumn: "run_id", key: runId, kept: db.kept.runs }, patch);
      if (patch.status === "pending" || patch.dueAt !== undefined) pending.forget();
      else if (patch.status !== undefined) pending.gone(runId);
    },
    deleteRun(runId) {
      const threadId = db.get("SELECT thread_id FROM runs WHERE run_id = ?", runId)?.["thread_id"];
      db.run("DELETE FROM events WHERE thread_id = ? AND run_id = ?", String(threadId), runId);
      db.run("DELETE FROM runs WHERE run_id = ?", runId);
      db.kept.runs.delete(runId);
      pending.gone(runId);
    },
    deleteEndedRuns(threadId, before) {
      db.kept.runs.drop((row) => row["thread_id"] === threadId);
      const ended = "thread_id = ? AND status NOT IN ('pending', 'running') AND updated_at < ?";
      return db.run(`DELETE FROM runs WHERE ${ended}`, threadId, before);
    },
  };
}

function claimVerbs(
  db: Database,
  { read, row }: RunReader,
  pending: PendingRuns,
): Pick<RunTx, "claimPendingRun" | "nextDueAt" | "hasPendingRun" | "countPendingRuns" | "isCurrent"> {
  const turn: Turn = newTurn();
  db.kept.onDrop(() => loseTurn(turn));
  const nextDueAt = (): number | null => {
    if (pending.isNoneDelayed()) return null;
    const at = db.get("SELECT min(due_at) AS at FROM runs WHERE status = 'pending' AND due_at IS NOT NULL")?.["at"];
    return typeof at === "number" ? at : null;
  };
  return {
    claimPendingRun(claim, dueBy) {
      if (pending.isEmpty()) return null;
      const dueAt = dueBy === null ? null : nextDueAt();
      // A read first: an update without a match costs twenty times as much.
      if (dueBy !== null && dueAt !== null && dueAt <= dueBy) {
        db.run(
          `UPDATE runs AS r SET due_at = NULL, place = ${PLACE} WHERE run_id IN
             (SELECT run_id FROM runs WHERE status = 'pending' AND due_at <= ? ORDER BY due_at LIMIT ?)`,
          dueBy,
          DUE_AT_ONCE_MAX,
        );
        db.kept.dropAll();
      }
      for (;;) {
        const next = db.get(
          `SELECT ${LINE_FIELDS}, ${ENDS}, ${HELD.replaceAll("?", "first.thread_id")} AS is_held
           FROM (${nextInLineSql("runs", turn, "?", 1)}) AS first LIMIT 1`,
          turn.credit,
        );
        if (next === null) return null;
        const found = row(String(next["run_id"]));
        if (found === null || next["is_held"] === 1) {
          db.run("UPDATE runs SET place = NULL WHERE run_id = ?", String(next["run_id"])); // queueNext() brings it back
          continue;
        }
        noteTurn(turn, next);
        const ids = { runId: String(next["run_id"]), threadId: String(next["thread_id"]) };
        const claimed = readClaimed(db, read, found);
        pending.gone(ids.runId);
        if (claimed instanceof SealedValueError) {
          failUnreadable(db, ids, { at: claim.updatedAt, error: claimed });
          continue;
        }
        const { run } = claimed;
        const patch = { ...claim, attempt: run.attempt + 1 };
        RUNS.update(db, { keyColumn: "run_id", key: run.runId, kept: db.kept.runs }, patch);
        return { run: { ...run, ...patch }, thread: claimed.thread };
      }
    },
    nextDueAt,
    hasPendingRun: (threadId) =>
      pending.isQueuedOn(threadId) ??
      db.get("SELECT 1 FROM runs WHERE thread_id = ? AND status = 'pending' AND due_at IS NULL LIMIT 1", threadId) !==
        null,
    countPendingRuns: () => Number(db.get("SELECT count(*) AS n FROM runs WHERE status = 'pending'")?.["n"]),
    isCurrent: (run) => isCurrent(db, run),
  };
}

function readClaimed(db: Database, read: RunReader["read"], found: Row): ClaimedRow | SealedValueError {
  try {
    return { run: read(found), thread: readThread(db, String(found["thread_id"])) };
  } catch (error) {
    if (error instanceof SealedValueError) return error;
    throw error;
  }
}

function runningVerbs(db: Database, { read }: RunReader): Pick<RunTx, "failUnreadableRuns" | "runningRuns"> {
  const running = (workerId = null as string | null): readonly Row[] =>
    db.all(
      `SELECT ${RUNS.columns} FROM runs WHERE status = 'running' AND (? IS NULL OR worker_id = ?)`,
      workerId,
      workerId,
    );
  return {
    failUnreadableRuns(at, workerId) {
      for (const row of db.sealing.ring === null ? [] : running(workerId)) {
        const ids = { runId: String(row["run_id"]), threadId: String(row["thread_id"]) };
        const error = readClaimed(db, read, row);
        if (error instanceof SealedValueError) failUnreadable(db, ids, { at, error });
      }
    },
    runningRuns: (workerId) => readOpening(running(workerId), read),
  };
}

function failUnreadable(
  db: Database,
  { runId, threadId }: Pick<Run, "runId" | "threadId">,
  { at, error }: { readonly at: number; readonly error: SealedValueError },
): void {
  const cell = db.sealing.seal("runs", "error", { run_id: runId }, describeUnreadable(error));
  const end = "UPDATE runs SET status = 'error', ended_by = 'failure', place = NULL, error = ?, updated_at = ?";
  db.run(`${end} WHERE run_id = ?`, cell, at, runId);
  const active = "SELECT 1 FROM runs AS r WHERE r.thread_id = threads.thread_id AND r.status IN ('pending', 'running')";
  const free = `UPDATE threads SET status = 'error', updated_at = ? WHERE thread_id = ? AND status <> 'interrupted'`;
  db.run(`${free} AND NOT EXISTS (${active})`, at, threadId);
  db.kept.runs.delete(runId);
  db.kept.threads.delete(threadId);
  db.changed.add(threadId);
  void queueVerbs(db).queueNext(threadId);
}

/** True if the run is running in this attempt. */
export function isCurrent(db: Database, { runId, attempt }: Pick<RunAttempt, "runId" | "attempt">): boolean {
  const row =
    db.kept.runs.get(runId) ?? db.get("SELECT attempt, status FROM runs WHERE run_id = ?", runId) ?? undefined;
  return row?.["attempt"] === attempt && row["status"] === "running";
}

/** A run of the thread is running, or the thread waits for a person. */
const HELD = `(EXISTS (SELECT 1 FROM runs WHERE thread_id = ? AND status = 'running')
  OR EXISTS (SELECT 1 FROM threads WHERE thread_id = ? AND status = 'interrupted'))`;

const PLACE = placeSql("runs", "max");
const ENDS = lineEndsSql("runs");

function queueVerbs(db: Database): QueueTx {
  return {
    queueNext(threadId) {
      db.run(
        `UPDATE runs AS r SET place = ${PLACE} WHERE place IS NULL AND NOT ${HELD.replaceAll("?", "?1")} AND run_id =
           (SELECT run_id FROM runs WHERE thread_id = ?1 AND status = 'pending' AND due_at IS NULL
            ORDER BY urgent DESC, queue_key LIMIT 1)`,
        threadId,
      );
    },
    addWorker: () => undefined, // no other process has the file
    deadWorker: () => null,
    removeWorker: () => undefined,
  };
}
