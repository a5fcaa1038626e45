// Interrupts in PostgreSQL.
import type { Assignment, Interrupt } from "../../../model/model.ts";
import type { AuditTx, InterruptTx, SearchTx } from "../../../ports/ports.ts";
import { INTERRUPT_COLUMNS } from "../../shared/columns.ts";
import { readOpening } from "../../shared/sealing.ts";
import type { Parameter, Row } from "../client/pool.ts";
import { threadKey } from "../client/lock-key.ts";
import { inboxVerbs } from "./inbox/inbox.ts";
import { indexItems } from "./metadata-index.ts";
import { table } from "./shared/rows.ts";
import { searchVerbs } from "./search/search.ts";
import type { Sql } from "../client/transaction.ts";

interface InterruptRow extends Interrupt {
  /** The claim a second time, for the inbox's filter. */
  readonly claimedBy: string | null;
  readonly claimedUntil: number | null;
}

const INTERRUPTS = table<InterruptRow>("interrupts", {
  ...INTERRUPT_COLUMNS,
  claimedBy: ["claimed_by", "plain"],
  claimedUntil: ["claimed_until", "plain"],
});
const REPLACING = INTERRUPTS.replacing("thread_id", "interrupt_id");

export function interruptVerbs(db: Sql): Omit<InterruptTx, keyof AuditTx> & SearchTx {
  const item = { columns: INTERRUPTS.chooseColumns("i"), readInterrupt: (row: Row) => readInterrupt(db, row) };
  return { ...threadVerbs(db), ...dueVerbs(db), ...inboxVerbs(db, item), ...searchVerbs(db, item) };
}

function threadVerbs(
  db: Sql,
): Pick<
  InterruptTx,
  "interrupts" | "interrupt" | "openBreakpoint" | "breakpoints" | "putInterrupts" | "countOpenInterrupts"
> {
  const one = async (where: string, ...parameters: Parameter[]): Promise<Interrupt | null> => {
    const row = await db.get(`SELECT ${INTERRUPTS.columns} FROM holdpoint.interrupts WHERE ${where}`, ...parameters);
    return row === null ? null : readInterrupt(db, row);
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
      return rows.map((row) => readInterrupt(db, row));
    },
    interrupt(threadId, interruptId) {
      db.hold(threadKey(threadId));
      return one("thread_id = $1 AND interrupt_id = $2", threadId, interruptId);
    },
    openBreakpoint(threadId) {
      db.hold(threadKey(threadId));
      return one("thread_id = $1 AND kind = 'breakpoint' AND state = 'open'", threadId);
    },
    async breakpoints(threadId) {
      db.hold(threadKey(threadId));
      const rows = await db.all(
        `SELECT ${INTERRUPTS.columns} FROM holdpoint.interrupts
         WHERE thread_id = $1 AND kind = 'breakpoint' ORDER BY created_at, position, interrupt_id`,
        threadId,
      );
      return rows.map((row) => readInterrupt(db, row));
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

function dueVerbs(db: Sql): Pick<InterruptTx, DueVerbs> {
  return {
    async dueInterrupts(at, limit) {
      const rows = await db.all(
        `SELECT ${INTERRUPTS.chooseColumns("i")} ${DUE} AND i.expires_at <= $1 ORDER BY i.expires_at LIMIT $2`,
        at,
        limit,
      );
      return readOpening(rows, (row) => readInterrupt(db, row));
    },
    async nextDeadline() {
      const row = await db.get(`SELECT i.expires_at ${DUE} ORDER BY i.expires_at LIMIT 1`);
      return row === null ? null : Number(row["expires_at"]);
    },
    async dueEscalations(at, limit) {
      const rows = await db.all(
        `SELECT ${INTERRUPTS.chooseColumns("i")} ${ESCALATING} AND i.escalates_at <= $1 ORDER BY i.escalates_at LIMIT $2`,
        at,
        limit,
      );
      return readOpening(rows, (row) => readInterrupt(db, row));
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

function writeInterrupt(interrupt: Interrupt): InterruptRow {
  const claim: Assignment | null = interrupt.claim;
  return { ...interrupt, claimedBy: claim?.by ?? null, claimedUntil: claim?.until ?? null };
}

function readInterrupt(db: Sql, row: Row): Interrupt {
  const { claimedBy: _by, claimedUntil: _until, ...interrupt } = INTERRUPTS.read(db, row);
  return interrupt;
}
