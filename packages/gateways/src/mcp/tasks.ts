// Tasks, revision 2025-11-25: a call that the client asks for as a task. The task is the run and the runs that continue
// it over its pauses, so it lives as long as its thread, over restarts and in every process.
// Invariants:
//   - A task's status is read from the thread: nothing else is stored about it.
import type { Task } from "@modelcontextprotocol/server";
import { isUuid } from "@holdpoint/base/ids.ts";
import { openItems } from "../calls/follow-thread.ts";
import { getRun, newestRun, type RunPlace } from "../calls/run-object.ts";
import type { OwnApi } from "../calls/own-api.ts";

const POLL_MS = 1000;

export function formatTaskId({ threadId, runId }: RunPlace): string {
  return `${threadId}.${runId}`;
}

/** Null for an id that this server has not given out. */
export function parseTaskPlace(taskId: string): RunPlace | null {
  const [threadId = "", runId = "", ...more] = taskId.split(".");
  return isUuid(threadId) && isUuid(runId) && more.length === 0 ? { threadId, runId } : null;
}

/** @throws {ApiRefusal} `thread_not_found`, `run_not_found` */
export async function taskAt(api: OwnApi, place: RunPlace): Promise<Task> {
  const first = await getRun(api, place.threadId, place.runId);
  const newest = (await newestRun(api, place.threadId)) ?? first;
  const isOpen = (await openItems(api, place.threadId)).length > 0;
  return {
    taskId: formatTaskId(place),
    status: toStatus(newest.status, isOpen),
    ttl: null,
    createdAt: first.created_at,
    lastUpdatedAt: newest.updated_at,
    pollInterval: POLL_MS,
  };
}

export function toStatus(runStatus: string, isOpen: boolean): Task["status"] {
  if (runStatus === "pending" || runStatus === "running") return "working";
  if (isOpen) return "input_required";
  if (runStatus === "interrupted") return "cancelled";
  return runStatus === "success" ? "completed" : "failed";
}
