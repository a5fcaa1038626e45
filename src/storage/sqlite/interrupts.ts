// Interrupts and the audit trail in SQLite.
// Invariant IN1: audit rows are only ever added; they go when their thread goes.
import type { AuditEntry, Interrupt } from "../../agent/model.ts";
import type { Tx } from "../../agent/ports.ts";
import type { Database } from "./database.ts";
import { table } from "./rows.ts";

const INTERRUPTS = table<Interrupt>("interrupts", {
  threadId: ["thread_id", "plain"],
  interruptId: ["interrupt_id", "plain"],
  libraryId: ["library_id", "plain"],
  taskId: ["task_id", "plain"],
  graphNs: ["graph_ns", "plain"],
  checkpointId: ["checkpoint_id", "plain"],
  rootCheckpointId: ["root_checkpoint_id", "plain"],
  index: ["idx", "plain"],
  ns: ["ns", "json"],
  position: ["position", "plain"],
  value: ["value", "json"],
  responseSchema: ["response_schema", "json"],
  state: ["state", "plain"],
  createdAt: ["created_at", "plain"],
  runId: ["run_id", "plain"],
  answer: ["answer", "json"],
});

const AUDIT = table<AuditEntry & { readonly seq: number }>("audit", {
  threadId: ["thread_id", "plain"],
  seq: ["seq", "plain"],
  at: ["at", "plain"],
  action: ["action", "plain"],
  by: ["by", "plain"],
  interruptId: ["interrupt_id", "plain"],
  runId: ["run_id", "plain"],
  value: ["value", "json"],
});

export function interruptVerbs(
  db: Database,
): Pick<Tx, "interrupts" | "putInterrupts" | "countOpenInterrupts" | "audit" | "auditOf"> {
  return {
    interrupts(threadId, state) {
      const rows = db.all(
        `SELECT ${INTERRUPTS.columns} FROM interrupts WHERE thread_id = ? AND (? IS NULL OR state = ?)
         ORDER BY created_at, position, interrupt_id`,
        threadId,
        state,
        state,
      );
      return rows.map(readInterrupt);
    },
    putInterrupts: (interrupts) => INTERRUPTS.insert(db, interrupts.map(writeInterrupt), "INSERT OR REPLACE"),
    countOpenInterrupts: () => Number(db.get("SELECT count(*) AS n FROM interrupts WHERE state = 'open'")?.["n"]),
    audit(entries) {
      const first = entries[0];
      if (first === undefined) return;
      const last = db.get("SELECT max(seq) AS seq FROM audit WHERE thread_id = ?", first.threadId)?.["seq"];
      let seq = typeof last === "number" ? last : 0;
      AUDIT.insert(
        db,
        entries.map((entry) => ({ ...entry, value: wrap(entry.value), seq: ++seq })),
      );
    },
    auditOf: (threadId) =>
      db.all(`SELECT ${AUDIT.columns} FROM audit WHERE thread_id = ? ORDER BY seq`, threadId).map((row) => {
        const { seq: _seq, ...entry } = AUDIT.read(row);
        return { ...entry, value: unwrap(entry.value) };
      }),
  };
}

/** JSON null and SQL NULL differ: values are kept in a list of one. */
const wrap = (value: Interrupt["value"]): Interrupt["value"] => [value];
const unwrap = (value: Interrupt["value"]): Interrupt["value"] =>
  Array.isArray(value) ? ((value as readonly Interrupt["value"][])[0] ?? null) : null;

const writeInterrupt = (interrupt: Interrupt): Interrupt => ({ ...interrupt, value: wrap(interrupt.value) });
const readInterrupt = (row: Parameters<typeof INTERRUPTS.read>[0]): Interrupt => {
  const interrupt = INTERRUPTS.read(row);
  return { ...interrupt, value: unwrap(interrupt.value) };
};
