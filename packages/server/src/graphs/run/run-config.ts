// Run config: LangGraph's config of a run, apart from its input.
// Invariants:
//   - The graph stays unchanged: everything of this run is in the config.
//   run-config.2. The server's own names in `configurable` never come from a request.
//   - LangGraph awaits the saver before the next superstep. With durability `async` the saver only waits for the
//     encoding of long values.
import type { Run } from "../../model/model.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { StreamConfig } from "../langgraph/compiled-graph.ts";
import type { Library } from "../langgraph/library.ts";
import type { RunSaver } from "../checkpoints/run-checkpointer.ts";
import type { StreamPlan } from "./stream-modes.ts";

const CHECKPOINTER_KEY = "__pregel_checkpointer";

const SERVER_OWNED = new Set([
  "thread_id",
  "run_id",
  "checkpoint_id",
  "checkpoint_ns",
  "checkpoint_map",
  "assistant_id",
  "graph_id",
  "run_attempt",
  "idempotency_key",
  "thread_ts",
]);

export interface RunConfigParts {
  readonly saver: RunSaver;
  readonly signal: AbortSignal;
  /** A checkpoint of this run exists. */
  readonly started: boolean;
  readonly plan: StreamPlan;
}

export function runConfig(run: Run, library: Library, { saver, signal, started, plan }: RunConfigParts): StreamConfig {
  const { request } = run;
  const { recursion_limit: recursionLimit, tags } = request.config;
  return {
    configurable: {
      ...runConfigurable(run, library),
      [CHECKPOINTER_KEY]: saver.checkpointer,
      ...(started ? {} : startingPoint(request)),
    },
    metadata: {
      ...clientMetadata(run.metadata),
      graph_id: run.graphId,
      assistant_id: run.assistantId,
      run_attempt: run.attempt,
    },
    ...(Array.isArray(tags) ? { tags } : {}),
    ...(typeof recursionLimit === "number" ? { recursionLimit } : {}),
    ...(request.context === null ? {} : { context: request.context }),
    ...(request.interruptBefore === null ? {} : { interruptBefore: request.interruptBefore }),
    ...(request.interruptAfter === null ? {} : { interruptAfter: request.interruptAfter }),
    durability: request.durability === "exit" ? "exit" : "sync",
    streamMode: plan.libraryModes,
    ...(plan.subgraphs ? { subgraphs: true } : {}),
    ...(plan.raw ? { version: "v2", runId: run.runId } : {}),
    ...(plan.v3 ? { version: "v3" } : {}),
    signal,
  };
}

/** run-config.2. Without the checkpointer of a run. */
export function runConfigurable(run: Run, library: Library): Record<string, unknown> {
  return {
    ...clientConfigurable(run.request.config),
    ...authConfigurable(run.request),
    thread_id: run.threadId,
    run_id: run.runId,
    assistant_id: run.assistantId,
    graph_id: run.graphId,
    run_attempt: run.attempt,
    idempotency_key: createTaskKey(library, run.threadId, run.runId),
  };
}

/** LangGraph's form in the config of a state: below the root, the map has the checkpoints of the graphs above. */
function startingPoint({ checkpointId, subgraph }: Run["request"]): Record<string, unknown> {
  if (subgraph === undefined) return checkpointId === null ? {} : { checkpoint_id: checkpointId };
  return { checkpoint_ns: subgraph.ns, checkpoint_id: subgraph.checkpointId, checkpoint_map: subgraph.map };
}

export function checkpointMetadata(run: Run): JsonObject {
  return {
    ...run.metadata,
    graph_id: run.graphId,
    assistant_id: run.assistantId,
    run_id: run.runId,
    run_attempt: run.attempt,
  };
}

function isServerOwned(name: string): boolean {
  return SERVER_OWNED.has(name) || name.startsWith("__pregel_") || name.startsWith("langgraph_auth"); // run-config.2
}

export function clientConfigurable(config: JsonObject): Record<string, unknown> {
  const given = config["configurable"];
  if (typeof given !== "object" || given === null || Array.isArray(given)) return {};
  return Object.fromEntries(Object.entries(given).filter(([name]) => !isServerOwned(name)));
}

/** The caller, stored with the run for every attempt (run-config.2). */
function authConfigurable({ user, permissions }: Run["request"]): Record<string, unknown> {
  if (user === null || user === undefined) return {}; // undefined: a run accepted before there was authentication
  return {
    langgraph_auth_user: user,
    langgraph_auth_user_id: user["identity"],
    langgraph_auth_permissions: permissions,
  };
}

/** LangGraph copies these from `configurable` unless they are present: the request's own would win (run-config.2). */
function clientMetadata(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !isServerOwned(name)));
}

/**
 * The token that a node sends with a side effect, so that the receiver recognises a repeat: its text is the same in
 * every attempt of a task, and differs between tasks. LangGraph copies `configurable` into every task before the task's
 * id is known, so the key is an object that becomes text on use, and then reads its task.
 */
interface TaskKey {
  toString(): string;
  toJSON(): string;
  [Symbol.toPrimitive](): string;
}

function createTaskKey(library: Library, threadId: string, runId: string): TaskKey {
  const text = (): string => {
    const configurable = library.langgraph.getConfig()?.configurable as Readonly<Record<string, unknown>> | undefined;
    const task = configurable?.["checkpoint_ns"];
    return `${threadId}/${typeof task === "string" && task !== "" ? task : runId}`;
  };
  return { toString: text, toJSON: text, [Symbol.toPrimitive]: text };
}
