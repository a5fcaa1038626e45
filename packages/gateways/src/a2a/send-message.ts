// Send message: a message starts a task, or answers the open items of one.
// Invariants:
//   - A repeated message finds the run of the first one: its id and content are the idempotency key.
//   - A message without a task starts nothing while its context has an open task: an answer that lost its task id must
//     not abandon a question. A message whose metadata has `on_paused` has chosen.
//   - An answer that is refused leaves the task as it was, and the reply says why. An item that was answered elsewhere
//     is an error that names who answered.
//   - While an item with review rules is open, an answer brings no receiver that the task does not have.
import { type Message, type SendMessageRequest, taskStateToJSON } from "@a2a-js/sdk";
import { RequestMalformedError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { RunWebhookObject } from "@holdpoint/api/runs.ts";
import { contentHash, isUuid } from "@holdpoint/base/ids.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { type Answered, answerItems, isForOthers, isStillOpen, type ItemAnswer } from "../calls/answer-items.ts";
import { openItems } from "../calls/follow-thread.ts";
import { elsewhere, findItem } from "../calls/inbox-items.ts";
import { ApiRefusal, type OwnApi } from "../calls/own-api.ts";
import { getRun } from "../calls/run-object.ts";
import { type RunStart, startRun } from "../calls/start-run.ts";
import { readAnswers } from "./answer-message.ts";
import { buildInput, messagesOfInput } from "./messages.ts";
import { toWebhook } from "./push-configs.ts";
import type { OpenItem } from "./question-parts.ts";
import { refusable, findStatus } from "./refusals.ts";
import { readTask, taskOfRuns, type TaskRuns, findTaskId } from "./task-runs.ts";
import { isWaiting } from "./task-state.ts";

export interface Sent {
  readonly task: TaskRuns;
  /** Why the answer was refused. */
  readonly notes: readonly string[];
  /** A handler of the deployment wants other credentials for the answer. */
  readonly needsAuth: boolean;
}

export interface Sending {
  readonly api: OwnApi;
  readonly assistantId: string;
  readonly publicUrl: string;
  /** Version 0.3. */
  readonly isLegacy: boolean;
}

const MESSAGE_ID_UNITS_MAX = 1024;
/** Refusals of the deployment's handlers. */
const NEEDS_AUTH = new Set(["unauthenticated", "forbidden"]);

export async function sendMessage(sending: Sending, request: SendMessageRequest): Promise<Sent> {
  const { message } = request;
  if (message === undefined) throw new RequestMalformedError("`message` is missing.");
  if (message.messageId === "" || message.messageId.length > MESSAGE_ID_UNITS_MAX)
    throw new RequestMalformedError("`message.messageId` must have 1 to 1024 characters.");
  if (message.parts.length === 0) throw new RequestMalformedError("`message.parts` is empty.");
  const push = request.configuration?.taskPushNotificationConfig;
  const webhooks = push === undefined ? [] : [toWebhook(push, sending.isLegacy)];
  if (message.taskId !== "") return answer(sending, message, webhooks);
  return start(sending, message, { metadata: request.metadata ?? {}, webhooks });
}

async function start(
  { api, assistantId }: Sending,
  message: Message,
  { metadata, webhooks }: Required<Pick<RunStart, "metadata" | "webhooks">>,
): Promise<Sent> {
  const { contextId } = message;
  if (contextId !== "" && !isUuid(contextId))
    throw new RequestMalformedError("`message.contextId` must be a UUID: leave it out for a new context.");
  const { on_paused: onPaused, ...own } = metadata;
  const isFree = contextId === "" || onPaused !== undefined;
  const open = isFree ? null : await findOpenTask(api, contextId, message.messageId);
  if (open !== null) return accepted(await readTask(api, assistantId, open));
  const key = hashContent([message.messageId, contextId, message.parts]);
  const { runId, run } = await refusable(
    startRun(api, {
      assistantId,
      input: buildInput(message),
      threadId: contextId === "" ? null : contextId,
      idempotencyKey: `a2a-${key}`,
      metadata: { ...own, source: "a2a" },
      streamModes: ["messages-tuple"],
      onPaused,
      webhooks,
    }),
  );
  const isNew = run.status === "pending" || run.status === "running";
  return accepted(isNew ? await taskOfRuns(api, [run], []) : await readTask(api, assistantId, runId));
}

function hashContent(content: unknown): string {
  return contentHash(JSON.stringify(content));
}

function accepted(task: TaskRuns): Sent {
  return { task, notes: [], needsAuth: false };
}

/**
 * The open task of a context, if this message started it; null without an open task.
 * @throws {A2AError} UnsupportedOperationError
 */
async function findOpenTask(api: OwnApi, contextId: string, messageId: string): Promise<string | null> {
  const open = await openItems(api, contextId).catch((error: unknown) => {
    if (error instanceof ApiRefusal && error.status < 500) return []; // a new context, or refused at the start
    throw error;
  });
  const [runId] = open.flatMap(({ run_id: id }) => id ?? []);
  if (runId === undefined) return null;
  const taskId = findTaskId(await getRun(api, contextId, runId));
  const { kwargs } = await getRun(api, contextId, taskId);
  const sent = messagesOfInput(kwargs.input, { contextId, taskId });
  if (sent.some((one) => one.messageId === messageId)) return taskId;
  throw new UnsupportedOperationError(
    `The context waits for an answer: send it with taskId ${taskId}, or cancel that task.`,
  );
}

async function answer(
  { api, assistantId, publicUrl }: Sending,
  message: Message,
  webhooks: readonly JsonObject[],
): Promise<Sent> {
  const first = await readTask(api, assistantId, message.taskId);
  // Another answer may arrive between the reads of its runs and of its items: then the task looks cancelled.
  const task = isWaiting(first.state) ? first : await readTask(api, assistantId, message.taskId);
  if (message.contextId !== "" && message.contextId !== task.contextId)
    throw new RequestMalformedError("`message.contextId` is not that of the task.");
  const key = hashContent([message.messageId, task.taskId, message.parts]);
  const open = isWaiting(task.state) ? task.open : await answeredLast(api, task);
  if (open.length === 0) throw over(task);
  const said = readAnswers(message, open, publicUrl);
  if (!said.ok && !isWaiting(task.state)) throw over(task);
  if (!said.ok) return { task, notes: [said.reason], needsAuth: false };
  const added = await addWebhooks(api, { ...task, open }, webhooks);
  const results = await refusable(answerItems(api, said.answers, `a2a-${key}`)).catch((error: unknown) => {
    if (findStatus(error) === null) throw error;
    return said.answers.map((): Answered => ({ ok: false, code: "forbidden", reason: (error as Error).message }));
  });
  if (results.every(({ ok }) => !ok)) await removeWebhooks(api, task, added);
  return afterAnswers(api, task, said.answers, results);
}

const webhooksPath = ({ contextId, taskId }: TaskRuns): string => `/threads/${contextId}/runs/${taskId}/webhooks`;

/** @returns the new ones @throws {A2AError} RequestMalformedError */
async function addWebhooks(
  api: OwnApi,
  task: TaskRuns,
  webhooks: readonly JsonObject[],
): Promise<readonly RunWebhookObject[]> {
  const isReviewed = task.open.some(({ item }) => (item.review ?? null) !== null);
  if (isReviewed && webhooks.length > 0) {
    const known: readonly (Json | undefined)[] = (await listWebhooks(api, task)).map(({ url }) => url);
    if (webhooks.every(({ url }) => known.includes(url))) return [];
    const text = "Under review rules an answer brings no push notification config that the task does not have";
    throw new RequestMalformedError({ message: `${text} (invalid_request)`, metadata: { code: "invalid_request" } });
  }
  const added: RunWebhookObject[] = [];
  for (const body of webhooks)
    added.push((await refusable(api.call("POST", webhooksPath(task), { body }))) as unknown as RunWebhookObject);
  return added;
}

async function listWebhooks(api: OwnApi, task: TaskRuns): Promise<readonly RunWebhookObject[]> {
  return (await refusable(api.call("GET", webhooksPath(task)))) as unknown as readonly RunWebhookObject[];
}

async function removeWebhooks(api: OwnApi, task: TaskRuns, added: readonly RunWebhookObject[]): Promise<void> {
  for (const { webhook_id: id } of added)
    await refusable(api.call("DELETE", `${webhooksPath(task)}/${encodeURIComponent(id)}`));
}

async function afterAnswers(
  api: OwnApi,
  task: TaskRuns,
  answers: readonly ItemAnswer[],
  results: readonly Answered[],
): Promise<Sent> {
  const now = await readTask(api, task.assistantId, task.taskId);
  const refused = results.flatMap((result, index) => (result.ok ? [] : [{ result, item: answers[index]?.item }]));
  const isRepeated = refused.some(({ result }) => result.code === "idempotency_key_reused");
  if (refused.length === 0 || isRepeated) return accepted(now);
  const needsAuth = refused.some(({ result }) => NEEDS_AUTH.has(result.code));
  if (needsAuth || refused.every(({ result }) => isStillOpen(result) || isForOthers(result))) {
    return { task: now, notes: refused.map(({ result }) => result.reason), needsAuth };
  }
  const [first] = refused.filter(({ result }) => !isStillOpen(result));
  const item = first?.item === undefined ? null : await findItem(api, first.item.thread_id, first.item.id);
  const told = item === null || item.state === "open" ? first?.result.reason : elsewhere(item);
  throw new UnsupportedOperationError(told ?? "The answer was refused.");
}

/** The items that the newest run of the task answers: a repeated message finds its answer there, any other its loss. */
async function answeredLast(api: OwnApi, { newest, contextId }: TaskRuns): Promise<readonly OpenItem[]> {
  const ids = Object.keys(newest.kwargs.command?.resume ?? {});
  const items = await Promise.all(ids.map((id) => findItem(api, contextId, id)));
  return items.flatMap((item) => (item === null ? [] : [{ item, isForPeopleOnly: false }]));
}

function over({ taskId, state }: TaskRuns): UnsupportedOperationError {
  return new UnsupportedOperationError(`The task ${taskId} waits for no answer: ${taskStateToJSON(state)}.`);
}
