// Task state: the newest run of an A2A task and its open items → the state of the task, as in packages/gateways/ARCHITECTURE.md. Pure.
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";

/** In the terms of version 0.3 of the protocol. */
export type TaskStateName =
  | "submitted"
  | "working"
  | "input-required"
  | "auth-required"
  | "completed"
  | "canceled"
  | "failed";

export interface TaskRun {
  readonly status: string;
  readonly endedBy: string | null;
  /** The task has no earlier run. */
  readonly isFirst: boolean;
}

/** @param open payloads of the open items of the task */
export function taskStateName({ status, endedBy, isFirst }: TaskRun, open: readonly Json[]): TaskStateName {
  if (status === "pending") return isFirst ? "submitted" : "working";
  if (status === "running") return "working";
  if (status === "success") return "completed";
  if (open.some(asksForAuth)) return "auth-required";
  if (open.length > 0) return "input-required";
  return status === "interrupted" || endedBy === "rollback" ? "canceled" : "failed";
}

/** The graph needs credentials: `auth_required` in the payload of its interrupt, `true` or the needed credentials. */
function asksForAuth(value: Json): boolean {
  return isJsonObject(value) && (value["auth_required"] ?? false) !== false;
}
