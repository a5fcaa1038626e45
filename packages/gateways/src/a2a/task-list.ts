// Task list: the tasks of an assistant that the caller may read, newest threads first.
// Invariants:
//   - The token of the next page names a place in the list of threads, and a task of its first thread: no list is
//     stored.
//   - A page reads a bounded number of threads. A page of a filtered list may have fewer tasks than asked for.
import type { ListTasksRequest, ListTasksResponse, Task } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import type { Thread } from "@holdpoint/api/schemas.ts";
import { isUuid } from "@holdpoint/base/ids.ts";
import type { RunObject } from "../calls/run-object.ts";
import { refusable } from "./refusals.ts";
import { taskObject, type TaskView } from "./task-object.ts";
import { readOpenItems, readRuns, readTask, findTaskId, taskOfRuns, type TaskRuns } from "./task-runs.ts";

const PAGE = 50;
const PAGE_MAX = 100;
const THREADS_MAX = 200;

interface Place {
  /** Offset in the list of threads. */
  readonly thread: number;
  /** Tasks of that thread that earlier pages have. */
  readonly skip: number;
}

export async function listTasks(
  view: TaskView,
  assistantId: string,
  request: ListTasksRequest,
): Promise<ListTasksResponse> {
  const pageSize = request.pageSize ?? PAGE;
  if (pageSize < 1 || pageSize > PAGE_MAX) throw new RequestMalformedError(`pageSize must be 1 to ${PAGE_MAX}.`);
  const isWanted = buildTaskFilter(request);
  const start = decodeToken(request.pageToken);
  const threads = await readThreads(view, assistantId, request.contextId, start.thread);
  const found: TaskRuns[] = [];
  let place = start;
  for (const thread of threads.page) {
    const tasks = (await readTasks(view, assistantId, thread)).filter(isWanted).slice(place.skip);
    const room = pageSize - found.length;
    found.push(...tasks.slice(0, room));
    const isWhole = tasks.length <= room;
    place = isWhole ? { thread: place.thread + 1, skip: 0 } : { thread: place.thread, skip: place.skip + room };
    if (found.length === pageSize) break;
  }
  const next = place.thread < threads.total ? place : null;
  const objects = found.map((task) => taskObject(task, { ...view, historyLength: request.historyLength }));
  const tasks: Task[] = await refusable(Promise.all(objects));
  const before = start.thread + start.skip;
  const after = next === null ? 0 : threads.total - next.thread;
  return {
    tasks,
    nextPageToken: next === null ? "" : encodeToken(next),
    pageSize,
    totalSize: before + tasks.length + after,
  };
}

function buildTaskFilter({ status, statusTimestampAfter: after }: ListTasksRequest): (task: TaskRuns) => boolean {
  const from = after === undefined || after === "" ? null : Date.parse(after);
  if (from !== null && Number.isNaN(from)) throw new RequestMalformedError("statusTimestampAfter must be a time.");
  const any = status === undefined || status === TaskState.TASK_STATE_UNSPECIFIED;
  return (task) => (any || task.state === status) && (from === null || Date.parse(task.newest.updated_at) > from);
}

async function readThreads(
  { api }: TaskView,
  assistantId: string,
  contextId: string,
  offset: number,
): Promise<{ readonly page: readonly Thread[]; readonly total: number }> {
  if (contextId !== "" && !isUuid(contextId)) return { page: [], total: 0 };
  const wanted = { metadata: { assistant_id: assistantId }, ...(contextId === "" ? {} : { ids: [contextId] }) };
  const order = { sort_by: "updated_at", sort_order: "desc", select: ["thread_id", "status"] };
  const body = { ...wanted, ...order, limit: THREADS_MAX, offset };
  const [page, total] = await refusable(
    Promise.all([api.call("POST", "/threads/search", { body }), api.call("POST", "/threads/count", { body: wanted })]),
  );
  return { page: page as unknown as readonly Thread[], total: total as number };
}

/** Newest first. A task of a thread with more runs than a page holds may begin before it; it is then left out. */
async function readTasks({ api }: TaskView, assistantId: string, thread: Thread): Promise<readonly TaskRuns[]> {
  const runs = await refusable(readRuns(api, thread.thread_id, 0));
  const own = runs.filter((run) => run.assistant_id === assistantId);
  const chains = [...Map.groupBy(own, findTaskId).entries()].flatMap(([taskId, chain]): (readonly RunObject[])[] =>
    chain.some(({ run_id: id }) => id === taskId) ? [chain.toReversed()] : [],
  );
  const [newest] = own;
  const open =
    thread.status === "interrupted" && newest !== undefined ? await refusable(readOpenItems(api, newest)) : [];
  return Promise.all(
    chains.map(async (chain) => {
      const task = await taskOfRuns(api, chain, open);
      const isWhole = task.newest.status !== "interrupted" || task.open.length > 0;
      return isWhole ? task : readTask(api, assistantId, task.taskId); // task-runs.3
    }),
  );
}

function encodeToken({ thread, skip }: Place): string {
  return Buffer.from(`${thread}.${skip}`).toString("base64url");
}

function decodeToken(token: string): Place {
  if (token === "") return { thread: 0, skip: 0 };
  const [, thread, skip] = /^(\d{1,9})\.(\d{1,6})$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (thread === undefined || skip === undefined)
    throw new RequestMalformedError("The page token is not from this list.");
  return { thread: Number(thread), skip: Number(skip) };
}
