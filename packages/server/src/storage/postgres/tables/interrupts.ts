// Interrupts in PostgreSQL.
import type { Assignment, Interrupt } from "../../../model/model.ts";
import type { AuditTx, InterruptTx, SearchTx } from "../../../ports/ports.ts";
import { INTERRUPT_COLUMNS } from "../../shared/columns.ts";
import { readOpening } from "../../shared/sealing.ts";
import type { Parameter, Row } from "../client/pool.ts";
import { threadKey } from "../client/lock-key.ts";
import { inboxVerbs } from "./inbox.ts";
import { indexItems } from "./metadata-index.ts";
import { table } from "./shared/rows.ts";
import { searchVerbs } from "./search.ts";
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
  const list = async (where: string, ...parameters: Parameter[]): Promise<readonly Interrupt[]> => {
    const sql = `SELECT ${INTERRUPTS.columns} FROM holdpoint.interrupts WHERE ${where}
      ORDER BY created_at, position, interrupt_id`;
    return (await db.all(sql, ...parameters)).map((row) => readInterrupt(db, row));
  };
  return {
    interrupts(threadId, state) {
      db.hold(threadKey(threadId));
      return list("thread_id = $1 AND ($2::text IS NULL OR state = $2) AND kind <> 'breakpoint'", threadId, state);
    },
    interrupt(threadId, interruptId) {
      db.hold(threadKey(threadId));
      return one("thread_id = $1 AND interrupt_id = $2", threadId, interruptId);
    },
    openBreakpoint(threadId) {
      db.hold(threadKey(threadId));
      return one("thread_id = $1 AND kind = 'breakpoint' AND state = 'open'", threadId);
    },
    breakpoints(threadId) {
      db.hold(threadKey(threadId));
      return list("thread_id = $1 AND kind = 'breakpoint'", threadId);
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
  const listDue = async ([column, where]: Due, at: number, limit: number): Promise<readonly Interrupt[]> => {
    const sql = `SELECT ${INTERRUPTS.chooseColumns("i")} ${where} AND i.${column} <= $1 ORDER BY i.${column} LIMIT $2`;
    return readOpening(await db.all(sql, at, limit), (row) => readInterrupt(db, row));
  };
  const findNext = async ([column, where]: Due): Promise<number | null> => {
    const row = await db.get(`SELECT i.${column} AS at ${where} ORDER BY i.${column} LIMIT 1`);
    return row === null ? null : Number(row["at"]);
  };
  return {
    dueInterrupts: (at, limit) => listDue(EXPIRING, at, limit),
    nextDeadline: () => findNext(EXPIRING),
    dueEscalations: (at, limit) => listDue(ESCALATING, at, limit),
    nextEscalation: () => findNext(ESCALATING),
  };
}

type Due = readonly [column: "expires_at" | "escalates_at", where: string];

const PAUSED = `FROM holdpoint.interrupts AS i JOIN holdpoint.threads AS t ON t.thread_id = i.thread_id
  WHERE i.state = 'open' AND t.status = 'interrupted'`;
const EXPIRING: Due = ["expires_at", `${PAUSED} AND i.on_expiry IS NOT NULL`];
const ESCALATING: Due = ["escalates_at", `${PAUSED} AND i.escalates_at IS NOT NULL`];

function writeInterrupt(interrupt: Interrupt): InterruptRow {
  const claim: Assignment | null = interrupt.claim;
  return { ...interrupt, claimedBy: claim?.by ?? null, claimedUntil: claim?.until ?? null };
}

function readInterrupt(db: Sql, row: Row): Interrupt {
  const { claimedBy: _by, claimedUntil: _until, ...interrupt } = INTERRUPTS.read(db, row);
  return interrupt;
}
