// Inbox plan: the index for a page of the inbox. Every filter has an index in inbox order, so a page reads as many rows
// as it has, however many items are open.
// Invariants:
//   - Only open interrupts of paused threads are in the list, so every listed item accepts an answer.
//   - The order is total: creation time, thread, id. A page begins strictly after the end of the previous one.
//   - The order of priorities has an index without filters; with one, the rows of the filter are sorted.
//   - In the order of deadlines, items with a deadline come first, each kind in its own order.
import type { SQLInputValue } from "node:sqlite";
import type { DeadlineBucket, InboxQuery } from "../../../../ports/ports.ts";
import { BUCKETS } from "../../../shared/deadline-buckets.ts";
import { metadataConditions } from "../../../shared/metadata-filter.ts";
import type { Database } from "../../client/database.ts";
import { fewest, type Candidate } from "../shared/metadata-index.ts";
import { isMatch, buildMatch } from "../search/search-match.ts";

export interface InboxPlan {
  readonly from: string;
  readonly where: string;
  readonly parameters: readonly SQLInputValue[];
  /** The columns of the order, in the index to read. */
  readonly place: readonly string[];
  /** The rows of that index alone, in which a page is looked for: their number bounds its time. */
  readonly scan: Pick<InboxPlan, "from" | "where" | "parameters">;
}

/** All items, or those with and those without a deadline. */
export type PlannedPart = "all" | "dated" | "undated";

interface Condition {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/**
 * Null reads a metadata row; otherwise the index of interrupts, an empty text for the table itself, or SEARCHED for the
 * documents of a search.
 */
interface Driver extends Condition {
  readonly index: string | null;
}

const SEARCHED = "search_words";

const PLACE_I = ["i.created_at", "i.thread_id", "i.interrupt_id"] as const;
const PLACE_M = ["m.created_at", "m.thread_id", "m.interrupt_id"] as const;

export function planInbox(db: Database, query: InboxQuery, part: PlannedPart = "all"): InboxPlan {
  const { drivers, others } = choices(query, part);
  // The items of one thread are few and adjacent in the table.
  const ofThread: Driver = { index: "", sql: "i.thread_id = ?", parameters: [query.threadId] };
  const match = buildMatch(db, query.search, "open");
  const found: Driver | null =
    match?.isFew === true && query.threadId === null
      ? { index: SEARCHED, sql: "w.search_words MATCH ?", parameters: [match.text] }
      : null;
  if (match !== null && found === null) {
    others.push({ sql: isMatch("i.thread_id", "i.interrupt_id"), parameters: [match.text] });
  }
  const fastest = found ?? (drivers.length === 0 ? null : fewest(db, drivers));
  const driver = query.threadId !== null ? ofThread : fastest;
  for (const { what } of drivers) {
    if (what === driver || what.index === DATED) continue;
    others.push(what.index === null ? { ...what, sql: HAS_METADATA } : what);
  }
  if (part !== "all") others.push({ sql: `i.expires_at IS ${part === "dated" ? "NOT " : ""}NULL`, parameters: [] });
  if (query.deadline !== null) others.push(buildBucketCondition(query.deadline, query.now));
  const byMetadata = driver !== null && driver.index === null;
  const created = byMetadata ? PLACE_M : PLACE_I;
  const byPriority = query.order === "priority";
  const place = [...(part === "dated" ? ["i.expires_at"] : byPriority ? ["i.priority"] : []), ...created];
  if (query.createdBefore !== null) others.push({ sql: `${created[0]} < ?`, parameters: [query.createdBefore] });
  const beyond = buildBeyond(query, place, part);
  const driven = [...(driver === null ? [] : [driver]), ...(beyond === null ? [] : [beyond])];
  const items = chooseTables(driver, byPriority);
  const joined = byMetadata
    ? " CROSS JOIN interrupts AS i ON i.thread_id = m.thread_id AND i.interrupt_id = m.interrupt_id"
    : "";
  const isOpen = { sql: "i.state = 'open'", parameters: [] };
  const isPaused = { sql: "t.status = 'interrupted'", parameters: [] };
  return {
    from: `${items}${joined} CROSS JOIN threads AS t ON t.thread_id = i.thread_id`,
    ...joinConditions([...driven, isOpen, isPaused, ...others]),
    place,
    scan: { from: items, ...joinConditions([...driven, ...(byMetadata ? [] : [isOpen])]) },
  };
}

function chooseTables(driver: Driver | null, byPriority: boolean): string {
  if (driver === null) return `interrupts AS i INDEXED BY interrupts_open${byPriority ? "_priority" : ""}`;
  if (driver.index === null) return "inbox_metadata AS m INDEXED BY inbox_metadata_values";
  if (driver.index === "") return "interrupts AS i";
  if (driver.index !== SEARCHED) return `interrupts AS i INDEXED BY ${driver.index}`;
  return `search_words AS w CROSS JOIN search_documents AS d ON d.doc_id = w.rowid
    CROSS JOIN interrupts AS i ON i.thread_id = d.thread_id AND i.interrupt_id = d.interrupt_id`;
}

const DATED = "interrupts_open_dated";

/** Conditions with an index, and the others. */
function choices(
  query: InboxQuery,
  part: PlannedPart,
): { readonly drivers: Candidate<Driver>[]; readonly others: Condition[] } {
  const drivers: Candidate<Driver>[] = [];
  const others: Condition[] = [];
  const column = (index: string, sql: string, ...parameters: readonly SQLInputValue[]): void => {
    const probe = `SELECT 1 FROM interrupts AS i WHERE ${sql} AND i.state = 'open'`;
    drivers.push({ what: { index, sql, parameters }, probe: [probe, ...parameters] });
  };
  if (query.deadline !== null && query.deadline !== "none") {
    const { sql, parameters } = buildBucketCondition(query.deadline, query.now);
    column(DATED, sql, ...parameters);
  } else if (part === "dated") column(DATED, "i.expires_at IS NOT NULL");
  if (query.graphId !== null) column("interrupts_open_graph", "i.graph_id = ?", query.graphId);
  if (query.assistantId !== null) column("interrupts_open_assistant", "i.assistant_id = ?", query.assistantId);
  if (query.node !== null) column("interrupts_open_node", "i.node = ?", query.node);
  if (query.kind !== null) column("interrupts_open_kind", "i.kind = ?", query.kind);
  if (query.claimedBy !== null) {
    column("interrupts_open_claim", "i.claim ->> '$.by' = ? AND i.claim IS NOT NULL", query.claimedBy);
    others.push({ sql: CLAIM_HOLDS, parameters: [query.now] });
  }
  if (query.unclaimed) others.push({ sql: `NOT (i.claim IS NOT NULL AND ${CLAIM_HOLDS})`, parameters: [query.now] });
  if (query.assignedTo !== null) {
    const names = JSON.stringify(query.assignedTo);
    const isReviewer = `EXISTS (SELECT 1 FROM json_tree(i.review, '$.assignees') AS r
      WHERE r.type = 'text' AND r.value IN (SELECT value FROM json_each(?)))`;
    const holds = `i.claim IS NOT NULL AND ${CLAIM_HOLDS} AND i.claim ->> '$.by' IN (SELECT value FROM json_each(?))`;
    others.push({ sql: `(${isReviewer} OR (${holds}))`, parameters: [names, query.now, names] });
  }
  if (query.unassigned) {
    const isFree = `NOT (i.claim IS NOT NULL AND ${CLAIM_HOLDS})`;
    const isOpenToAll = "coalesce(json_array_length(i.review, '$.assignees'), 0) = 0";
    others.push({ sql: `${isFree} AND ${isOpenToAll}`, parameters: [query.now] });
  }
  if (query.snoozed !== null) {
    others.push({ sql: `coalesce(i.snoozed_until, 0) ${query.snoozed ? ">" : "<="} ?`, parameters: [query.now] });
  }
  const { indexed, oneOf, rest } = metadataConditions(query.scope, query.metadata);
  for (const { key, text } of indexed) {
    const what = { index: null, sql: "m.key = ? AND m.value = ?", parameters: [key, text] };
    drivers.push({ what, probe: ["SELECT 1 FROM inbox_metadata AS m WHERE m.key = ? AND m.value = ?", key, text] });
  }
  for (const { key, texts } of oneOf) others.push({ sql: HAS_ONE_OF, parameters: [key, JSON.stringify(texts)] });
  for (const member of rest) others.push({ sql: "json_contains(t.metadata, ?)", parameters: [member] });
  return { drivers, others };
}

function buildBucketCondition(bucket: DeadlineBucket, now: number): Condition {
  if (bucket === "none") return { sql: "i.expires_at IS NULL", parameters: [] };
  const { from, to } = BUCKETS[bucket];
  if (from === null) return { sql: "i.expires_at <= ?", parameters: [now] };
  if (to === null) return { sql: "i.expires_at > ?", parameters: [now + from] };
  return { sql: "i.expires_at > ? AND i.expires_at <= ?", parameters: [now + from, now + to] };
}

/** Null at the start of the part. */
function buildBeyond(
  { after, descending, order }: InboxQuery,
  place: readonly string[],
  part: PlannedPart,
): Condition | null {
  if (after === null || (part === "undated" && after.expiresAt !== null)) return null;
  const { createdAt, threadId, interruptId, expiresAt, priority } = after;
  const first = part === "dated" ? [expiresAt] : order === "priority" ? [priority] : [];
  const marks = place.map(() => "?").join(", ");
  return {
    sql: `(${place.join(", ")}) ${descending ? "<" : ">"} (${marks})`,
    parameters: [...first, createdAt, threadId, interruptId],
  };
}

function joinConditions(conditions: readonly Condition[]): Pick<InboxPlan, "where" | "parameters"> {
  return {
    where: conditions.length === 0 ? "TRUE" : conditions.map(({ sql }) => sql).join(" AND "),
    parameters: conditions.flatMap(({ parameters }) => parameters),
  };
}

const HAS_ONE_OF = `EXISTS (SELECT 1 FROM inbox_metadata AS o
  WHERE o.thread_id = i.thread_id AND o.interrupt_id = i.interrupt_id AND o.key = ?
  AND o.value IN (SELECT value FROM json_each(?)))`;
const HAS_METADATA = `EXISTS (SELECT 1 FROM inbox_metadata AS o
  WHERE o.thread_id = i.thread_id AND o.interrupt_id = i.interrupt_id AND o.key = ? AND o.value = ?)`;

/** The claim has not expired. */
const CLAIM_HOLDS = "coalesce(i.claim ->> '$.until', 9e15) > ?";
