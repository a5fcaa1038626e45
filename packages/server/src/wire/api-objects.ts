// API objects: rows of the model → JSON objects for clients. Only serializers know both spellings.
import { isoTime } from "@holdpoint/base/clock.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import {
  type Assistant,
  type AssistantVersion,
  type CancelReason,
  type Cron,
  type ErrorInfo,
  type Interrupt,
  type Run,
  type StoreItem,
  type Thread,
  VALUES_ONLY,
} from "../model/model.ts";
import { readableAnswer } from "../model/run.ts";
import type { StoredBytes } from "../ports/ports.ts";
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

export function serializeStoredBytes(threadId: string, { checkpoints, channels, writes }: StoredBytes): JsonObject {
  const values = Object.values(channels).reduce((sum, bytes) => sum + bytes, 0);
  return {
    thread_id: threadId,
    total_bytes: checkpoints.bytes + values + writes.bytes,
    checkpoints,
    channel_values: channels,
    pending_writes: writes,
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

/** The word of a reason, and what it means. */
const CANCEL_REASONS: Readonly<Record<CancelReason, string>> = {
  requested: "requested: a caller cancelled the run",
  taken: "taken: another run works on its input",
  replaced: "replaced: a newer run of the thread took its place",
  disconnected: "disconnected: the caller who waited for it has left",
};

const wasCancelled = ({ endedBy }: Run): boolean => endedBy === "cancel" || endedBy === "rollback";

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
    cancel_reason: wasCancelled(run) ? CANCEL_REASONS[run.cancelReason ?? "requested"] : null,
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
                : { resume: Object.fromEntries(resume.map((answer) => [answer.interruptId, readableAnswer(answer)])) }),
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
    disabled_reason: cron.disabledReason,
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

/** Waiting calls, streams, threads and webhooks omit the stack; only the run itself has it. */
export function withoutStack({ error, message }: ErrorInfo): ErrorInfo {
  return { error, message };
}
