// Threads in PostgreSQL: rows, the conditional update, search, deletion.
// Invariants:
//   - A read of a thread holds its lock until the end of the transaction (transaction.ts).
//   - Deleting a thread deletes every row with its id; an Idempotency-Key stays valid, without the id.
import type { Thread } from "../../../model/model.ts";
import type { ThreadQuery, ThreadTx } from "../../../ports/ports.ts";
import { metadataConditions } from "../../shared/metadata-filter.ts";
import { readOpening } from "../../shared/sealing.ts";
import { TABLES_OF_A_THREAD } from "../../shared/thread-copy.ts";
import { THREAD_COLUMNS } from "../../shared/columns.ts";
import { threadBusy } from "../../shared/thread-busy.ts";
import { deleteAudit } from "./audit.ts";
import { createConditions, type Conditions } from "./shared/conditions.ts";
import { threadKey } from "../client/lock-key.ts";
import { indexNewThread, indexThread } from "./metadata-index.ts";
import { table } from "./shared/rows.ts";
import { isMatch, searchText } from "./search.ts";
import type { Row } from "../client/pool.ts";
import type { Sql } from "../client/transaction.ts";
import { toJsonText } from "../client/text-encoding.ts";

const THREADS = table<Thread>("threads", { ...THREAD_COLUMNS, metadata: ["metadata", "searched"] });

export async function readThread(db: Sql, threadId: string): Promise<Thread | null> {
  db.hold(threadKey(threadId));
  const row = await db.get(`SELECT ${THREADS.columns} FROM holdpoint.threads WHERE thread_id = $1`, threadId);
  return row === null ? null : THREADS.read(db, row);
}

export function threadVerbs(db: Sql): ThreadTx {
  const find = (query: ThreadQuery, columns: string): Promise<readonly Row[]> => {
    const search = buildConditions(query);
    const direction = query.descending ? "DESC" : "ASC";
    return db.all(
      `SELECT ${columns} FROM holdpoint.threads AS t ${search.where()}
       ORDER BY t.${query.sortBy} ${direction}, t.thread_id ${direction}
       LIMIT ${search.mark(query.limit)} OFFSET ${search.mark(query.offset)}`,
      ...search.parameters,
    );
  };
  return {
    thread: (threadId) => readThread(db, threadId),
    insertThread(thread) {
      db.hold(threadKey(thread.threadId));
      THREADS.insert(db, [thread]);
      indexNewThread(db, thread.threadId, thread.createdAt, thread.metadata);
    },
    updateThread(threadId, patch) {
      db.hold(threadKey(threadId));
      THREADS.patch(db, "thread_id", threadId, patch);
      if (patch.metadata !== undefined) indexThread(db, threadId, patch.metadata);
    },
    takeThread(threadId, from, patch) {
      db.hold(threadKey(threadId));
      const busyPatch = { ...patch, status: "busy", pause: null } as const;
      const also = `AND status = '${from}'`;
      THREADS.require(db, { keyColumn: "thread_id", key: threadId, also, otherwise: threadBusy }, busyPatch);
      if (patch.metadata !== undefined) indexThread(db, threadId, patch.metadata);
    },
    deleteThread: (threadId) => deleteThread(db, threadId),
    searchThreads: async (query) =>
      readOpening(await find(query, THREADS.chooseColumns("t")), (row) => THREADS.read(db, row)),
    searchThreadIds: async (query) => (await find(query, "t.thread_id")).map((row) => String(row["thread_id"])),
    async countThreads(query, max) {
      const search = buildConditions(query);
      const row = await db.get(
        `SELECT count(*) AS n FROM (SELECT 1 FROM holdpoint.threads AS t ${search.where()} LIMIT ${search.mark(max)}) AS found`,
        ...search.parameters,
      );
      return Number(row?.["n"]);
    },
    async expiredThreads(at, limit, paused) {
      const statuses = paused ? "'idle', 'error', 'interrupted'" : "'idle', 'error'";
      const rows = await db.all(
        `SELECT ${THREADS.columns} FROM holdpoint.threads
         WHERE expires_at IS NOT NULL AND (ttl_strategy = 'delete' OR pruned_at < updated_at)
           AND status IN (${statuses}) AND expires_at < $1 LIMIT $2`,
        at,
        limit,
      );
      return readOpening(rows, (row) => THREADS.read(db, row));
    },
    async threadsAfter(threadId, limit) {
      const rows = await db.all(
        `SELECT ${THREADS.columns} FROM holdpoint.threads WHERE thread_id > $1 ORDER BY thread_id LIMIT $2`,
        threadId ?? "",
        limit,
      );
      return readOpening(rows, (row) => THREADS.read(db, row));
    },
  };
}

async function deleteThread(db: Sql, threadId: string): Promise<boolean> {
  db.hold(threadKey(threadId));
  // The key itself stays valid.
  db.run("UPDATE holdpoint.idempotency SET thread_id = '', run_id = '' WHERE thread_id = $1", threadId);
  deleteAudit(db, threadId);
  for (const name of [...TABLES_OF_A_THREAD, "search_documents"])
    db.run(`DELETE FROM holdpoint.${name} WHERE thread_id = $1`, threadId);
  return (await db.count("DELETE FROM holdpoint.threads WHERE thread_id = $1", threadId)) > 0;
}

function buildConditions(query: ThreadQuery): Conditions {
  const search = createConditions();
  // A word of a closed list, as a literal: only then does PostgreSQL use a partial index.
  if (query.status !== null) search.add(`t.status = '${query.status}'`);
  if (query.search.length > 0) search.add(isMatch("t.thread_id", "''", "?"), searchText(query.search));
  if (query.ids !== null) search.add("t.thread_id = ANY(?::text[])", query.ids);
  if (query.idPrefix !== null) search.add("t.thread_id >= ? AND t.thread_id < ?", query.idPrefix, `${query.idPrefix}g`); // above every digit of an id
  const { indexed, oneOf, rest } = metadataConditions(query.scope, query.metadata);
  for (const { key, text } of indexed) {
    search.add(
      "EXISTS (SELECT 1 FROM holdpoint.thread_metadata AS m WHERE m.thread_id = t.thread_id AND m.key = ? AND m.value = ?)",
      key,
      text,
    );
  }
  for (const { key, texts } of oneOf) {
    search.add(
      "EXISTS (SELECT 1 FROM holdpoint.thread_metadata AS m WHERE m.thread_id = t.thread_id AND m.key = ? AND m.value = ANY(?::text[]))",
      key,
      texts,
    );
  }
  for (const part of rest) search.add("t.metadata::jsonb @> ?::jsonb", toJsonText(part));
  return search;
}
