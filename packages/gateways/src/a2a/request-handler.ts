// Request handler: the methods of the protocol for one request, over the own API. The SDK's handler keeps tasks in
// memory; this one keeps nothing.
import { type AgentCard, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import { TaskNotCancelableError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { pushMethods } from "./push-configs.ts";
import { refusable } from "./refusals.ts";
import { type Sent, sendMessage, type Sending } from "./send-message.ts";
import { taskObject, type TaskView } from "./task-object.ts";
import { listTasks } from "./task-list.ts";
import { readTask, settled, type TaskRuns } from "./task-runs.ts";
import { isOver, isRunning } from "./task-state.ts";
import { taskStream } from "./task-stream.ts";

export interface HandlerParts extends Sending {
  readonly card: AgentCard;
  readonly extendedCard: () => Promise<AgentCard>;
  /** Ends with the request, or with the server. */
  readonly signal: AbortSignal;
}

export function createRequestHandler(parts: HandlerParts): A2ARequestHandler {
  const { api, assistantId, publicUrl, signal, card } = parts;
  const view = (more: Partial<TaskView> = {}): TaskView => ({ api, publicUrl, ...more });
  const found = (taskId: string): Promise<TaskRuns> => readTask(api, assistantId, taskId);
  return {
    ...pushMethods({ api, found, isLegacy: parts.isLegacy }),
    getAgentCard: async () => card,
    getAuthenticatedExtendedAgentCard: () => refusable(parts.extendedCard()),
    async sendMessage(params) {
      const sent = await sendMessage(parts, params);
      const isBlocking = params.configuration?.returnImmediately !== true;
      const task = isBlocking ? await settled(api, sent.task, signal) : sent.task;
      return sentObject({ ...sent, task }, view({ historyLength: params.configuration?.historyLength }));
    },
    async *sendMessageStream(params) {
      const sent = await sendMessage(parts, params);
      const historyLength = params.configuration?.historyLength;
      yield* streamTask(sent, { ...view({ historyLength }), signal });
    },
    getTask: async ({ id, historyLength }) => refusable(taskObject(await found(id), view({ historyLength }))),
    listTasks: (params) => listTasks(view({ withArtifacts: params.includeArtifacts === true }), assistantId, params),
    async cancelTask({ id }) {
      const task = await found(id);
      if (isOver(task.state)) throw new TaskNotCancelableError(`The task ${id} is over.`);
      await refusable(cancel(parts, task));
      return refusable(taskObject(await found(id), view()));
    },
    async *resubscribe({ id }) {
      const task = await found(id);
      if (isOver(task.state)) throw new UnsupportedOperationError(`The task ${id} has ended: no updates follow.`);
      yield* taskStream(task, { ...view(), signal, outlastsPause: true });
    },
  };
}

/** The reply to a message; a handler that wants other credentials makes it `auth-required` for this caller. */
async function sentObject({ task, notes, needsAuth }: Sent, view: TaskView): Promise<Task> {
  const object = await refusable(taskObject(task, { ...view, notes }));
  if (!needsAuth || object.status === undefined) return object;
  return { ...object, status: { ...object.status, state: TaskState.TASK_STATE_AUTH_REQUIRED } };
}

async function* streamTask(
  sent: Sent,
  streaming: TaskView & { readonly signal: AbortSignal },
): AsyncGenerator<StreamResponse, void, undefined> {
  if (sent.needsAuth) yield { payload: { $case: "task", value: await sentObject(sent, streaming) } };
  else yield* taskStream(sent.task, { ...streaming, notes: sent.notes, outlastsPause: false });
}

/** Ends the run in progress, then abandons the questions of the task: a cancelled task has none. */
async function cancel({ api, assistantId }: HandlerParts, { taskId, contextId, newest, state }: TaskRuns) {
  if (isRunning(state)) await api.call("POST", `/threads/${contextId}/runs/${newest.run_id}/cancel?wait=true`);
  const { open } = await readTask(api, assistantId, taskId);
  if (open.length === 0) return;
  await api.call("POST", `/threads/${contextId}/state`, { body: { values: null, as_node: "__end__" } });
}
