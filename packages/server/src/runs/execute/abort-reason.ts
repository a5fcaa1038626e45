/** Reason of an aborted run signal. */
export type AbortReason =
  | "cancel"
  | "rollback"
  | "timeout"
  | "shutdown"
  | "deleted"
  | "taken_over"
  | "write_failed"
  | "behind_review"
  /** The memory does not take its state now (memory-turns.2). */
  | "no_room";
