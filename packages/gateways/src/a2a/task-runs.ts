// Task runs: the runs of a task, and the items that they ask. A task is a run and the runs that continue it.
// Invariants:
//   - A task is read from its thread, with the rights of the caller: nothing is stored about it.
//   task-runs.3. Runs and items are two reads. An answer between them leaves a paused run without its question, which
//     would look like a cancelled task: such a task is read again.
//   - A task belongs to one assistant: at the address of another one it is not found.
import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import type { TaskState } from "@a2a-js/sdk";
import { isUuid } from "@holdpoint/base/ids.ts";
import { configOfAssistant } from "../calls/assistant-config.ts";
import { openItems } from "../calls/follow-thread.ts";
import type { OwnApi } from "../calls/own-api.ts";
import { isForPeopleOnly } from "@holdpoint/api/person-only.ts";
import type { RunObject } from "../calls/run-object.ts";
import { refusable } from "./refusals.ts";
import type { OpenItem } from "./question-parts.ts";
import { isRunning, toTaskState } from "./task-state.ts";

export interface TaskRuns {
  /** Id of the first run. */
  readonly taskId: string;
  /** The thread. */
  readonly contextId: string;
  readonly assistantId: string;
  /** Oldest first, at least one. */
  readonly runs: readonly RunObject[];
  readonly newest: RunObject;
  readonly open: readonly OpenItem[];
  readonly state: TaskState;
}

const PAGE = 100;

export function findTaskId({ run_id: runId, continues }: RunObject): string {
  return continues ?? runId;
}

/** @throws {A2AError} TaskNotFoundError */
export async function readTask(api: OwnApi, assistantId: string, taskId: string): Promise<TaskRuns> {
  if (!isUuid(taskId)) throw new TaskNotFoundError(`There is no task ${taskId}.`);
  const run = (await refusable(api.call("GET", `/runs/${taskId}`))) as unknown as RunObject;
  if (run.assistant_id !== assistantId) throw new TaskNotFoundError(`There is no task ${taskId}.`);
  const readNow = async (): Promise<TaskRuns> =>
    taskOfRuns(api, await readChain(api, run.thread_id, findTaskId(run)), null);
  return refusable(readWhole(readNow));
}

/** task-runs.3. */
export async function readWhole(readNow: () => Promise<TaskRuns>): Promise<TaskRuns> {
  for (let task = await readNow(); ;) {
    if (task.newest.status !== "interrupted" || task.open.length > 0) return task;
    const again = await readNow();
    if (again.newest.run_id === task.newest.run_id && again.open.length === 0) return again;
    task = again;
  }
}

/** @param open open items of the thread, if they are read already */
export async function taskOfRuns(
  api: OwnApi,
  runs: readonly RunObject[],
  open: readonly OpenItem[] | null,
): Promise<TaskRuns> {
  const [first, newest] = [runs[0], runs.at(-1)];
  if (first === undefined || newest === undefined) throw new TaskNotFoundError("The task has no run.");
  const isEnded = newest.status !== "pending" && newest.status !== "running";
  const asked = new Set(runs.map(({ run_id: id }) => id));
  const all = isEnded && newest.status !== "success" ? (open ?? (await readOpenItems(api, first))) : [];
  const own = all.filter(({ item }) => item.run_id !== null && asked.has(item.run_id));
  return {
    taskId: findTaskId(first),
    contextId: first.thread_id,
    assistantId: first.assistant_id,
    runs,
    newest,
    open: own,
    state: toTaskState(
      newest,
      runs.length === 1,
      own.map(({ item }) => item),
    ),
  };
}

/** Open items of a thread. */
export async function readOpenItems(
  api: OwnApi,
  { thread_id: threadId, assistant_id: assistantId }: Pick<RunObject, "thread_id" | "assistant_id">,
): Promise<readonly OpenItem[]> {
  const items = await openItems(api, threadId);
  const config = items.length === 0 ? null : await configOfAssistant(api, assistantId);
  return items.map((item) => ({ item, isForPeopleOnly: isForPeopleOnly(item, config) }));
}

/** The runs of a task, oldest first. */
async function readChain(api: OwnApi, threadId: string, taskId: string): Promise<readonly RunObject[]> {
  const found: RunObject[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await readRuns(api, threadId, offset);
    found.push(...page.filter((run) => findTaskId(run) === taskId));
    if (page.length < PAGE || page.some(({ run_id: id }) => id === taskId)) return found.toReversed();
  }
}

/** Runs of a thread, newest first. */
export async function readRuns(api: OwnApi, threadId: string, offset: number): Promise<readonly RunObject[]> {
  const path = `/threads/${threadId}/runs?limit=${PAGE}&offset=${offset}`;
  return (await api.call("GET", path)) as unknown as readonly RunObject[];
}

/** Waits until no run of the task is in progress. @throws the signal's reason */
export async function settled(api: OwnApi, first: TaskRuns, signal: AbortSignal): Promise<TaskRuns> {
  let task = first;
  while (isRunning(task.state)) {
    await refusable(api.call("GET", `/threads/${task.contextId}/runs/${task.newest.run_id}/join`, { signal }));
    task = await readTask(api, task.assistantId, task.taskId);
  }
  return task;
}
