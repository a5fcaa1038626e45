// A2A event: the end of a run as an update of its task, for the receivers of push notifications. It has the state
// only: the receiver reads the task.
import { isoTime } from "@holdpoint/base/clock.ts";
import { taskStateName } from "@holdpoint/api/task-state.ts";
import type { Interrupt, Run } from "../model/model.ts";

/** @param open open items of the thread after the end */
export function a2aEvent(run: Run, open: readonly Interrupt[], format: "a2a" | "a2a_0.3"): string {
  const taskId = findFirstRun(run);
  const isFirst = taskId === run.runId;
  const name = taskStateName(
    { status: run.status, endedBy: run.endedBy, isFirst },
    open.map(({ value }) => value),
  );
  const timestamp = isoTime(run.updatedAt);
  if (format === "a2a_0.3")
    return JSON.stringify({ kind: "task", id: taskId, contextId: run.threadId, status: { state: name, timestamp } });
  const state = `TASK_STATE_${name.replace("-", "_").toUpperCase()}`;
  return JSON.stringify({ statusUpdate: { taskId, contextId: run.threadId, status: { state, timestamp } } });
}

/** The first of the runs that a run continues, or the run itself. */
export function findFirstRun({ runId, request }: Pick<Run, "runId" | "request">): string {
  return request.trace?.rootRunId ?? runId;
}
