// The inbox in PostgreSQL: pages, counts and facets.
// Invariants:
//   - Only open interrupts of paused threads are in the inbox, so every listed item accepts an answer.
//   - The order is total: creation time, thread, id. A page begins strictly after the end of the previous one. Every
//     filter has an index in that order.
import type { Interrupt, InterruptKind, ThreadStatus } from "../../../model/model.ts";
import type { DeadlineBucket, InboxPlace, InboxQuery, InboxTally, InterruptTx } from "../../../ports/ports.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { BUCKETS } from "../../shared/deadline-buckets.ts";
import { readOpening } from "../../shared/sealing.ts";
import { fittingRows } from "../../shared/fitting-rows.ts";
import { metadataConditions } from "../../shared/metadata-filter.ts";
import type { Row } from "../client/pool.ts";
import { fromJsonText, toJsonText } from "../client/text-encoding.ts";
import type { Sql } from "../client/transaction.ts";
import { createConditions, type Conditions } from "./shared/conditions.ts";
import { isMatch, searchText } from "./search.ts";

const BYTES = "octet_length(i.value) + octet_length(t.metadata)";
const ITEMS = "holdpoint.interrupts AS i JOIN holdpoint.threads AS t ON t.thread_id = i.thread_id";

/** Different members of the metadata that a tally has, the most frequent ones. */
const MEMBERS_MAX = 10_000;

/** @param columns of an interrupt, in the table `i` */
export function inboxVerbs(
  db: Sql,
  { columns, readInterrupt }: { readonly columns: string; readonly readInterrupt: (row: Row) => Interrupt },
): Pick<InterruptTx, "inbox" | "countInbox" | "tallyInbox" | "tallyMetadata"> {
  return {
    async inbox(query) {
      const search = buildConditions(query);
      const direction = query.descending ? "DESC" : "ASC";
      const place = ["i.created_at", "i.thread_id", "i.interrupt_id"].map((column) => `${column} ${direction}`);
      const first = { age: [], deadline: ["i.expires_at ASC NULLS LAST"], priority: ["i.priority"] }[query.order];
      const where = search.where();
      const limitMark = search.mark(0);
      const page = (cells: string, limit: number): Promise<readonly Row[]> =>
        db.all(
          `SELECT ${cells}
           FROM holdpoint.interrupts AS i JOIN holdpoint.threads AS t ON t.thread_id = i.thread_id ${where}
           ORDER BY ${[...first, ...place].join(", ")}
           LIMIT ${limitMark}`,
          ...search.parameters.slice(0, -1),
          limit,
        );
      const sizes = await page(`${BYTES} AS bytes`, query.limit + 1); // reads no values
      const limit = fittingRows(sizes.slice(0, query.limit), query.bytesMax);
      const rows = await page(
        `${columns}, ${BYTES} AS bytes, t.metadata AS thread_metadata, t.status AS thread_status`,
        limit,
      );
      const items = readOpening(rows, (row) => ({
        interrupt: readInterrupt(row),
        metadata: JSON.parse(fromJsonText(String(row["thread_metadata"]))) as JsonObject,
        status: row["thread_status"] as ThreadStatus,
        bytes: Number(row["bytes"]),
      }));
      return { rows: items, more: sizes.length > limit };
    },
    async countInbox(query) {
      const search = buildConditions(query);
      const row = await db.get(`SELECT count(*) AS n FROM ${ITEMS} ${search.where()}`, ...search.parameters);
      return { found: Number(row?.["n"]), next: null };
    },
    async tallyInbox(query) {
      const search = buildConditions(query);
      const now = `${search.mark(query.now)}::bigint`;
      const holder = `CASE WHEN i.claimed_until IS NULL OR i.claimed_until > ${now} THEN i.claimed_by END`;
      const rows = await db.all(
        `SELECT i.graph_id, i.assistant_id, i.node, i.kind, ${holder} AS claimed_by,
           coalesce(i.snoozed_until, 0) > ${now} AS snoozed, ${bucketSql(now)} AS deadline, count(*) AS n
         FROM ${ITEMS} ${search.where()} GROUP BY 1, 2, 3, 4, 5, 6, 7`,
        ...search.parameters,
      );
      return { found: rows.map(toTally), next: null };
    },
    async tallyMetadata(query) {
      const search = buildConditions(query);
      const rows = await db.all(
        `SELECT x.key, x.value, count(*) AS n
         FROM ${ITEMS} JOIN holdpoint.inbox_metadata AS x ON x.thread_id = i.thread_id AND x.interrupt_id = i.interrupt_id
         ${search.where()} GROUP BY 1, 2 ORDER BY 3 DESC LIMIT ${MEMBERS_MAX}`,
        ...search.parameters,
      );
      const found = rows.map((row) => ({
        key: String(row["key"]),
        text: String(row["value"]),
        count: Number(row["n"]),
      }));
      return { found, next: null };
    },
  };
}

/** @param now a placeholder */
function bucketSql(now: string): string {
  const whens = (["overdue", "hour", "day", "week"] as const).map(
    (bucket) => `WHEN i.expires_at <= ${now} + ${BUCKETS[bucket].to} THEN '${bucket}'`,
  );
  return `CASE WHEN i.expires_at IS NULL THEN 'none' ${whens.join(" ")} ELSE 'later' END`;
}

function toTally(row: Row): InboxTally {
  const { claimed_by: by } = row;
  return {
    graphId: String(row["graph_id"]),
    assistantId: String(row["assistant_id"]),
    node: String(row["node"]),
    kind: row["kind"] as InterruptKind,
    claimedBy: typeof by === "string" ? by : null,
    snoozed: row["snoozed"] === true,
    deadline: row["deadline"] as DeadlineBucket,
    count: Number(row["n"]),
  };
}

/** The claim has not expired. */
const CLAIM_HOLDS = "i.claimed_by IS NOT NULL AND (i.claimed_until IS NULL OR i.claimed_until > ?)";

function buildConditions(query: InboxQuery): Conditions {
  const search = createConditions();
  search.add("i.state = 'open' AND t.status = 'interrupted'");
  const equals = (column: string, value: string | null): void => {
    if (value !== null) search.add(`${column} = ?`, value);
  };
  equals("i.thread_id", query.threadId);
  equals("i.graph_id", query.graphId);
  equals("i.assistant_id", query.assistantId);
  equals("i.node", query.node);
  equals("i.kind", query.kind);
  equals("i.claimed_by", query.claimedBy);
  if (query.claimedBy !== null) search.add(CLAIM_HOLDS, query.now);
  if (query.unclaimed) search.add(`NOT (${CLAIM_HOLDS})`, query.now);
  if (query.assignedTo !== null) {
    const names = JSON.stringify(query.assignedTo);
    search.add(
      `(EXISTS (SELECT 1 FROM jsonb_array_elements(i.review::jsonb -> 'assignees') AS list,
           jsonb_array_elements_text(list) AS given (who)
         WHERE given.who IN (SELECT jsonb_array_elements_text(?::text::jsonb)))
        OR (${CLAIM_HOLDS} AND i.claimed_by IN (SELECT jsonb_array_elements_text(?::text::jsonb))))`,
      names,
      query.now,
      names,
    );
  }
  if (query.unassigned) {
    search.add(
      `NOT (${CLAIM_HOLDS}) AND coalesce(jsonb_array_length(i.review::jsonb -> 'assignees'), 0) = 0`,
      query.now,
    );
  }
  if (query.snoozed !== null) {
    search.add(`coalesce(i.snoozed_until, 0) ${query.snoozed ? ">" : "<="} ?`, query.now);
  }
  if (query.deadline === "none") search.add("i.expires_at IS NULL");
  else if (query.deadline !== null) {
    const { from, to } = BUCKETS[query.deadline];
    if (from !== null) search.add("i.expires_at > ?", query.now + from);
    if (to !== null) search.add("i.expires_at <= ?", query.now + to);
  }
  if (query.search.length > 0) search.add(isMatch("i.thread_id", "i.interrupt_id", "?"), searchText(query.search));
  if (query.createdBefore !== null) search.add("i.created_at < ?", query.createdBefore);
  const { indexed, oneOf, rest } = metadataConditions(query.scope, query.metadata);
  for (const { key, text } of indexed) {
    search.add(
      `EXISTS (SELECT 1 FROM holdpoint.inbox_metadata AS m
         WHERE m.thread_id = i.thread_id AND m.interrupt_id = i.interrupt_id AND m.key = ? AND m.value = ?)`,
      key,
      text,
    );
  }
  for (const { key, texts } of oneOf) {
    search.add(
      `EXISTS (SELECT 1 FROM holdpoint.inbox_metadata AS m
         WHERE m.thread_id = i.thread_id AND m.interrupt_id = i.interrupt_id AND m.key = ? AND m.value = ANY(?::text[]))`,
      key,
      texts,
    );
  }
  for (const part of rest) search.add("t.metadata::jsonb @> ?::jsonb", toJsonText(part));
  if (query.after !== null) addPlace(search, query.after, query);
  return search;
}

function addPlace(search: Conditions, after: InboxPlace, { descending, order }: InboxQuery): void {
  const { createdAt, threadId, interruptId, expiresAt, priority } = after;
  const beyond = `(i.created_at, i.thread_id, i.interrupt_id) ${descending ? "<" : ">"} (?, ?, ?)`;
  const place = [createdAt, threadId, interruptId];
  if (order === "age") search.add(beyond, ...place);
  else if (order === "priority") {
    search.add("(i.priority, i.created_at, i.thread_id, i.interrupt_id) > (?, ?, ?, ?)", priority, ...place);
  } else if (expiresAt === null) search.add(`i.expires_at IS NULL AND ${beyond}`, ...place);
  else {
    search.add(
      `(i.expires_at IS NULL OR (i.expires_at, i.created_at, i.thread_id, i.interrupt_id) > (?, ?, ?, ?))`,
      expiresAt,
      ...place,
    );
  }
}
