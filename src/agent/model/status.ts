// Transitions: which status follows which, for threads and runs, complete. The tables of ARCHITECTURE.md as code.
// Invariant status.1: nothing else decides a status; a null is a move that must not happen.
import type { EndedBy, RunStatus, ThreadStatus } from "./model.ts";

export type ThreadEvent =
  /** A run was accepted. */
  | "take"
  /** Its run paused, or what it was answering still waits. */
  | "pause"
  /** Its run ended and nothing is pending. */
  | "rest"
  /** Its run failed, or nobody answered in time. */
  | "fail";

export const THREAD_TRANSITIONS = {
  idle: { take: "busy", pause: "interrupted", rest: "idle", fail: null },
  busy: { take: null, pause: "interrupted", rest: "idle", fail: "error" },
  interrupted: { take: "busy", pause: "interrupted", rest: "idle", fail: "error" },
  error: { take: "busy", pause: "interrupted", rest: "idle", fail: null },
} as const satisfies Record<ThreadStatus, Record<ThreadEvent, ThreadStatus | null>>;

export type RunEvent = "claim" | "hand_back" | EndedBy;

export const RUN_TRANSITIONS = {
  pending: {
    claim: "running",
    hand_back: "pending",
    cancel: "interrupted",
    rollback: "error",
    failure: "error",
    done: null,
    pause: null,
    timeout: null,
  },
  running: {
    claim: null,
    hand_back: "pending",
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
    hand_back: null,
    cancel: null,
    rollback: null,
    failure: null,
    done: null,
    pause: null,
    timeout: null,
  };
}

/** @throws {Error} for a move that the table does not have: a defect of ours. */
export function nextRunStatus(from: RunStatus, event: RunEvent): RunStatus {
  const next = RUN_TRANSITIONS[from][event];
  if (next === null) throw new Error(`a ${from} run cannot ${event}`);
  return next;
}

/** @throws {Error} for a move that the table does not have: a defect of ours. */
export function nextThreadStatus(from: ThreadStatus, event: ThreadEvent): ThreadStatus {
  const next = THREAD_TRANSITIONS[from][event];
  if (next === null) throw new Error(`a thread that is ${from} cannot ${event}`);
  return next;
}

export function isActive(status: RunStatus): boolean {
  return status === "pending" || status === "running";
}
