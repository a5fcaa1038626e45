// Task state: the state of a task in the terms of the SDK.
import { TaskState } from "@a2a-js/sdk";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { taskStateName, type TaskStateName } from "@holdpoint/api/task-state.ts";
import type { RunObject } from "../calls/run-object.ts";

export type NewestRun = Pick<RunObject, "status" | "ended_by">;

/** @param isFirst the task has one run only */
export function toTaskState(
  { status, ended_by: endedBy }: NewestRun,
  isFirst: boolean,
  open: readonly Pick<InboxItem, "value">[],
): TaskState {
  const payloads = open.map(({ value }) => value);
  return STATES[taskStateName({ status, endedBy, isFirst }, payloads)];
}

const STATES: Readonly<Record<TaskStateName, TaskState>> = {
  submitted: TaskState.TASK_STATE_SUBMITTED,
  working: TaskState.TASK_STATE_WORKING,
  "input-required": TaskState.TASK_STATE_INPUT_REQUIRED,
  "auth-required": TaskState.TASK_STATE_AUTH_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  canceled: TaskState.TASK_STATE_CANCELED,
  failed: TaskState.TASK_STATE_FAILED,
};

const RUNNING: ReadonlySet<TaskState> = new Set([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]);
const OPEN: ReadonlySet<TaskState> = new Set([TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED]);

/** A run of the task is in progress or queued. */
export function isRunning(state: TaskState): boolean {
  return RUNNING.has(state);
}

/** The task waits for an answer. */
export function isWaiting(state: TaskState): boolean {
  return OPEN.has(state);
}

export function isOver(state: TaskState): boolean {
  return !isRunning(state) && !isWaiting(state);
}
