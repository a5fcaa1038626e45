// Metadata index: the members of a thread's metadata as rows (../../shared/metadata-filter.ts), and those of the open
// inbox items, in inbox order.
// Invariant: inbox_metadata has exactly the rows of thread_metadata, for each open item.
import type { Interrupt } from "../../../model/model.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { indexText } from "../../shared/metadata-filter.ts";
import type { Sql } from "../client/transaction.ts";

/** `key → text` of the members with a row. */
export function indexRows(metadata: JsonObject): {
  readonly keys: readonly string[];
  readonly texts: readonly string[];
} {
  const rows = Object.entries(metadata).flatMap(([key, value]) => {
    const text = indexText(value);
    return text === null ? [] : [[key, text] as const];
  });
  return { keys: rows.map(([key]) => key), texts: rows.map(([, text]) => text) };
}

/** The rows of a new thread. */
export function indexNewThread(db: Sql, threadId: string, createdAt: number, metadata: JsonObject): void {
  const { keys, texts } = indexRows(metadata);
  if (keys.length === 0) return;
  db.run(
    `INSERT INTO holdpoint.thread_metadata (thread_id, key, value, created_at)
     SELECT $1, key, value, $2 FROM unnest($3::text[], $4::text[]) AS given (key, value)`,
    threadId,
    createdAt,
    keys,
    texts,
  );
}

/** Updates the rows of a thread to its metadata. */
export function indexThread(db: Sql, threadId: string, metadata: JsonObject): void {
  const { keys, texts } = indexRows(metadata);
  db.run(
    `WITH gone AS (DELETE FROM holdpoint.thread_metadata WHERE thread_id = $1 AND key <> ALL ($2::text[]))
     INSERT INTO holdpoint.thread_metadata (thread_id, key, value, created_at)
     SELECT t.thread_id, given.key, given.value, t.created_at
     FROM holdpoint.threads AS t, unnest($2::text[], $3::text[]) AS given (key, value) WHERE t.thread_id = $1
     ON CONFLICT (thread_id, key) DO UPDATE SET value = excluded.value`,
    threadId,
    keys,
    texts,
  );
  db.run(
    `WITH gone AS (DELETE FROM holdpoint.inbox_metadata WHERE thread_id = $1 AND key <> ALL ($2::text[]))
     INSERT INTO holdpoint.inbox_metadata (thread_id, interrupt_id, key, value, created_at)
     SELECT i.thread_id, i.interrupt_id, given.key, given.value, i.created_at
     FROM holdpoint.interrupts AS i, unnest($2::text[], $3::text[]) AS given (key, value)
     WHERE i.thread_id = $1 AND ${IS_OPEN}
     ON CONFLICT (thread_id, interrupt_id, key) DO UPDATE SET value = excluded.value`,
    threadId,
    keys,
    texts,
  );
}

/** Compares on the thread's rows: the index of all open items takes longer. */
const IS_OPEN = "coalesce(i.state, '') = 'open'";

/** For all items of a copy. */
export function indexCopiedItems(db: Sql, threadId: string): void {
  db.run(
    `INSERT INTO holdpoint.inbox_metadata (thread_id, interrupt_id, key, value, created_at)
     SELECT i.thread_id, i.interrupt_id, m.key, m.value, i.created_at
     FROM holdpoint.interrupts AS i JOIN holdpoint.thread_metadata AS m ON m.thread_id = i.thread_id
     WHERE i.thread_id = $1 AND ${IS_OPEN}`,
    threadId,
  );
}

/** For new or changed items. */
export function indexItems(db: Sql, items: readonly Interrupt[]): void {
  const closed = items.filter(({ state }) => state !== "open");
  for (const { threadId, interruptId } of closed) {
    db.run("DELETE FROM holdpoint.inbox_metadata WHERE thread_id = $1 AND interrupt_id = $2", threadId, interruptId);
  }
  for (const { threadId, interruptId, createdAt } of items.filter(({ state }) => state === "open")) {
    db.run(
      `INSERT INTO holdpoint.inbox_metadata (thread_id, interrupt_id, key, value, created_at)
       SELECT thread_id, $2, key, value, $3 FROM holdpoint.thread_metadata WHERE thread_id = $1
       ON CONFLICT (thread_id, interrupt_id, key) DO UPDATE SET value = excluded.value, created_at = excluded.created_at`,
      threadId,
      interruptId,
      createdAt,
    );
  }
}
