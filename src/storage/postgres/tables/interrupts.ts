// Interrupts in PostgreSQL.
// Invariants:
//   postgres/interrupts.1. Only open interrupts of paused threads are in the inbox, so every listed item accepts an
//        answer.
//   postgres/interrupts.2. The inbox order is total: creation time, thread, id. A page begins strictly after the end of
//        the previous one. Every filter has an index in that order.
import type { Assignment, Interrupt, ThreadStatus } from "../../../agent/model/model.ts";
import type { AuditTx, InboxQuery, InterruptTx } from "../../../agent/ports/ports.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import { fittingRows } from "../../shared/fitting-rows.ts";
import { metadataConditions } from "../../shared/metadata-filter.ts";
import { INTERRUPT_COLUMNS } from "../../shared/columns.ts";
import { createConditions, type Conditions } from "./conditions.ts";
import type { Parameter, Row } from "../client/pool.ts";
import { threadKey } from "../client/lock-key.ts";
import { indexItems } from "./metadata-index.ts";
import { table } from "./rows.ts";
import type { Sql } from "../client/transaction.ts";
import { fromJsonText, toJsonText } from "../client/text-encoding.ts";

interface InterruptRow extends Interrupt {
  /** The claim a second time, for the inbox's filter. */
  readonly claimedBy: string | null;
  readonly claimedUntil: number | null;
}

const INTERRUPTS = table<InterruptRow>("interrupts", {
  ...INTERRUPT_COLUMNS,
  value: ["value", "value"],
  claimedBy: ["claimed_by", "plain"],
  claimedUntil: ["claimed_until", "plain"],
});
const REPLACING = INTERRUPTS.replacing("thread_id", "interrupt_id");

export function interruptVerbs(db: Sql): Omit<InterruptTx, keyof AuditTx> {
  return { ...threadVerbs(db), ...inboxVerbs(db) };
}

function threadVerbs(
  db: Sql,
): Pick<InterruptTx, "interrupts" | "interrupt" | "openBreakpoint" | "putInterrupts" | "countOpenInterrupts"> {
  const one = async (where: string, ...parameters: Parameter[]): Promise<Interrupt | null> => {
    const row = await db.get(`SELECT ${INTERRUPTS.columns} FROM holdpoint.interrupts WHERE ${where}`, ...parameters);
    return row === null ? null : readInterrupt(row);
  };
  return {
    async interrupts(threadId, state) {
      db.hold(threadKey(threadId));
      const rows = await db.all(
        `SELECT ${INTERRUPTS.columns} FROM holdpoint.interrupts
         WHERE thread_id = $1 AND ($2::text IS NULL OR state = $2) AND kind <> 'breakpoint'
         ORDER BY created_at, position, interrupt_id`,
        threadId,
        state,
      );
      return rows.map(readInterrupt);
    },
    interrupt(threadId, interruptId) {
      db.hold(threadKey(threadId));
      return one("thread_id = $1 AND interrupt_id = $2", threadId, interruptId);
    },
    openBreakpoint(threadId) {
      db.hold(threadKey(threadId));
      return one("thread_id = $1 AND kind = 'breakpoint' AND state = 'open'", threadId);
    },
    putInterrupts(interrupts) {
      for (const { threadId } of interrupts) db.hold(threadKey(threadId));
      INTERRUPTS.insert(db, interrupts.map(writeInterrupt), REPLACING);
      indexItems(db, interrupts);
    },
    async countOpenInterrupts() {
      const sql = "SELECT count(*) AS n FROM holdpoint.interrupts WHERE state = 'open' AND kind <> 'breakpoint'";
      return Number((await db.get(sql))?.["n"]);
    },
  };
}

type DueVerbs = "dueInterrupts" | "nextDeadline" | "dueEscalations" | "nextEscalation";

const BYTES = "octet_length(i.value) + octet_length(t.metadata)";

function inboxVerbs(db: Sql): Pick<InterruptTx, "inbox" | "countInbox" | DueVerbs> {
  return {
    async inbox(query) {
      const search = conditionsOf(query);
      const direction = query.descending ? "DESC" : "ASC";
      const where = search.where();
      const limitMark = search.mark(0);
      const page = (columns: string, limit: number): Promise<readonly Row[]> =>
        db.all(
          `SELECT ${columns}
           FROM holdpoint.interrupts AS i JOIN holdpoint.threads AS t ON t.thread_id = i.thread_id ${where}
           ORDER BY i.created_at ${direction}, i.thread_id ${direction}, i.interrupt_id ${direction}
           LIMIT ${limitMark}`,
          ...search.parameters.slice(0, -1),
          limit,
        );
      const sizes = await page(`${BYTES} AS bytes`, query.limit + 1); // reads no values
      const limit = fittingRows(sizes.slice(0, query.limit), query.bytesMax);
      const rows = await page(
        `${INTERRUPTS.columnsOf("i")}, ${BYTES} AS bytes, t.metadata AS thread_metadata, t.status AS thread_status`,
        limit,
      );
      const items = rows.map((row) => ({
        interrupt: readInterrupt(row),
        metadata: JSON.parse(fromJsonText(String(row["thread_metadata"]))) as JsonObject,
        status: row["thread_status"] as ThreadStatus,
        bytes: Number(row["bytes"]),
      }));
      return { rows: items, more: sizes.length > limit };
    },
    async countInbox(query) {
      const search = conditionsOf({ ...query, after: null });
      const row = await db.get(
        `SELECT count(*) AS n FROM holdpoint.interrupts AS i JOIN holdpoint.threads AS t ON t.thread_id = i.thread_id
         ${search.where()}`,
        ...search.parameters,
      );
      return Number(row?.["n"]);
    },
    async dueInterrupts(at, limit) {
      const rows = await db.all(
        `SELECT ${INTERRUPTS.columnsOf("i")} ${DUE} AND i.expires_at <= $1 ORDER BY i.expires_at LIMIT $2`,
        at,
        limit,
      );
      return rows.map(readInterrupt);
    },
    async nextDeadline() {
      const row = await db.get(`SELECT i.expires_at ${DUE} ORDER BY i.expires_at LIMIT 1`);
      return row === null ? null : Number(row["expires_at"]);
    },
    async dueEscalations(at, limit) {
      const rows = await db.all(
        `SELECT ${INTERRUPTS.columnsOf("i")} ${ESCALATING} AND i.escalates_at <= $1 ORDER BY i.escalates_at LIMIT $2`,
        at,
        limit,
      );
      return rows.map(readInterrupt);
    },
    async nextEscalation() {
      const row = await db.get(`SELECT i.escalates_at ${ESCALATING} ORDER BY i.escalates_at LIMIT 1`);
      return row === null ? null : Number(row["escalates_at"]);
    },
  };
}

const ESCALATING = `FROM holdpoint.interrupts AS i JOIN holdpoint.threads AS t ON t.thread_id = i.thread_id
  WHERE i.state = 'open' AND i.escalates_at IS NOT NULL AND t.status = 'interrupted'`;

const DUE = `FROM holdpoint.interrupts AS i JOIN holdpoint.threads AS t ON t.thread_id = i.thread_id
  WHERE i.state = 'open' AND i.on_expiry IS NOT NULL AND t.status = 'interrupted'`;

/** The claim has not expired. */
const CLAIM_HOLDS = "i.claimed_by IS NOT NULL AND (i.claimed_until IS NULL OR i.claimed_until > ?)";

function conditionsOf(query: InboxQuery): Conditions {
  const search = createConditions();
  search.add("i.state = 'open' AND t.status = 'interrupted'"); // postgres/interrupts.1
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
  if (query.snoozed !== null) {
    search.add(`coalesce(i.snoozed_until, 0) ${query.snoozed ? ">" : "<="} ?`, query.now);
  }
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
  if (query.after !== null) {
    const { createdAt, threadId, interruptId } = query.after;
    const beyond = query.descending ? "<" : ">";
    // postgres/interrupts.2
    search.add(`(i.created_at, i.thread_id, i.interrupt_id) ${beyond} (?, ?, ?)`, createdAt, threadId, interruptId);
  }
  return search;
}

function writeInterrupt(interrupt: Interrupt): InterruptRow {
  const claim: Assignment | null = interrupt.claim;
  return { ...interrupt, claimedBy: claim?.by ?? null, claimedUntil: claim?.until ?? null };
}

function readInterrupt(row: Row): Interrupt {
  const { claimedBy: _by, claimedUntil: _until, ...interrupt } = INTERRUPTS.read(row);
  return interrupt;
}
