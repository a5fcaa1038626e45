// Task state: the newest run of a task and its open items → the state of the task, as in ARCHITECTURE.md.
import { TaskState } from "@a2a-js/sdk";
import type { InboxItem } from "../../api/inbox.ts";
import { isJsonObject, type Json } from "../../base/json/json.ts";
import type { RunObject } from "../calls/run-object.ts";

export type NewestRun = Pick<RunObject, "status" | "ended_by">;

/** @param isFirst the task has one run only */
export function taskStateOf(
  { status, ended_by: endedBy }: NewestRun,
  isFirst: boolean,
  open: readonly Pick<InboxItem, "value">[],
): TaskState {
  if (status === "pending") return isFirst ? TaskState.TASK_STATE_SUBMITTED : TaskState.TASK_STATE_WORKING;
  if (status === "running") return TaskState.TASK_STATE_WORKING;
  if (status === "success") return TaskState.TASK_STATE_COMPLETED;
  if (open.some(({ value }) => asksForAuth(value as Json))) return TaskState.TASK_STATE_AUTH_REQUIRED;
  if (open.length > 0) return TaskState.TASK_STATE_INPUT_REQUIRED;
  const isCancelled = status === "interrupted" || endedBy === "rollback";
  return isCancelled ? TaskState.TASK_STATE_CANCELED : TaskState.TASK_STATE_FAILED;
}

/** The graph needs credentials: `auth_required` in the payload of its interrupt, `true` or what the client needs. */
export function asksForAuth(value: Json): boolean {
  return isJsonObject(value) && (value["auth_required"] ?? false) !== false;
}

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
