// Run request: the parameters of a call as stored with the run, and the check of the node names in it.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { ConfigurableHeaders } from "../../auth/configurable-headers.ts";
import type { Reach, Rights } from "../../auth/authorize.ts";
import { checkGoto, requireNodes } from "../../interrupts/node-names.ts";
import type { AcceptedAnswers } from "../../interrupts/resume-rules.ts";
import type { Intent } from "../../interrupts/run-intent.ts";
import {
  type Assistant,
  type AuditVia,
  type Caller,
  type Durability,
  type MultitaskStrategy,
  type NewRunWebhook,
  type Notify,
  type OnPaused,
  type Run,
  type RunRequest,
  type StreamRequest,
  type SubgraphCheckpoint,
  VALUES_ONLY,
} from "../../model/model.ts";
import type { GivenValues, Graphs } from "../../ports/ports.ts";

export interface RunCall {
  readonly assistantId: string;
  readonly input: Json | undefined;
  readonly command: JsonObject | null;
  readonly config: JsonObject;
  readonly context: Json;
  readonly metadata: JsonObject;
  readonly interruptBefore: "*" | readonly string[] | null;
  readonly interruptAfter: "*" | readonly string[] | null;
  readonly multitaskStrategy: MultitaskStrategy;
  /** Null: as the assistant says. */
  readonly onPaused: OnPaused | null;
  readonly ifNotExists: "create" | "reject";
  readonly durability: Durability;
  readonly stream: StreamRequest;
  readonly checkpointId: string | null;
  readonly subgraph: SubgraphCheckpoint | null;
  readonly webhook: string | null;
  readonly notify: Notify | false | null;
  /** Webhooks for the run and those that continue it. */
  readonly webhooks?: readonly NewRunWebhook[];
  /** 0 starts as soon as possible. */
  readonly afterSeconds: number;
  readonly idempotencyKey: string | null;
  /** Hash of the request. Distinguishes a repeated call from another one with the same key. */
  readonly requestHash: string;
  /** Authorization scopes of the caller. */
  readonly reach: Reach;
  /** Channel of the call; `api` if absent. In the inbox, assignments to others apply. */
  readonly via?: AuditVia;
  /** Who gives each answer, by interrupt id, if not the caller. */
  readonly answerers?: ReadonlyMap<string, Caller>;
  /** Requires that the thread is paused at this breakpoint. */
  readonly atBreakpoint?: string;
  /** What the caller may do beyond running (bypass.ts). */
  readonly rights?: Rights;
  /** The run asks a request, on its new thread. */
  readonly asksRequest?: true;
  /** Request headers that the graph may see. */
  readonly headers?: JsonObject;
}

/** Lifetime of an Idempotency-Key. */
export const IDEMPOTENCY_KEPT_MS = 24 * 60 * 60 * 1000;

/** Everything that determines the stored request of an accepted run. */
export interface RequestParts {
  readonly headers: ConfigurableHeaders;
  readonly caller: Caller;
  readonly call: RunCall;
  readonly intent: Intent;
  readonly answers: AcceptedAnswers | null;
  readonly assistant: Assistant;
  readonly threadConfig: JsonObject;
  /** The request of the run that this one continues (continuation.ts). */
  readonly asker: Run | null;
  readonly checkpointId: string | null;
  readonly goesFirst: boolean;
  readonly refusesPause: boolean;
}

export function buildRunRequest(parts: RequestParts): RunRequest {
  const { caller, call, intent, answers, assistant, checkpointId, goesFirst, asker } = parts;
  const base = mergeConfigs(assistant.config, asker?.request.config ?? parts.threadConfig);
  const command =
    intent.kind === "resume" || intent.kind === "command" || intent.kind === "end_thread"
      ? {
          ...(answers === null ? {} : { answers: answers.answers }),
          ...(intent.update === undefined ? {} : { update: intent.update }),
          ...(intent.goto === undefined ? {} : { goto: intent.goto }),
          ...(intent.kind === "end_thread" ? { givesUp: true as const } : {}),
        }
      : null;
  return {
    command,
    config: mergeConfig(parts.headers, base, call),
    context: mergeContext(mergeContext(assistant.context, asker?.request.context ?? null), call.context),
    interruptBefore: call.interruptBefore,
    interruptAfter: call.interruptAfter,
    durability: call.durability,
    checkpointId,
    goesFirst,
    user: caller.user,
    permissions: caller.permissions,
    ...(bringsContent(intent) || checkpointId !== null ? authorsFrom(caller) : {}),
    ...(isDefault(call.stream) ? {} : { stream: call.stream }),
    ...(call.subgraph === null ? {} : { subgraph: call.subgraph }),
    ...(call.webhook === null ? {} : { webhook: call.webhook }),
    ...(call.notify === null ? {} : { notify: call.notify }),
    ...(call.afterSeconds === 0 ? {} : { afterSeconds: call.afterSeconds }),
    ...(parts.refusesPause ? { refusesPause: true } : {}),
  };
}

function authorsFrom({ name, editors }: Caller): Pick<RunRequest, "startedBy" | "alsoStartedBy"> {
  return editors === undefined ? { startedBy: name } : { startedBy: name, alsoStartedBy: editors };
}

/** Input and edits. An answer or a continuation brings none of its own, unless it chooses an older state. */
function bringsContent(intent: Intent): boolean {
  if (intent.kind === "resume") return intent.update !== undefined || intent.goto !== undefined;
  return intent.kind !== "continue";
}

function isDefault({ modes, subgraphs, resumable, protocol }: StreamRequest): boolean {
  return protocol !== true && modes.length === 1 && modes[0] === VALUES_ONLY.modes[0] && !subgraphs && !resumable;
}

export function mergeConfigs(base: JsonObject, given: JsonObject): JsonObject {
  const configurable = { ...(base["configurable"] as JsonObject), ...(given["configurable"] as JsonObject) };
  return { ...base, ...given, ...(Object.keys(configurable).length === 0 ? {} : { configurable }) };
}

/** Names reserved for headers take their value from this request's headers only. */
function mergeConfig(allowed: ConfigurableHeaders, base: JsonObject, { config, headers }: RunCall): JsonObject {
  const merged = mergeConfigs(base, config);
  const configurable = { ...allowed.strip((merged["configurable"] ?? {}) as JsonObject), ...headers };
  const { configurable: _given, ...rest } = merged;
  return { ...rest, ...(Object.keys(configurable).length === 0 ? {} : { configurable }) };
}

export function mergeContext(base: Json, given: Json): Json {
  const isObject = (value: Json): value is JsonObject =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject(given)) return given ?? (isObject(base) && Object.keys(base).length > 0 ? base : null);
  const merged = isObject(base) ? { ...base, ...given } : given;
  return Object.keys(merged).length === 0 ? null : merged;
}

/** @throws {ApiError} `control_value_refused` */
export function checkControlValues(graphs: Pick<Graphs, "checkGiven">, intent: Intent): void {
  graphs.checkGiven(givenBy(intent));
}

function givenBy(intent: Intent): GivenValues {
  if (intent.kind === "continue") return {};
  if (intent.kind === "input") return { input: intent.input };
  const { update, goto } = intent;
  return { update, goto, ...(intent.kind === "resume" ? { answers: [intent.resume] } : {}) };
}

/** @throws {ApiError} `node_unknown`: with a typo, the guarded node would run */
export function checkNodeNames(graphs: Pick<Graphs, "describe">, graphId: string, call: RunCall, intent: Intent): void {
  const graph = graphs.describe(graphId);
  if (graph === null) throw new ApiError("assistant_not_found", `The graph ${graphId} is not deployed.`);
  if (Array.isArray(call.interruptBefore)) requireNodes(graph, "interrupt_before", call.interruptBefore);
  if (Array.isArray(call.interruptAfter)) requireNodes(graph, "interrupt_after", call.interruptAfter);
  if (intent.kind === "resume" || intent.kind === "command") checkGoto(graph, intent.goto);
}
