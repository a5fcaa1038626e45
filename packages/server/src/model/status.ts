// State machines of threads and runs: the complete transition tables of packages/server/ARCHITECTURE.md as code.
// Invariants:
//   status.1. No other code decides a status. A null is a forbidden transition.
import type { EndedBy, RunStatus, ThreadStatus } from "./model.ts";

export type ThreadEvent =
  /** A run claims the thread at acceptance. */
  | "take"
  /** The run paused, or its pending interrupts remain open. */
  | "pause"
  /** The run ended and the thread has no pending work. */
  | "rest"
  /** The run failed, or a deadline expired. */
  | "fail";

export const THREAD_TRANSITIONS = {
  idle: { take: "busy", pause: "interrupted", rest: "idle", fail: null },
  busy: { take: null, pause: "interrupted", rest: "idle", fail: "error" },
  interrupted: { take: "busy", pause: "interrupted", rest: "idle", fail: "error" },
  error: { take: "busy", pause: "interrupted", rest: "idle", fail: null },
} as const satisfies Record<ThreadStatus, Record<ThreadEvent, ThreadStatus | null>>;

export type RunEvent = "claim" | "requeue" | EndedBy;

export const RUN_TRANSITIONS = {
  pending: {
    claim: "running",
    requeue: "pending",
    cancel: "interrupted",
    rollback: "error",
    failure: "error",
    done: null,
    pause: null,
    timeout: null,
  },
  running: {
    claim: null,
    requeue: "pending",
    cancel: "interrupted",
    rollback: "error",
    failure: "error",
    done: "success",
    pause: "interrupted",
    timeout: "timeout",
  },
  success: ended(),
  error: ended(),
  timeout: ended(),
  interrupted: ended(),
} as const satisfies Record<RunStatus, Record<RunEvent, RunStatus | null>>;

function ended(): Record<RunEvent, null> {
  return {
    claim: null,
    requeue: null,
    cancel: null,
    rollback: null,
    failure: null,
    done: null,
    pause: null,
    timeout: null,
  };
}

/** @throws {Error} on a forbidden transition, which is a bug. */
export function nextRunStatus(from: RunStatus, event: RunEvent): RunStatus {
  const next = RUN_TRANSITIONS[from][event];
  if (next === null) throw new Error(`a ${from} run cannot ${event}`);
  return next;
}

/** @throws {Error} on a forbidden transition, which is a bug. */
export function nextThreadStatus(from: ThreadStatus, event: ThreadEvent): ThreadStatus {
  const next = THREAD_TRANSITIONS[from][event];
  if (next === null) throw new Error(`a thread that is ${from} cannot ${event}`);
  return next;
}

export function isActive(status: RunStatus): boolean {
  return status === "pending" || status === "running";
}
