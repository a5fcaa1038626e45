// Interrupts in SQLite.
// Invariant:
//   - The kept list of a thread has all its interrupts, in the order of the index. A thread with more than KEPT_MAX has
//     none.
import type { Interrupt, ThreadStatus } from "../../../model/model.ts";
import type { AuditTx, InboxQuery, InboxRow, InboxRows, InterruptTx, SearchTx } from "../../../ports/ports.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { INTERRUPT_COLUMNS } from "../../shared/columns.ts";
import { readOpening } from "../../shared/sealing.ts";
import type { Database, Row } from "../client/database.ts";
import { fittingRows } from "../../shared/fitting-rows.ts";
import { textIn, type KeptRow } from "../client/kept-rows.ts";
import { countVerbs } from "./inbox/inbox-counts.ts";
import { planInbox, type InboxPlan, type PlannedPart } from "./inbox/inbox-plan.ts";
import { indexItem } from "./shared/metadata-index.ts";
import { table } from "./shared/rows.ts";
import { searchVerbs } from "./search/search.ts";

const INTERRUPTS = table<Interrupt>("interrupts", INTERRUPT_COLUMNS);

export function interruptVerbs(db: Database): Omit<InterruptTx, keyof AuditTx> & SearchTx {
  const search = searchVerbs(db, { columns: COLUMNS, readInterrupt: (row) => INTERRUPTS.read(db, row) });
  return { ...threadVerbs(db), ...inboxVerbs(db), ...countVerbs(db), ...search };
}

function threadVerbs(
  db: Database,
): Pick<
  InterruptTx,
  "interrupts" | "interrupt" | "openBreakpoint" | "breakpoints" | "putInterrupts" | "countOpenInterrupts"
> {
  const select = (also: string, ...parameters: string[]): readonly KeptRow[] => selectRows(db, also, ...parameters);
  return {
    interrupts(threadId, state) {
      const kept = db.kept.interrupts.get(threadId);
      const rows = kept ?? (state === null ? readAll(db, threadId) : select("AND state = ?", threadId, state));
      return rows
        .filter((row) => row["kind"] !== "breakpoint" && (state === null || row["state"] === state))
        .map((row) => INTERRUPTS.read(db, row));
    },
    interrupt(threadId, interruptId) {
      const sql = `SELECT ${INTERRUPTS.columns} FROM interrupts WHERE thread_id = ? AND interrupt_id = ?`;
      const row = db.get(sql, threadId, interruptId);
      return row === null ? null : INTERRUPTS.read(db, row);
    },
    openBreakpoint(threadId) {
      const open = "AND kind = 'breakpoint' AND state = 'open'";
      const rows = db.kept.interrupts.get(threadId) ?? select(open, threadId);
      const row = rows.find(({ kind, state }) => kind === "breakpoint" && state === "open");
      return row === undefined ? null : INTERRUPTS.read(db, row);
    },
    breakpoints(threadId) {
      const rows = db.kept.interrupts.get(threadId) ?? select("AND kind = 'breakpoint'", threadId);
      return rows.filter(({ kind }) => kind === "breakpoint").map((row) => INTERRUPTS.read(db, row));
    },
    putInterrupts(interrupts) {
      const rows = INTERRUPTS.insert(db, interrupts, "INSERT OR REPLACE");
      for (const row of rows) keep(db, row);
      for (const interrupt of interrupts) indexItem(db, interrupt, interrupt.state === "open");
    },
    countOpenInterrupts: () =>
      Number(db.get("SELECT count(*) AS n FROM interrupts WHERE state = 'open' AND kind <> 'breakpoint'")?.["n"]),
  };
}

type DueVerbs = "dueInterrupts" | "nextDeadline" | "dueEscalations" | "nextEscalation";

const BYTES = "octet_length(i.value) + octet_length(t.metadata)";
const KEPT_MAX = 50;

function readAll(db: Database, threadId: string): readonly KeptRow[] {
  const rows = selectRows(db, "", threadId);
  if (rows.length <= KEPT_MAX) db.kept.interrupts.set(threadId, rows);
  return rows;
}

function selectRows(db: Database, also: string, ...parameters: string[]): readonly KeptRow[] {
  const sql = `SELECT ${INTERRUPTS.columns} FROM interrupts WHERE thread_id = ? ${also}
    ORDER BY created_at, position, interrupt_id`;
  return db.all(sql, ...parameters) as readonly KeptRow[];
}

function keep(db: Database, row: KeptRow): void {
  const threadId = textIn(row, "thread_id");
  const kept = db.kept.interrupts.get(threadId);
  if (kept === undefined) return;
  const others = kept.filter((other) => other["interrupt_id"] !== row["interrupt_id"]);
  const rows = [...others, row].toSorted(inOrder);
  if (rows.length <= KEPT_MAX) db.kept.interrupts.set(threadId, rows);
  else db.kept.interrupts.delete(threadId);
}

function inOrder(left: KeptRow, right: KeptRow): number {
  const byTime = Number(left["created_at"]) - Number(right["created_at"]);
  const byPlace = Number(left["position"]) - Number(right["position"]);
  return byTime || byPlace || (textIn(left, "interrupt_id") < textIn(right, "interrupt_id") ? -1 : 1);
}

function inboxVerbs(db: Database): Pick<InterruptTx, "inbox" | DueVerbs> {
  return {
    inbox(query) {
      const parts: readonly PlannedPart[] =
        query.order !== "deadline"
          ? ["all"]
          : query.after !== null && query.after.expiresAt === null
            ? ["undated"]
            : ["dated", "undated"];
      const rows: InboxRow[] = [];
      for (const part of parts) {
        const left = query.limit - rows.length;
        const bytesLeft = query.bytesMax - rows.reduce((sum, { bytes }) => sum + bytes, 0);
        const page = readPage(db, planInbox(db, query, part), {
          ...query,
          limit: left,
          bytesMax: bytesLeft,
          least: rows.length === 0 ? 1 : 0,
        });
        rows.push(...page.rows);
        if (page.more) return { rows, more: true };
      }
      return { rows, more: false };
    },
    dueInterrupts(at, limit) {
      const rows = db.all(`SELECT ${COLUMNS} ${DUE} AND expires_at <= ? ORDER BY expires_at LIMIT ?`, at, limit);
      return readOpening(rows, (row) => INTERRUPTS.read(db, row));
    },
    nextDeadline() {
      const at = db.get(`SELECT expires_at ${DUE} ORDER BY expires_at LIMIT 1`)?.["expires_at"];
      return typeof at === "number" ? at : null;
    },
    dueEscalations(at, limit) {
      const sql = `SELECT ${COLUMNS} ${ESCALATING} AND escalates_at <= ? ORDER BY escalates_at LIMIT ?`;
      return readOpening(db.all(sql, at, limit), (row) => INTERRUPTS.read(db, row));
    },
    nextEscalation() {
      const at = db.get(`SELECT escalates_at ${ESCALATING} ORDER BY escalates_at LIMIT 1`)?.["escalates_at"];
      return typeof at === "number" ? at : null;
    },
  };
}

/** Reads a page that may be full already: then it only finds out whether more follow. */
function readPage(
  db: Database,
  { from, where, parameters, place }: InboxPlan,
  query: Pick<InboxQuery, "descending" | "limit" | "bytesMax"> & { readonly least: number },
): InboxRows {
  const direction = query.descending ? "DESC" : "ASC";
  const page = (columns: string, limit: number): Row[] =>
    db.all(
      `SELECT ${columns} FROM ${from} WHERE ${where}
       ORDER BY ${place.map((column) => `${column} ${direction}`).join(", ")} LIMIT ?`,
      ...parameters,
      limit,
    );
  const sizes = page(`${BYTES} AS bytes`, query.limit + 1); // reads no values
  const limit = fittingRows(sizes.slice(0, query.limit), query.bytesMax, query.least);
  const rows = page(`${COLUMNS}, ${BYTES} AS bytes, t.metadata AS thread_metadata, t.status AS thread_status`, limit);
  const items = readOpening(rows, (row) => ({
    interrupt: INTERRUPTS.read(db, row),
    metadata: JSON.parse(String(row["thread_metadata"])) as JsonObject,
    status: row["thread_status"] as ThreadStatus,
    bytes: Number(row["bytes"]),
  }));
  return { rows: items, more: sizes.length > limit };
}

const COLUMNS = INTERRUPTS.columns
  .split(", ")
  .map((name) => `i.${name}`)
  .join(", ");

const ESCALATING = `FROM interrupts AS i INDEXED BY interrupts_escalating CROSS JOIN threads AS t
  ON t.thread_id = i.thread_id WHERE i.state = 'open' AND escalates_at IS NOT NULL AND t.status = 'interrupted'`;

const DUE = `FROM interrupts AS i INDEXED BY interrupts_due CROSS JOIN threads AS t ON t.thread_id = i.thread_id
  WHERE i.state = 'open' AND on_expiry IS NOT NULL AND t.status = 'interrupted'`;
