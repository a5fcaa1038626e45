/** Reason of an aborted run signal. */
export type AbortReason =
  | "cancel"
  | "rollback"
  | "timeout"
  | "shutdown"
  | "deleted"
  | "taken_over"
  | "write_failed"
  | "behind_review";
