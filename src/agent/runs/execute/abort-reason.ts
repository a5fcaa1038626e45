/** Why a run's signal was aborted. */
export type AbortReason = "cancel" | "rollback" | "timeout" | "shutdown" | "deleted" | "taken_over" | "write_failed";
