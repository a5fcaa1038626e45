// Threads in SQLite: rows, the conditional update, search, deletion.
// Invariants:
//   - A filter's keys and values are bound parameters, never part of the SQL text.
//   - Deleting a thread deletes every row with its id; an Idempotency-Key stays valid, without the id.
//   - A kept row of a thread follows each of its changes here (client/kept-rows.ts).
import type { SQLInputValue } from "node:sqlite";
import type { Thread } from "../../../model/model.ts";
import type { ThreadQuery, ThreadTx } from "../../../ports/ports.ts";
import { metadataConditions } from "../../shared/metadata-filter.ts";
import { readOpening } from "../../shared/sealing.ts";
import { TABLES_OF_A_THREAD } from "../../shared/thread-copy.ts";
import { THREAD_COLUMNS } from "../../shared/columns.ts";
import { threadBusy } from "../../shared/thread-busy.ts";
import type { Database, Row } from "../client/database.ts";
import { keepDigests } from "./audit.ts";
import type { KeptRow } from "../client/kept-rows.ts";
import { fewest, indexMetadata, type Candidate } from "./shared/metadata-index.ts";
import type { PendingRuns } from "./pending-runs.ts";
import { table } from "./shared/rows.ts";
import { isMatch, buildMatch } from "./search/search-match.ts";
import { deleteDocuments } from "./search/search.ts";

const THREADS = table<Thread>("threads", THREAD_COLUMNS);

export function readThread(db: Database, threadId: string): Thread | null {
  const row = keptThread(db, threadId);
  return row === null ? null : THREADS.read(db, row);
}

function keptThread(db: Database, threadId: string): KeptRow | null {
  const kept = db.kept.threads.get(threadId);
  if (kept !== undefined) return kept;
  const row = db.get(`SELECT ${THREADS.columns} FROM threads WHERE thread_id = ?`, threadId) as KeptRow | null;
  if (row !== null) db.kept.threads.set(threadId, row);
  return row;
}

export function threadVerbs(db: Database, pending: PendingRuns): ThreadTx {
  return { ...rowVerbs(db, pending), ...searchVerbs(db) };
}

type RowVerbs = Pick<ThreadTx, "thread" | "insertThread" | "updateThread" | "takeThread" | "deleteThread">;

function rowVerbs(db: Database, pending: PendingRuns): RowVerbs {
  const { kept } = db;
  const indexPatch = (threadId: string, before: KeptRow | null, { metadata }: Partial<Thread>): void => {
    if (metadata !== undefined && before !== null) indexMetadata(db, { threadId, before }, metadata);
  };
  return {
    thread: (threadId) => readThread(db, threadId),
    insertThread(thread) {
      const [row] = THREADS.insert(db, [thread]);
      if (row === undefined) return;
      db.changed.add(thread.threadId);
      indexMetadata(db, { threadId: thread.threadId, before: { ...row, metadata: "{}" } }, thread.metadata);
      kept.threads.set(thread.threadId, row);
      kept.interrupts.set(thread.threadId, []);
      kept.audited.set(thread.threadId, 0);
    },
    updateThread(threadId, patch) {
      const before = patch.metadata === undefined ? null : keptThread(db, threadId);
      THREADS.update(db, { keyColumn: "thread_id", key: threadId, kept: kept.threads }, patch);
      db.changed.add(threadId);
      indexPatch(threadId, before, patch);
    },
    takeThread(threadId, from, patch) {
      const busyPatch = { ...patch, status: "busy", pause: null } as const;
      const before = patch.metadata === undefined ? null : keptThread(db, threadId);
      const row = { keyColumn: "thread_id", key: threadId, also: `AND status = '${from}'`, kept: kept.threads };
      if (THREADS.update(db, row, busyPatch) !== 1) throw threadBusy();
      indexPatch(threadId, before, patch);
    },
    deleteThread(threadId) {
      let existed = false;
      // the key itself stays valid
      db.run("UPDATE idempotency SET thread_id = '', run_id = '' WHERE thread_id = ?", threadId);
      keepDigests(db, threadId);
      deleteDocuments(db, threadId);
      // threads comes last
      for (const name of [...TABLES_OF_A_THREAD, "audit", "threads"])
        existed = db.run(`DELETE FROM ${name} WHERE thread_id = ?`, threadId) > 0;
      for (const rows of [kept.threads, kept.heads, kept.interrupts, kept.audited]) rows.delete(threadId);
      kept.runs.drop((row) => row["thread_id"] === threadId);
      pending.threadGone(threadId);
      return existed;
    },
  };
}

function searchVerbs(db: Database): Omit<ThreadTx, keyof RowVerbs> {
  const find = (query: ThreadQuery, columns: string): Row[] => {
    const { from, where, parameters, ordered } = planSearch(db, query);
    const direction = query.descending ? "DESC" : "ASC";
    const column = query.sortBy === "created_at" ? `${ordered}.created_at` : `t.${query.sortBy}`;
    return db.all(
      `SELECT ${columns} FROM ${from} ${where}
       ORDER BY ${column} ${direction}, ${ordered}.thread_id ${direction} LIMIT ? OFFSET ?`,
      ...parameters,
      query.limit,
      query.offset,
    );
  };
  const all = THREADS.columns.replaceAll(/\w+/g, "t.$&");
  return {
    searchThreads: (query) => readOpening(find(query, all), (row) => THREADS.read(db, row)),
    searchThreadIds: (query) => find(query, "t.thread_id").map((row) => String(row["thread_id"])),
    countThreads(query, max) {
      const { from, where, parameters } = planSearch(db, query);
      const counted = `SELECT count(*) AS n FROM (SELECT 1 FROM ${from} ${where} LIMIT ?)`;
      return Number(db.get(counted, ...parameters, max ?? -1)?.["n"]);
    },
    expiredThreads(at, limit, paused) {
      const statuses = paused ? "'idle', 'error', 'interrupted'" : "'idle', 'error'";
      const rows = db.all(
        `SELECT ${THREADS.columns} FROM threads INDEXED BY threads_expiry
         WHERE ttl_ms IS NOT NULL AND (ttl_strategy = 'delete' OR pruned_at < updated_at)
           AND status IN (${statuses}) AND updated_at + ttl_ms < ? LIMIT ?`,
        at,
        limit,
      );
      return readOpening(rows, (row) => THREADS.read(db, row));
    },
    threadsAfter: (threadId, limit) =>
      db
        .all(
          `SELECT ${THREADS.columns} FROM threads WHERE thread_id > ? ORDER BY thread_id LIMIT ?`,
          threadId ?? "",
          limit,
        )
        .map((row) => THREADS.read(db, row)),
  };
}

interface SearchPlan {
  readonly from: string;
  readonly where: string;
  readonly parameters: readonly SQLInputValue[];
  /**
   * The table whose index is read, in the order of its created_at and thread_id: with this name SQLite need not sort.
   */
  readonly ordered: "t" | "m";
}

/** Reads the index that leaves the fewest rows, and checks the other conditions on them. */
function planSearch(db: Database, query: ThreadQuery): SearchPlan {
  const { indexed, oneOf, rest } = metadataConditions(query.scope, query.metadata);
  const conditions: string[] = [];
  const parameters: SQLInputValue[] = [];
  const add = (condition: string, ...values: readonly SQLInputValue[]): void => {
    conditions.push(condition);
    parameters.push(...values);
  };
  // A word of a closed list, as a literal: only then does SQLite use a partial index.
  const status = query.status === null ? null : `t.status = '${query.status}'`;
  const candidates: Candidate<(typeof indexed)[number] | null>[] = indexed.map((one) => ({
    what: one,
    probe: ["SELECT 1 FROM thread_metadata WHERE key = ? AND value = ?", one.key, one.text],
  }));
  if (status !== null) candidates.push({ what: null, probe: [`SELECT 1 FROM threads AS t WHERE ${status}`] });
  const match = buildMatch(db, query.search, "thread");
  if (match !== null && !match.isFew) add(isMatch("t.thread_id", "''"), match.text);
  if (match?.isFew === true) add(`t.thread_id IN (${FOUND})`, match.text);
  if (query.ids !== null) add("t.thread_id IN (SELECT value FROM json_each(?))", JSON.stringify(query.ids));
  if (query.idPrefix !== null) add("t.thread_id >= ? AND t.thread_id < ?", query.idPrefix, `${query.idPrefix}g`); // above every digit of an id
  const isNamed = query.ids !== null || query.idPrefix !== null || match?.isFew === true;
  const driver = isNamed || indexed.length === 0 ? null : fewest(db, candidates);
  if (driver !== null) add("m.key = ? AND m.value = ?", driver.key, driver.text);
  if (status !== null) add(status);
  for (const one of indexed) {
    if (one === driver) continue;
    const has =
      "EXISTS (SELECT 1 FROM thread_metadata AS o WHERE o.thread_id = t.thread_id AND o.key = ? AND o.value = ?)";
    add(has, one.key, one.text);
  }
  for (const { key, texts } of oneOf) add(HAS_ONE_OF, key, JSON.stringify(texts));
  for (const part of rest) add("json_contains(t.metadata, ?)", part);
  return {
    from:
      driver === null
        ? "threads AS t"
        : "thread_metadata AS m INDEXED BY thread_metadata_values CROSS JOIN threads AS t ON t.thread_id = m.thread_id",
    where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`,
    parameters,
    ordered: driver === null ? "t" : "m",
  };
}

const FOUND = `SELECT d.thread_id FROM search_words AS w CROSS JOIN search_documents AS d ON d.doc_id = w.rowid
  WHERE w.search_words MATCH ?`;
const HAS_ONE_OF = `EXISTS (SELECT 1 FROM thread_metadata AS o
  WHERE o.thread_id = t.thread_id AND o.key = ? AND o.value IN (SELECT value FROM json_each(?)))`;
