// Task stream: the events of a task: its state now, the text of the agent as it arrives, artifacts and states.
// Invariants:
//   - Text in progress ends with the artifact that a later read returns.
//   - The stream ends when the task is over, or when it waits for an answer. A reader that subscribes to a waiting task
//     gets the next run of the task first, over any channel.
import type { Artifact, StreamResponse } from "@a2a-js/sdk";
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";
import { nextRun } from "../calls/follow-thread.ts";
import { toParts, textIn, textPart } from "./content.ts";
import { refusable } from "./refusals.ts";
import { artifact, buildArtifacts, buildStatus, taskObject, type TaskView } from "./task-object.ts";
import { readTask, settled, type TaskRuns } from "./task-runs.ts";
import { isOver, isRunning } from "./task-state.ts";

export interface Streaming extends TaskView {
  readonly signal: AbortSignal;
  /** Wait for the answer of a task that waits at the start. */
  readonly outlastsPause: boolean;
}

export async function* taskStream(first: TaskRuns, streaming: Streaming): AsyncGenerator<StreamResponse> {
  const { api, signal } = streaming;
  let task = first;
  yield { payload: { $case: "task", value: await refusable(taskObject(task, streaming)) } };
  let isFollowed = isRunning(task.state);
  if (streaming.outlastsPause && !isFollowed && !isOver(task.state)) {
    const paused = task;
    task = await afterPause(paused, streaming);
    isFollowed = task.newest.run_id !== paused.newest.run_id; // also a run that is over by now: its text is kept
    if (isRunning(task.state) || !isFollowed) yield statusUpdate(task, streaming);
  }
  while (isFollowed) {
    for await (const piece of streamText(task, streaming)) yield artifactUpdate(task, piece);
    task = await settled(api, task, signal);
    for (const one of await refusable(buildArtifacts(task, streaming)))
      yield artifactUpdate(task, { artifact: one, append: false, lastChunk: true });
    yield statusUpdate(task, streaming);
    isFollowed = isRunning(task.state);
  }
}

async function afterPause(task: TaskRuns, { api, signal }: Streaming): Promise<TaskRuns> {
  const { contextId: threadId, assistantId, taskId } = task;
  for (let now = task; ;) {
    await refusable(nextRun(api, { threadId, runId: now.newest.run_id }, signal));
    signal.throwIfAborted();
    now = await readTask(api, assistantId, taskId);
    if (now.newest.run_id !== task.newest.run_id || now.state !== task.state) return now;
  }
}

interface Piece {
  readonly artifact: Artifact;
  readonly append: boolean;
  readonly lastChunk: boolean;
}

/** Chunks of the models' messages. A new message replaces the text of the one before. */
async function* streamText({ contextId, newest }: TaskRuns, { api, signal }: Streaming): AsyncGenerator<Piece> {
  let current: string | null = null;
  const path = `/threads/${contextId}/runs/${newest.run_id}/stream`;
  for await (const { event, data } of api.events(path, signal)) {
    if (event !== "messages") continue;
    const chunk = readChunk(JSON.parse(data) as Json);
    if (chunk === null) continue;
    yield { artifact: artifact([textPart(chunk.text)]), append: chunk.id === current, lastChunk: false };
    current = chunk.id;
  }
}

/** Null for anything but text of a model's message in progress. */
function readChunk(data: Json): { readonly id: string; readonly text: string } | null {
  const [message] = Array.isArray(data) ? (data as readonly Json[]) : [];
  if (!isJsonObject(message)) return null;
  const { id, content, ...rest } = message;
  const text = "tool_call_chunks" in rest ? textIn(toParts(content ?? null)) : ""; // whole messages have none
  return text === "" ? null : { id: typeof id === "string" ? id : "", text };
}

function artifactUpdate({ taskId, contextId }: TaskRuns, piece: Piece): StreamResponse {
  return { payload: { $case: "artifactUpdate", value: { taskId, contextId, ...piece, metadata: undefined } } };
}

function statusUpdate(task: TaskRuns, streaming: Streaming): StreamResponse {
  const { taskId, contextId } = task;
  const status = buildStatus(task, streaming);
  return { payload: { $case: "statusUpdate", value: { taskId, contextId, status, metadata: undefined } } };
}
