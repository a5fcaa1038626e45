// Inbox plan: the index for a page of the inbox. Every filter has an index in inbox order, so a page reads as many rows
// as it has, however many items are open.
// Invariants:
//   inbox-plan.1. Only open interrupts of paused threads are in the list, so every listed item accepts an answer.
//   inbox-plan.2. The order is total: creation time, thread, id. A page begins strictly after the end of the previous
//        one.
import type { SQLInputValue } from "node:sqlite";
import type { InboxQuery } from "../../../agent/ports/ports.ts";
import { metadataConditions } from "../../shared/metadata-filter.ts";
import type { Database } from "../client/database.ts";
import { fewest, type Candidate } from "./metadata-index.ts";

export interface InboxPlan {
  readonly from: string;
  readonly where: string;
  readonly parameters: readonly SQLInputValue[];
  /** The columns of the order, in the index to read. */
  readonly place: readonly [string, string, string];
}

interface Condition {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/** Null reads a metadata row; otherwise the index of interrupts, or an empty text for the table itself. */
interface Driver extends Condition {
  readonly index: string | null;
}

const PLACE_I = ["i.created_at", "i.thread_id", "i.interrupt_id"] as const;
const PLACE_M = ["m.created_at", "m.thread_id", "m.interrupt_id"] as const;

export function planInbox(db: Database, query: InboxQuery): InboxPlan {
  const drivers: Candidate<Driver>[] = [];
  const others: Condition[] = [];
  const column = (index: string, name: string, value: string | null, also = ""): void => {
    if (value === null) return;
    const what = { index, sql: `${name} = ?${also}`, parameters: [value] };
    drivers.push({ what, probe: [`SELECT 1 FROM interrupts AS i WHERE ${what.sql} AND i.state = 'open'`, value] });
  };
  column("interrupts_open_graph", "i.graph_id", query.graphId);
  column("interrupts_open_assistant", "i.assistant_id", query.assistantId);
  column("interrupts_open_node", "i.node", query.node);
  column("interrupts_open_kind", "i.kind", query.kind);
  column("interrupts_open_claim", "i.claim ->> '$.by'", query.claimedBy, " AND i.claim IS NOT NULL");
  const { indexed, oneOf, rest } = metadataConditions(query.scope, query.metadata);
  for (const { key, text } of indexed) {
    const what = { index: null, sql: "m.key = ? AND m.value = ?", parameters: [key, text] };
    drivers.push({ what, probe: ["SELECT 1 FROM inbox_metadata AS m WHERE m.key = ? AND m.value = ?", key, text] });
  }
  for (const { key, texts } of oneOf) others.push({ sql: HAS_ONE_OF, parameters: [key, JSON.stringify(texts)] });
  for (const part of rest) others.push({ sql: "json_contains(t.metadata, ?)", parameters: [part] });

  // The items of one thread are few and adjacent in the table.
  const ofThread: Driver = { index: "", sql: "i.thread_id = ?", parameters: [query.threadId] };
  const driver = query.threadId !== null ? ofThread : drivers.length === 0 ? null : fewest(db, drivers);
  for (const { what } of drivers) {
    if (what === driver) continue;
    others.push(what.index === null ? { ...what, sql: HAS_METADATA } : what);
  }
  const byMetadata = driver !== null && driver.index === null;
  const place = byMetadata ? PLACE_M : PLACE_I;
  if (query.claimedBy !== null) others.push({ sql: CLAIM_HOLDS, parameters: [query.now] });
  if (query.unclaimed) others.push({ sql: `NOT (i.claim IS NOT NULL AND ${CLAIM_HOLDS})`, parameters: [query.now] });
  if (query.snoozed !== null) {
    others.push({ sql: `coalesce(i.snoozed_until, 0) ${query.snoozed ? ">" : "<="} ?`, parameters: [query.now] });
  }
  if (query.createdBefore !== null) others.push({ sql: `${place[0]} < ?`, parameters: [query.createdBefore] });
  if (query.after !== null) {
    const { createdAt, threadId, interruptId } = query.after;
    const beyond = `(${place.join(", ")}) ${query.descending ? "<" : ">"} (?, ?, ?)`; // inbox-plan.2
    others.push({ sql: beyond, parameters: [createdAt, threadId, interruptId] });
  }
  const conditions = [
    ...(driver === null ? [] : [driver]),
    { sql: "i.state = 'open' AND t.status = 'interrupted'", parameters: [] }, // inbox-plan.1
    ...others,
  ];
  const items = byMetadata
    ? `inbox_metadata AS m INDEXED BY inbox_metadata_values
       CROSS JOIN interrupts AS i ON i.thread_id = m.thread_id AND i.interrupt_id = m.interrupt_id`
    : driver?.index === ""
      ? "interrupts AS i"
      : `interrupts AS i INDEXED BY ${driver?.index ?? "interrupts_open"}`;
  return {
    from: `${items} CROSS JOIN threads AS t ON t.thread_id = i.thread_id`,
    where: conditions.map(({ sql }) => sql).join(" AND "),
    parameters: conditions.flatMap(({ parameters }) => parameters),
    place,
  };
}

const HAS_ONE_OF = `EXISTS (SELECT 1 FROM inbox_metadata AS o
  WHERE o.thread_id = i.thread_id AND o.interrupt_id = i.interrupt_id AND o.key = ?
  AND o.value IN (SELECT value FROM json_each(?)))`;
const HAS_METADATA = `EXISTS (SELECT 1 FROM inbox_metadata AS o
  WHERE o.thread_id = i.thread_id AND o.interrupt_id = i.interrupt_id AND o.key = ? AND o.value = ?)`;

/** The claim has not expired. */
const CLAIM_HOLDS = "coalesce(i.claim ->> '$.until', 9e15) > ?";
