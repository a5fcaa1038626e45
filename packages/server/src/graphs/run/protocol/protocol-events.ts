// Protocol events: chunks of the library's v3 stream → lines of the thread protocol (protocol-lines.ts).
// Invariants:
//   - Root `values` and root `checkpoints` are no lines: readers derive them from the `values` of the log.
//   - A task result that shows a pause is held until the pause is stored, as is the end of its namespaces.
//   - A namespace begins with the cause of its task, where that is known (task-causes.ts).
//   - A block of text or reasoning begins empty: its deltas are all of it.
//   - An event is text when it comes about: later changes of a node are not in it.
import type { RunEvent } from "../../../ports/ports.ts";
import { PROTOCOL_PREFIX, type ProtocolMethod } from "../../../model/protocol-lines.ts";
import { type Json, type JsonObject, isJsonObject } from "@holdpoint/base/json/json.ts";
import type { Codec } from "../../checkpoints/codec/value-codec.ts";
import { type GraphEnd, type Namespace, createChildLifecycle } from "./child-lifecycle.ts";
import { type Chunk, isPause } from "../../langgraph/stream-chunk.ts";
import { createTaskCauses } from "./task-causes.ts";
import { type ToolChunk, bounded, toolEvent } from "./tool-events.ts";

export interface ProtocolEvents {
  chunk(chunk: Chunk): void;
  /** The output of a stream transformer of the graph. */
  readonly extension: (ns: Namespace, name: string, payload: unknown) => void;
  /** The graph ended: its open namespaces end with it. */
  ended(how: GraphEnd): void;
}

export interface ProtocolOutput {
  readonly emit: (event: RunEvent) => void;
  /** @param text completes the line with the stored questions */
  readonly hold: (name: string, json: Json) => void;
  readonly now: () => number;
}

type Line = (namespace: Namespace, data: Json, node?: string) => JsonObject;

function createLine(now: () => number): Line {
  /** Checkpoint `ts` and this clock are of one process; a clock that goes back must not make events look older. */
  let latest = 0;
  return (namespace, data, node) => {
    latest = Math.max(latest, now());
    return { namespace, timestamp: latest, ...(node === undefined ? {} : { node }), data };
  };
}

export function createProtocolEvents(codec: Codec, { emit, hold, now }: ProtocolOutput): ProtocolEvents {
  const children = createChildLifecycle();
  const callIds = createCallIds();
  const causes = createTaskCauses();
  const line = createLine(now);
  const states = createStateLines(emit);
  const send = (method: ProtocolMethod, ns: Namespace, data: Json, node?: string): void =>
    emit({ name: `${PROTOCOL_PREFIX}${method}`, data: JSON.stringify(line(ns, data, node)) });
  const childEnded = (ns: Namespace, how: GraphEnd): void => {
    if (how !== "paused") return send("lifecycle", ns, lifecycle(ns, how, null));
    hold(`${PROTOCOL_PREFIX}lifecycle`, line(ns, lifecycle(ns, "interrupted", null)));
  };
  const taskStart = (ns: Namespace, task: TaskChunk): void => {
    causes.started(ns, task);
    send("tasks", ns, bounded(codec.toClientJson(toTaskStart(task)) as JsonObject, ["input"]));
  };
  const taskResult = (ns: Namespace, task: TaskChunk): void => {
    const namespaces = children.ended([...ns, `${task.name}:${task.id}`]);
    causes.ended(ns, task);
    const { metadata: _metadata, state: _state, ...shown } = task;
    const data = bounded(codec.toClientJson(shown) as JsonObject, ["result"]);
    if (task.interrupts !== undefined && task.interrupts.length > 0) {
      for (const child of namespaces) childEnded(child, "paused");
      hold(`${PROTOCOL_PREFIX}tasks`, line(ns, data));
      return;
    }
    send("tasks", ns, data);
    for (const child of namespaces) childEnded(child, (task.error ?? null) === null ? "completed" : "failed");
  };

  const take = ({ ns, mode, payload }: Chunk): void => {
    switch (mode) {
      case "values":
        if (ns.length > 0 && !isPause(payload)) states.state(line(ns, codec.toClientJson(payload)));
        return;
      case "checkpoints":
        if (ns.length > 0 && isEnvelope(payload)) states.checkpoint(line(ns, codec.toClientJson(payload)));
        return;
      case "updates":
        for (const [node, values] of updatesIn(payload)) {
          send("updates", ns, { node, values: toValues(codec.toClientJson(values)) }, node);
        }
        return;
      case "messages": {
        const [data, metadata] = payload as readonly [unknown, Readonly<Record<string, unknown>> | undefined];
        for (const one of withEmptyStart(codec.toClientJson(data)))
          send("messages", ns, callIds.complete(one, metadata), readNode(metadata));
        return;
      }
      case "tools": {
        const data = toolEvent(payload as ToolChunk, codec);
        if (data !== null) send("tools", ns, data);
        return;
      }
      case "custom":
        return send("custom", ns, wrapCustom(codec.toClientJson(payload)));
      case "tasks": {
        const task = payload as TaskChunk;
        if ("triggers" in task) taskStart(ns, task);
        else taskResult(ns, task);
      }
    }
  };
  return {
    chunk(chunk) {
      if (chunk.mode !== "values" || chunk.ns.length === 0) states.flush();
      for (const child of children.seen(chunk.ns)) {
        send("lifecycle", child, lifecycle(child, "started", causes.of(child)));
      }
      take(chunk);
    },
    extension(ns, name, payload) {
      send("custom", ns, { name, payload: codec.toClientJson(payload) });
    },
    ended(how) {
      states.flush();
      for (const child of children.left()) childEnded(child, how);
    },
  };
}

interface TaskChunk {
  readonly id: string;
  readonly name: string;
  readonly input?: unknown;
  readonly triggers?: unknown;
  readonly interrupts?: readonly unknown[];
  readonly error?: unknown;
  readonly metadata?: unknown;
  readonly state?: unknown;
}

function lifecycle(ns: Namespace, event: string, cause: JsonObject | null): JsonObject {
  const [name = ""] = (ns.at(-1) ?? "").split(":");
  return { event, graph_name: name, ...(cause === null ? {} : { cause }) };
}

/** The library puts the whole `configurable` into a task's metadata: it has no place in an event. */
function toTaskStart({ metadata: _metadata, state: _state, ...task }: TaskChunk): object {
  return task;
}

function wrapCustom(written: Json): Json {
  return isJsonObject(written) && "name" in written ? written : { payload: written };
}

function updatesIn(payload: unknown): readonly (readonly [node: string, values: unknown])[] {
  return isPause(payload) || typeof payload !== "object" || payload === null ? [] : Object.entries(payload);
}

function toValues(values: Json): JsonObject {
  return isJsonObject(values) ? values : { value: values };
}

/** Some models begin a block with its first text. */
function withEmptyStart(data: Json): readonly JsonObject[] {
  if (!isJsonObject(data)) return [];
  const { event, index = 0, content } = data;
  if (event !== "content-block-start" || !isJsonObject(content)) return [data];
  const { type } = content;
  if (type !== "text" && type !== "reasoning") return [data];
  const text = content[type];
  if (typeof text !== "string" || text === "") return [data];
  const delta = { type: `${type}-delta`, [type]: text };
  return [
    { ...data, content: { ...content, [type]: "" } },
    { event: "content-block-delta", index, delta },
  ];
}

function readNode(metadata: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const node = metadata?.["langgraph_node"];
  return typeof node === "string" ? node : undefined;
}

function isEnvelope(payload: unknown): boolean {
  return (
    typeof payload === "object" &&
    payload !== null &&
    "id" in payload &&
    !("values" in payload) &&
    !("config" in payload)
  );
}

/** Events after a message's start name neither it nor, in some versions, its model call: each line here names both. */
function createCallIds(): {
  complete(data: JsonObject, metadata: Readonly<Record<string, unknown>> | undefined): JsonObject;
} {
  const messages = new Map<string, string>();
  return {
    complete(data, metadata) {
      const given = data["run_id"] ?? metadata?.["run_id"];
      const callId = typeof given === "string" ? given : "";
      if (data["event"] === "message-start") {
        if (typeof data["id"] === "string") messages.set(callId, data["id"]);
        return { ...data, role: data["role"] ?? "ai", ...(callId === "" ? {} : { run_id: callId }) };
      }
      const messageId = messages.get(callId);
      if (data["event"] === "message-finish") messages.delete(callId);
      return {
        ...data,
        ...(callId === "" ? {} : { run_id: callId }),
        ...(messageId === undefined ? {} : { message_id: messageId }),
      };
    },
  };
}

// State lines: the checkpoints and states of subgraphs → lines of the thread protocol, in pairs.
// Invariant state-lines.1: a state is bounded. A longer one is left out, with the checkpoint before it: clients replace
// their state by what comes, so a part of one would be wrong.

/** Longest state, in UTF-16 units of its event. */
const STATE_UNITS_MAX = 1024 * 1024;

export interface StateLines {
  /** @param line waits for its state, which the library sends next */
  checkpoint(line: JsonObject): void;
  state(line: JsonObject): void;
  /** Call before anything else is sent. */
  readonly flush: () => void;
}

export function createStateLines(emit: (event: RunEvent) => void): StateLines {
  let waiting: JsonObject | null = null;
  const flush = (): void => {
    if (waiting !== null) emit({ name: `${PROTOCOL_PREFIX}checkpoints`, data: JSON.stringify(waiting) });
    waiting = null;
  };
  return {
    checkpoint(line) {
      flush();
      waiting = line;
    },
    state(line) {
      const data = JSON.stringify(line);
      if (data.length > STATE_UNITS_MAX) {
        waiting = null; // state-lines.1
        return;
      }
      flush();
      emit({ name: `${PROTOCOL_PREFIX}values`, data });
    },
    flush,
  };
}
