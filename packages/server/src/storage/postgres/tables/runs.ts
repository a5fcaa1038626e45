// Runs in PostgreSQL: rows, queue order, idempotency keys.
// Invariants:
//   - At most one run of a thread is `running`; the unique partial index rejects a second.
//   - A large input is a blob of the thread, shared with the checkpoints that hold the same value.
//   - A delayed run is not in the queue; when due, it takes the place of a run accepted at that time.
//   - A read of a run for a change holds its thread's lock (transaction.ts).
//   - A claim takes the first run in line whose thread's lock is free. It never waits for a lock, so it may be part of
//     the transaction that ends another run, and processes that claim at once get different runs.
//   - A pending run that does not open, or whose thread does not, fails when its turn comes, and a running one at
//     recovery: it holds no other.
import { SealedValueError } from "@holdpoint/base/keyring.ts";
import { BIG_VALUE_UNITS, type Run } from "../../../model/model.ts";
import type { ClaimedRow, RunAttempt, RunClaim, RunTx } from "../../../ports/ports.ts";
import { contentHash, firstIdAt } from "@holdpoint/base/ids.ts";
import { RUN_COLUMNS, type RunRow } from "../../shared/columns.ts";
import type { Parameter, Row } from "../client/pool.ts";
import {
  LINE_FIELDS,
  type Turn,
  lineEndsSql,
  nextInLineSql,
  loseTurn,
  noteTurn,
  placeSql,
  readCaller,
} from "../../shared/line.ts";
import { describeUnreadable, readIfOpened } from "../../shared/sealing.ts";
import { readHead } from "../../shared/run-head.ts";
import { wholeRequest } from "../../shared/stored-request.ts";
import { threadKey, threadLockSql } from "../client/lock-key.ts";
import { table } from "./shared/rows.ts";
import type { Sql } from "../client/transaction.ts";
import { QUEUE_NEXT } from "./queue.ts";
import { readThread } from "./threads.ts";

const RUNS = table<RunRow>("runs", RUN_COLUMNS);

/** Delayed runs that enter the queue in one claim; more follow with the next. */
const DUE_AT_ONCE_MAX = 100;

/** Runs in one claim that others were faster to claim, or that their threads hold back. */
const CLAIM_TRIES_MAX = 100;

/**
 * Holds the thread's lock. The condition is the key alone: with one on the status, PostgreSQL would
 * use the index of running runs, which has few rows and, on a busy server, thousands of dead ones.
 */
export async function isCurrent(db: Sql, { threadId, runId, attempt }: RunAttempt): Promise<boolean> {
  db.hold(threadKey(threadId));
  const row = await db.get("SELECT attempt, status FROM holdpoint.runs WHERE run_id = $1", runId);
  return row?.["attempt"] === attempt && row["status"] === "running";
}

/** Looked at for one reason in one claim: more than all processes together claim at the same moment. */
const EACH = 100;
const PLACE = placeSql("holdpoint.runs", "greatest");
const ENDS = lineEndsSql("holdpoint.runs");

/** An open item that the run `r` asked. */
const OPEN_ITEM = `SELECT 1 FROM holdpoint.interrupts AS i
  WHERE i.thread_id = r.thread_id AND i.run_id = r.run_id AND i.state = 'open'`;

/** A materialized list is read row by row, and no further than to the first free thread. */
function nextFreeSql(turn: Turn): string {
  return `WITH line AS MATERIALIZED (${nextInLineSql("holdpoint.runs", turn, "$1", EACH)})
    SELECT ${LINE_FIELDS}, ${ENDS} FROM (
      SELECT ${LINE_FIELDS} FROM line WHERE pg_try_advisory_xact_lock(${threadLockSql("thread_id")}) LIMIT 1) AS found`;
}

const LEAVE = "UPDATE holdpoint.runs SET place = NULL WHERE run_id = $1 AND status = 'pending' RETURNING run_id";

/** The few active runs of one thread, instead of the order of all waiting runs. */
const CLAIM = `
  UPDATE holdpoint.runs SET status = $2, attempt = attempt + 1, worker_id = $3, updated_at = $4 WHERE run_id = (
    WITH own AS MATERIALIZED (
      SELECT run_id, status, due_at, urgent, queue_key FROM holdpoint.runs
      WHERE thread_id = $1 AND status IN ('pending', 'running'))
    SELECT run_id FROM own WHERE status = 'pending' AND due_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM own AS other WHERE other.status = 'running')
      AND NOT EXISTS (SELECT 1 FROM holdpoint.threads AS t WHERE t.thread_id = $1 AND t.status = 'interrupted')
    ORDER BY urgent DESC, queue_key LIMIT 1)
  RETURNING ${RUNS.columns}`;

const RUNNING = "WHERE status = 'running' AND ($1::text IS NULL OR worker_id = $1)";

export function runVerbs(db: Sql, turn: Turn): RunTx {
  const reader = createReader(db);
  return { ...readVerbs(db, reader), ...writeVerbs(db), ...claimVerbs(db, reader, turn), ...runningVerbs(db, reader) };
}

const INPUT_BYTES = `CASE WHEN input LIKE '#%'
  THEN (SELECT octet_length(data) FROM holdpoint.blobs AS b
        WHERE b.thread_id = r.thread_id AND b.hash = substr(r.input, 2))
  ELSE coalesce(octet_length(input), 0) END`;

interface RunReader {
  readonly read: (row: Row) => Promise<Run>;
  readonly one: (where: string, ...parameters: Parameter[]) => Promise<Run | null>;
  readonly list: (where: string, ...parameters: Parameter[]) => Promise<readonly Run[]>;
  /** The column `value` of the first row, or null. */
  readonly value: (sql: string, ...parameters: Parameter[]) => Promise<unknown>;
}

function createReader(db: Sql): RunReader {
  const read = async (row: Row): Promise<Run> => {
    const { urgent: _urgent, queueKey: _key, caller: _caller, request, ...rest } = RUNS.read(db, row);
    const run = { ...rest, request: wholeRequest(request) };
    if (run.input?.startsWith("#") !== true) return run;
    const sql = "SELECT data FROM holdpoint.blobs WHERE thread_id = $1 AND hash = $2";
    const blob = await db.get(sql, run.threadId, run.input.slice(1));
    const place = { thread_id: run.threadId, hash: run.input.slice(1) };
    return { ...run, input: String(db.sealing.open("blobs", "data", place, blob?.["data"])) };
  };
  const one = async (where: string, ...parameters: Parameter[]): Promise<Run | null> => {
    const row = await db.get(`SELECT ${RUNS.columns} FROM holdpoint.runs AS r ${where}`, ...parameters);
    return row === null ? null : read(row);
  };
  const list = async (where: string, ...parameters: Parameter[]): Promise<readonly Run[]> => {
    const rows = await db.all(`SELECT ${RUNS.columns} FROM holdpoint.runs AS r ${where}`, ...parameters);
    const runs = await Promise.all(rows.map((row) => readIfOpened(read(row))));
    return runs.filter((run) => !(run instanceof SealedValueError));
  };
  const value = async (sql: string, ...parameters: Parameter[]): Promise<unknown> =>
    (await db.get(sql, ...parameters))?.["value"] ?? null;
  return { read, one, list, value };
}

function readVerbs(
  db: Sql,
  { one, list, value }: RunReader,
): Pick<RunTx, "threadOfRun" | "run" | "runs" | "activeRuns" | "runsOfAssistant" | "allActiveRuns" | "newestRunId"> {
  return {
    async threadOfRun(runId) {
      const found = await value("SELECT thread_id AS value FROM holdpoint.runs WHERE run_id = $1", runId);
      return typeof found === "string" ? found : null;
    },
    run(threadId, runId) {
      db.hold(threadKey(threadId));
      return one("WHERE run_id = $1 AND thread_id = $2", runId, threadId);
    },
    async runs(threadId, { status, limit, offset }) {
      db.follow(threadKey(threadId));
      const rows = await db.all(
        `SELECT thread_id, run_id, status, attempt, updated_at, octet_length(request) + ${INPUT_BYTES} AS bytes
         FROM holdpoint.runs AS r WHERE thread_id = $1 AND ($2::text IS NULL OR status = $2)
         ORDER BY run_id DESC LIMIT $3 OFFSET $4`,
        threadId,
        status,
        limit,
        offset,
      );
      return rows.map(readHead);
    },
    activeRuns(threadId) {
      db.hold(threadKey(threadId));
      return list(
        `WHERE thread_id = $1 AND status IN ('pending', 'running')
         ORDER BY status = 'running' DESC, due_at IS NOT NULL, urgent DESC, queue_key`,
        threadId,
      );
    },
    runsOfAssistant: (assistantId, which, limit) =>
      list(
        `WHERE assistant_id = $1 AND status ${which === "active" ? "" : "NOT"} IN ('pending', 'running')
         ${which === "active" ? "" : `AND NOT EXISTS (${OPEN_ITEM})`} ORDER BY run_id LIMIT $2`,
        assistantId,
        limit,
      ),
    allActiveRuns: ({ status, after, limit }) =>
      list(
        `WHERE status = '${status}' AND status IN ('pending', 'running') AND (thread_id, run_id) > ($1, $2)
         ORDER BY thread_id, run_id LIMIT $3`,
        after?.threadId ?? "",
        after?.runId ?? "",
        limit,
      ),
    async newestRunId() {
      const id = await value("SELECT max(run_id) AS value FROM holdpoint.runs");
      return typeof id === "string" ? id : null;
    },
  };
}

function writeVerbs(db: Sql): Pick<RunTx, "insertRun" | "updateRun" | "deleteRun" | "deleteEndedRuns"> {
  return {
    insertRun(run, inputHash) {
      db.hold(threadKey(run.threadId));
      let { input } = run;
      if (input !== null && input.length > BIG_VALUE_UNITS) {
        const hash = inputHash ?? contentHash(input);
        const sql = "INSERT INTO holdpoint.blobs (thread_id, hash, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        const place = { thread_id: run.threadId, hash };
        db.run(sql, run.threadId, hash, db.sealing.seal("blobs", "data", place, input));
        input = `#${hash}`;
      }
      const queueKey = run.dueAt === null ? run.runId : `${firstIdAt(run.dueAt)}/${run.runId}`;
      const [urgent, caller] = [run.request.goesFirst ? 1 : 0, readCaller(run.request.user)];
      RUNS.insert(db, [{ ...run, input, queueKey, urgent, caller }]);
    },
    updateRun(runId, patch) {
      RUNS.patch(db, "run_id", runId, patch);
    },
    deleteRun(runId) {
      db.run(
        `DELETE FROM holdpoint.events AS e USING holdpoint.runs AS r
         WHERE r.run_id = $1 AND e.thread_id = r.thread_id AND e.run_id = r.run_id`,
        runId,
      );
      db.run("DELETE FROM holdpoint.runs WHERE run_id = $1", runId);
    },
    async deleteEndedRuns(threadId, before) {
      db.hold(threadKey(threadId));
      const ended = "thread_id = $1 AND status NOT IN ('pending', 'running') AND updated_at < $2";
      return db.count(`DELETE FROM holdpoint.runs WHERE ${ended}`, threadId, before);
    },
  };
}

/** @param row of the run */
function failUnreadable(
  db: Sql,
  row: Row,
  { at, error }: { readonly at: number; readonly error: SealedValueError },
): void {
  const [runId, threadId] = [String(row["run_id"]), String(row["thread_id"])];
  const cell = db.sealing.seal("runs", "error", { run_id: runId }, describeUnreadable(error));
  const end = "UPDATE holdpoint.runs SET status = 'error', ended_by = 'failure', worker_id = NULL, place = NULL";
  db.run(`${end}, error = $2, updated_at = $3 WHERE run_id = $1 AND status IN ('pending', 'running')`, runId, cell, at);
  const active = "SELECT 1 FROM holdpoint.runs AS r WHERE r.thread_id = $1 AND r.status IN ('pending', 'running')";
  const free =
    "UPDATE holdpoint.threads SET status = 'error', updated_at = $2 WHERE thread_id = $1 AND status <> 'interrupted'";
  db.run(`${free} AND NOT EXISTS (${active})`, threadId, at);
  db.run(QUEUE_NEXT, threadId);
}

function runningVerbs(db: Sql, { read, list }: RunReader): Pick<RunTx, "failUnreadableRuns" | "runningRuns"> {
  const failIfUnreadable = async (row: Row, at: number): Promise<void> => {
    const threadId = String(row["thread_id"]);
    const error = await readIfOpened(Promise.all([read(row), readThread(db, threadId)]));
    if (!(error instanceof SealedValueError)) return;
    db.hold(threadKey(threadId));
    failUnreadable(db, row, { at, error });
  };
  return {
    async failUnreadableRuns(at, workerId) {
      if (db.sealing.ring === null) return;
      const rows = await db.all(`SELECT ${RUNS.columns} FROM holdpoint.runs ${RUNNING}`, workerId ?? null);
      for (const row of rows) await failIfUnreadable(row, at);
    },
    runningRuns: (workerId) => list(RUNNING, workerId ?? null),
  };
}

function claimVerbs(
  db: Sql,
  { read, value }: RunReader,
  turn: Turn,
): Pick<RunTx, "claimPendingRun" | "nextDueAt" | "hasPendingRun" | "countPendingRuns" | "isCurrent"> {
  const nextDueAt = async (): Promise<number | null> => {
    const sql = "SELECT min(due_at) AS value FROM holdpoint.runs WHERE status = 'pending' AND due_at IS NOT NULL";
    const at = await value(sql);
    return typeof at === "number" ? at : null;
  };
  const letIn = async (dueBy: number): Promise<void> => {
    const dueAt = await nextDueAt();
    if (dueAt === null || dueAt > dueBy) return; // a read costs less
    await db.attempt(
      `UPDATE holdpoint.runs AS r SET due_at = NULL, place = ${PLACE} WHERE run_id IN
         (SELECT run_id FROM holdpoint.runs WHERE status = 'pending' AND due_at IS NOT NULL AND due_at <= $1
          ORDER BY due_at LIMIT ${DUE_AT_ONCE_MAX} FOR UPDATE SKIP LOCKED) RETURNING run_id`,
      dueBy,
    );
  };
  const claimOn = async (
    threadId: string,
    { status, workerId, updatedAt }: RunClaim,
  ): Promise<ClaimedRow | "failed" | null> => {
    db.hold(threadKey(threadId)); // the caller has the lock; the statements see all that was committed before it
    const [[row], thread] = await Promise.all([
      db.change(CLAIM, threadId, status, workerId, updatedAt),
      readIfOpened(readThread(db, threadId)),
    ]);
    if (row === undefined) return null;
    const run = await readIfOpened(read(row));
    if (!(run instanceof SealedValueError) && !(thread instanceof SealedValueError)) return { run, thread };
    const error = run instanceof SealedValueError ? run : (thread as SealedValueError);
    failUnreadable(db, row, { at: updatedAt, error });
    return "failed";
  };
  return {
    async claimPendingRun(claim, dueBy) {
      if (dueBy !== null) await letIn(dueBy);
      for (let tried = 0; tried < CLAIM_TRIES_MAX; tried++) {
        const [found] = await db.attempt(nextFreeSql(turn), turn.credit);
        if (found === undefined) return null;
        const threadId = String(found["thread_id"]);
        db.noteHeld(threadKey(threadId));
        const claimed = await claimOn(threadId, claim);
        if (claimed === null) {
          // Held by its thread: queueNext() brings it back. Or another process was faster, and it waits no more.
          await db.attempt(LEAVE, String(found["run_id"]));
          continue;
        }
        db.onUndo(() => loseTurn(turn));
        noteTurn(turn, found);
        if (claimed === "failed") continue;
        return claimed;
      }
      return null;
    },
    nextDueAt,
    async hasPendingRun(threadId) {
      db.follow(threadKey(threadId));
      const sql = `SELECT 1 AS value FROM holdpoint.runs
        WHERE thread_id = $1 AND status = 'pending' AND status IN ('pending', 'running') AND due_at IS NULL LIMIT 1`;
      return (await value(sql, threadId)) !== null;
    },
    countPendingRuns: async () =>
      Number(await value("SELECT count(*) AS value FROM holdpoint.runs WHERE status = 'pending'")),
    isCurrent: (run) => isCurrent(db, run),
  };
}
