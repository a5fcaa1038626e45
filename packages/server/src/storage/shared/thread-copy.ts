// Thread copy: the rows of a thread that its copy gets, in every database.

/** Rows of a thread that a copy of it has: their columns beside thread_id. The audit trail is not copied: a copy starts its own. */
export const COPIED_COLUMNS = [
  ["checkpoints", "ns, checkpoint_id, parent_id, run_id, fingerprint, body, small, metadata"],
  ["heads", "ns, checkpoint_id"],
  ["writes", "ns, checkpoint_id, run_id, task_id, task_path, entries"],
  ["blobs", "hash, data"],
  [
    "interrupts",
    "interrupt_id, library_id, task_id, graph_ns, checkpoint_id, root_checkpoint_id, idx, ns, position, value, response_schema, state, created_at, run_id, answer, graph_id, assistant_id, node, kind, expires_at, on_expiry, review, escalates_at",
  ],
] as const;
