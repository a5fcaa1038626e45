// Rows of a thread: those that go with it, and those that its copy gets, in every database.
import type { Sealing } from "./sealing.ts";

/** They go with the thread. Its audit trail and its documents have their own ways. */
export const TABLES_OF_A_THREAD = `runs run_webhooks interrupts checkpoints heads writes blobs crons thread_metadata
  inbox_metadata events`.split(/\s+/);

/** Rows of a thread that a copy of it has: their columns beside thread_id. The audit trail is not copied: a copy starts its own. */
export const COPIED_COLUMNS = [
  ["checkpoints", "ns, checkpoint_id, parent_id, run_id, fingerprint, body, small, metadata"],
  ["heads", "ns, checkpoint_id"],
  ["writes", "ns, checkpoint_id, run_id, task_id, task_path, entries"],
  ["blobs", "hash, data"],
  [
    "interrupts",
    "interrupt_id, library_id, task_id, graph_ns, checkpoint_id, root_checkpoint_id, idx, ns, position, value, response_schema, state, priority, created_at, run_id, answer, graph_id, assistant_id, node, kind, expires_at, on_expiry, review, escalates_at",
  ],
] as const;

export interface ThreadCopy {
  readonly table: string;
  readonly from: string;
  readonly to: string;
  /** Beside thread_id. */
  readonly columns: string;
}

/** The insertion of a copied row whose values are sealed: each is opened and sealed for the row of the copy. */
export function resealed(
  sealing: Sealing,
  { table, to, columns }: ThreadCopy,
): {
  /** Columns and marks. @param mark `?`, or `$`, which gets numbers */
  readonly insert: (mark: "?" | "$") => string;
  /** @param row with thread_id and the columns, in this order */
  readonly cells: (row: Readonly<Record<string, unknown>>) => readonly unknown[];
} {
  const names = ["thread_id", ...columns.split(", ")];
  return {
    insert: (mark) =>
      `(${names.join(", ")}) VALUES (${names.map((_, at) => (mark === "?" ? mark : `$${at + 1}`)).join(", ")})`,
    cells(row) {
      const copy = sealing.sealRow(table, { ...sealing.openRow(table, row), thread_id: to });
      return names.map((name) => (copy as typeof row)[name] ?? null);
    },
  };
}
