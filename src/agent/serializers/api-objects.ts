// API objects: rows of the model → JSON objects for clients. Only serializers know both spellings.
import { isoTime } from "../../base/clock.ts";
import type { Json, JsonObject } from "../../base/json/json.ts";
import {
  type Assistant,
  type AssistantVersion,
  type Cron,
  type ErrorInfo,
  type Interrupt,
  type Run,
  type StoreItem,
  type Thread,
  VALUES_ONLY,
} from "../model/model.ts";
import type { RunEnd, StateSnapshot } from "../ports/ports.ts";
import type { AssistantSchemas } from "./assistant-schemas.ts";

/** `{id, value, resumable, ns, when}`, and `response_schema` if the node declared one. */
export function serializeInterrupt(interrupt: Interrupt, resumable: boolean): JsonObject {
  return {
    id: interrupt.interruptId,
    value: interrupt.value,
    resumable,
    ns: interrupt.ns,
    when: "during",
    ...(interrupt.responseSchema === null ? {} : { response_schema: interrupt.responseSchema }),
  };
}

/** Open interrupts by the root task that waits for them. */
export function interruptsByTask(open: readonly Interrupt[]): Record<string, JsonObject[]> {
  const byTask: Record<string, JsonObject[]> = {};
  for (const interrupt of open) {
    const taskId = interrupt.ns[0]?.split(":")[1] ?? interrupt.taskId;
    (byTask[taskId] ??= []).push(serializeInterrupt(interrupt, true));
  }
  return byTask;
}

/** Without `values`, which are text already (withValues). */
export function serializeThread(thread: Thread, open: readonly Interrupt[]): JsonObject {
  return {
    thread_id: thread.threadId,
    created_at: isoTime(thread.createdAt),
    updated_at: isoTime(thread.updatedAt),
    state_updated_at: isoTime(thread.stateUpdatedAt),
    metadata: thread.metadata,
    status: thread.status,
    config: thread.config,
    interrupts: thread.status === "interrupted" ? interruptsByTask(open) : {},
    ...(thread.error === null ? {} : { error: { ...withoutStack(thread.error) } }),
  };
}

/** Adds the member `values`, given as text; null omits it. */
export function withValues(object: object, values: string | null): string {
  const text = JSON.stringify(object);
  return values === null ? text : `${text.slice(0, -1)}${text === "{}" ? "" : ","}"values":${values}}`;
}

/** `{ttl, strategy, expires_at}`, ttl in minutes; null without expiry. */
export function serializeTtl({ ttlMs, ttlStrategy, updatedAt }: Thread): JsonObject | null {
  if (ttlMs === null) return null;
  return { ttl: ttlMs / 60_000, strategy: ttlStrategy, expires_at: isoTime(updatedAt + ttlMs) };
}

export function serializeRun(run: Run, input: Json): JsonObject {
  const { request } = run;
  const command = request.command;
  const resume = command?.answers;
  return {
    run_id: run.runId,
    thread_id: run.threadId,
    assistant_id: run.assistantId,
    created_at: isoTime(run.createdAt),
    updated_at: isoTime(run.updatedAt),
    status: run.status,
    ended_by: run.endedBy,
    attempt: run.attempt,
    metadata: run.metadata,
    multitask_strategy: run.multitaskStrategy,
    kwargs: {
      input,
      command:
        command === null
          ? null
          : {
              ...(resume === undefined
                ? {}
                : { resume: Object.fromEntries(resume.map((answer) => [answer.interruptId, answer.value])) }),
              ...(command.update === undefined ? {} : { update: command.update }),
              ...(command.goto === undefined ? {} : { goto: command.goto }),
            },
      config: request.config,
      context: request.context,
      interrupt_before: request.interruptBefore,
      interrupt_after: request.interruptAfter,
      durability: request.durability,
      checkpoint_id: request.subgraph?.checkpointId ?? request.checkpointId,
      ...(request.subgraph === undefined ? {} : { checkpoint_ns: request.subgraph.ns }),
      ...(request.webhook === undefined ? {} : { webhook: request.webhook }),
      ...(request.afterSeconds === undefined ? {} : { after_seconds: request.afterSeconds }),
      stream_mode: (request.stream ?? VALUES_ONLY).modes,
      subgraphs: request.stream?.subgraphs ?? false,
      resumable: request.stream?.resumable ?? false,
    },
    ...(request.trace === undefined ? {} : { continues: request.trace.rootRunId }),
    ...(run.error === null ? {} : { error: { ...run.error } }),
  };
}

export function serializeAssistant(assistant: Assistant): JsonObject {
  return { ...serializeAssistantVersion(assistant), updated_at: isoTime(assistant.updatedAt) };
}

export function serializeAssistantVersion(version: AssistantVersion): JsonObject {
  return {
    assistant_id: version.assistantId,
    graph_id: version.graphId,
    name: version.name,
    description: version.description,
    metadata: version.metadata,
    config: version.config,
    context: version.context,
    version: version.version,
    created_at: isoTime(version.createdAt),
  };
}

export function serializeCron(cron: Cron): JsonObject {
  const time = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));
  return {
    cron_id: cron.cronId,
    assistant_id: cron.assistantId,
    thread_id: cron.threadId,
    user_id: cron.caller.user === null ? null : cron.caller.name,
    schedule: cron.schedule,
    timezone: cron.timezone,
    end_time: time(cron.endTime),
    enabled: cron.enabled,
    on_run_completed: cron.onRunCompleted,
    next_run_date: time(cron.nextAt),
    payload: cron.payload,
    metadata: cron.metadata,
    created_at: isoTime(cron.createdAt),
    updated_at: isoTime(cron.updatedAt),
  };
}

/** @param score null for an unranked item */
export function serializeStoreItem(item: StoreItem, score: number | null): JsonObject {
  return {
    namespace: item.namespace,
    key: item.key,
    value: item.value,
    created_at: isoTime(item.createdAt),
    updated_at: isoTime(item.updatedAt),
    ...(score === null ? {} : { score }),
  };
}

export function serializeSchemas({ graphId, input, output, state, context }: AssistantSchemas): JsonObject {
  return {
    graph_id: graphId,
    input_schema: input,
    output_schema: output,
    state_schema: state,
    config_schema: context, // JavaScript graphs declare one schema for both
    context_schema: context,
  };
}

/** With `namespace`, which clients of the thread protocol read: the task that asks, as `input.requested` names it. */
function placed(interrupt: Interrupt, resumable: boolean): JsonObject {
  return { ...serializeInterrupt(interrupt, resumable), namespace: interrupt.ns };
}

/**
 * A saved state, with stored interrupts instead of the library's.
 * @param known interrupts of the thread
 * @param newest true for the current state of the thread, which shows the open interrupts. They include those of tasks
 *   called by another task, which the library's states do not list.
 */
export function serializeState(state: StateSnapshot, known: readonly Interrupt[], newest: boolean): JsonObject {
  const last = new Map<string, Interrupt>();
  for (const interrupt of known) {
    const other = last.get(interrupt.libraryId);
    if (other === undefined || other.index <= interrupt.index) last.set(interrupt.libraryId, interrupt);
  }
  const shown = (raised: { readonly id: string | null; readonly value: Json }): readonly JsonObject[] => {
    const row = raised.id === null ? undefined : last.get(raised.id);
    if (row === undefined) return [{ id: raised.id, value: raised.value, resumable: false, ns: [], when: "during" }];
    return [placed(row, false)];
  };
  const open = known.filter(({ state }) => state === "open").toSorted((a, b) => a.position - b.position);
  const openIn = (taskId: string): readonly JsonObject[] =>
    open.filter(({ ns }) => ns.some((part) => part.endsWith(`:${taskId}`))).map((interrupt) => placed(interrupt, true));
  const convert = (one: StateSnapshot): JsonObject => {
    const tasks = one.tasks.map((task) => ({
      id: task.id,
      name: task.name,
      path: task.path,
      error: task.error,
      interrupts: newest ? openIn(task.id) : task.interrupts.flatMap(shown),
      checkpoint: task.checkpoint,
      state: task.state === null ? null : convert(task.state),
      result: task.result,
    }));
    // The library treats a task with a saved answer as done. A task with an open interrupt is next nevertheless.
    const asking = tasks.filter((task) => newest && task.interrupts.length > 0).map((task) => task.name);
    return {
      values: one.values,
      next: [...new Set([...one.next, ...asking])],
      tasks,
      metadata: one.metadata,
      created_at: one.createdAt,
      checkpoint: one.checkpoint === null ? null : { ...one.checkpoint },
      parent_checkpoint: one.parentCheckpoint === null ? null : { ...one.parentCheckpoint },
      interrupts: tasks.flatMap((task) => task.interrupts),
    };
  };
  return convert(state);
}

/** Reply of a waiting call: the state, with `__interrupt__` for a pause, or `__error__`. JSON text. */
export function serializeRunEnd(end: RunEnd): string {
  const { run } = end;
  if (run.endedBy !== "done" && run.endedBy !== "pause") return JSON.stringify({ __error__: runEndError(run) });
  const values = end.valuesText ?? "{}";
  if (end.pause === null) return values;
  const interrupts = JSON.stringify(end.interrupts.map((interrupt) => serializeInterrupt(interrupt, true)));
  if (!values.startsWith("{")) return `{"__interrupt__":${interrupts}}`;
  return `${values.slice(0, -1)}${values === "{}" ? "" : ","}"__interrupt__":${interrupts}}`;
}

/** Reason for an end other than success or pause. */
export function runEndError(run: Run): ErrorInfo {
  return run.error === null ? ENDINGS[run.endedBy ?? "failure"] : withoutStack(run.error);
}

/** Waiting calls, streams, threads and webhooks omit the stack; only the run itself has it. */
export function withoutStack({ error, message }: ErrorInfo): ErrorInfo {
  return { error, message };
}

const ENDINGS = {
  done: { error: "Ended", message: "the run has ended" },
  pause: { error: "Paused", message: "the run has paused" },
  cancel: { error: "Cancelled", message: "the run was cancelled" },
  rollback: { error: "RolledBack", message: "the run was cancelled and its writes were reverted" },
  timeout: { error: "Timeout", message: "the run took longer than it may" },
  failure: { error: "Error", message: "the run failed" },
} as const;
