// Task object: a task as the protocol shows it: status, artifacts, history.
// Invariants:
//   - Everything is computed from the thread: the same in every process, and after a restart.
import { type Artifact, type Message, Role, type Task, TaskState, type TaskStatus } from "@a2a-js/sdk";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { findItem } from "../calls/inbox-items.ts";
import { isTooLarge, omittedText, stateUrl } from "../calls/large-values.ts";
import type { OwnApi } from "../calls/own-api.ts";
import type { RunObject } from "../calls/run-object.ts";
import { dataPart, toParts, textPart } from "./content.ts";
import { agentMessagesSince, message, messagesOfInput } from "./messages.ts";
import { toQuestion, questionParts } from "./question-parts.ts";
import type { TaskRuns } from "./task-runs.ts";

export interface TaskView {
  readonly api: OwnApi;
  readonly publicUrl: string;
  /** Newest messages; undefined for all. */
  readonly historyLength?: number | undefined;
  readonly withArtifacts?: boolean;
  /** Lines before the questions: why the last answer was refused. */
  readonly notes?: readonly string[];
}

/** The one artifact of a task: the last text of the agent, and all values except the messages. */
export const RESULT = "result";

export async function taskObject(task: TaskRuns, view: TaskView): Promise<Task> {
  const { taskId: id, contextId, assistantId, newest } = task;
  const history = view.historyLength === 0 ? [] : await buildHistory(task, view);
  return {
    id,
    contextId,
    status: buildStatus(task, view),
    artifacts: view.withArtifacts === false ? [] : await buildArtifacts(task, view),
    history: view.historyLength === undefined ? history : history.slice(-view.historyLength || history.length),
    metadata: { assistant_id: assistantId, run_id: newest.run_id },
  };
}

export function buildStatus(
  task: TaskRuns,
  { publicUrl, notes = [] }: Pick<TaskView, "publicUrl" | "notes">,
): TaskStatus {
  const { state, newest, open } = task;
  const id = `${newest.run_id}.status`;
  const say = (parts: Message["parts"]): Message => message(Role.ROLE_AGENT, task, { id, parts });
  const status = { state, timestamp: newest.updated_at };
  const failure = formatFailure(newest);
  if (open.length > 0) {
    const lines = failure === null ? notes : [...notes, failure]; // the graph refused the last answer
    return { ...status, message: say(questionParts(open, publicUrl, lines)) };
  }
  const isFailed = state === TaskState.TASK_STATE_FAILED;
  return { ...status, message: isFailed ? say([textPart(failure ?? newest.status)]) : undefined };
}

function formatFailure({ error }: RunObject): string | null {
  return error === undefined ? null : `${error.error}: ${error.message}`;
}

/** The newest text of the agent in this task, and the other values once it is complete. */
export async function buildArtifacts(
  task: TaskRuns,
  { api, publicUrl }: Pick<TaskView, "api" | "publicUrl">,
): Promise<Artifact[]> {
  const { contextId, newest, state } = task;
  if (newest.status === "pending" || newest.status === "running") return [];
  const reply = await api.call("GET", `/threads/${contextId}/runs/${newest.run_id}/join`);
  const values = isJsonObject(reply) ? reply : { value: reply };
  const asked = task.runs.flatMap(({ kwargs }) => messagesOfInput(kwargs.input, task).map(({ messageId: id }) => id));
  const said = agentMessagesSince(values, new Set(asked)).map(({ content }) => toParts(content ?? null));
  const parts = said.findLast((one) => one.length > 0) ?? [];
  const { messages: _messages, __interrupt__: _open, __error__: _error, ...rest } = values;
  const isComplete = state === TaskState.TASK_STATE_COMPLETED;
  const data = isComplete && Object.keys(rest).length > 0 ? [valuesPart(rest, stateUrl(publicUrl, contextId))] : [];
  if (parts.length + data.length === 0) return [];
  return [artifact([...parts, ...data])];
}

function valuesPart(values: JsonObject, url: string): Artifact["parts"][number] {
  return isTooLarge(values) ? textPart(omittedText(url)) : dataPart(values);
}

export function artifact(parts: Artifact["parts"]): Artifact {
  return { artifactId: RESULT, name: RESULT, description: "", parts, metadata: undefined, extensions: [] };
}

/** The client's message, then each answered question with its answer from any source. */
async function buildHistory(task: TaskRuns, view: TaskView): Promise<Message[]> {
  const [first, ...later] = task.runs;
  const asked = first === undefined ? [] : messagesOfInput(first.kwargs.input, task);
  const answered = await Promise.all(later.map((run) => answersIn(run, task, view)));
  return [...asked, ...answered.flat()];
}

async function answersIn(run: RunObject, task: TaskRuns, { api }: TaskView): Promise<Message[]> {
  const answers = Object.entries(run.kwargs.command?.resume ?? {});
  const messages = await Promise.all(
    answers.map(async ([interruptId, value]) => {
      const item = await findItem(api, task.contextId, interruptId);
      return item === null ? [] : [questionMessage(item, task), answerMessage(item, value, run, task)];
    }),
  );
  return messages.flat();
}

function questionMessage(item: InboxItem, task: TaskRuns): Message {
  const { people_only: _peopleOnly, link: _link, ...asked } = toQuestion({ item, isForPeopleOnly: false }, "");
  return message(Role.ROLE_AGENT, task, { id: item.id, parts: [textPart(item.title), dataPart(asked)] });
}

function answerMessage(item: InboxItem, value: Json, run: RunObject, task: TaskRuns): Message {
  const by: JsonObject = item.answered === undefined ? {} : { answered_by: item.answered.by, at: item.answered.at };
  const parts = [dataPart({ interrupt_id: item.id, resume: value })];
  return message(Role.ROLE_USER, task, { id: `${run.run_id}.${item.id}`, parts, metadata: by });
}
