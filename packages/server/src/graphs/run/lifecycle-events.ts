// Lifecycle events: when the graphs below the root begin and end, for the stream mode `lifecycle`. They come with and
// without the other events of subgraphs.
// Invariants:
//   - An event has the form of the official client: `lifecycle|<namespace>`, with the tool call that started the graph, and
//     the error that ended it.
//   - The end of a graph that pauses waits until the pause is stored.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { ErrorInfo } from "../../model/model.ts";
import type { Chunk } from "../langgraph/stream-chunk.ts";
import { type GraphEnd, type Namespace, createChildLifecycle } from "./protocol/child-lifecycle.ts";
import { type StartedTask, createTaskCauses } from "./protocol/task-causes.ts";

export interface LifecycleEvents {
  chunk(chunk: Chunk): void;
  /** The root graph ended: the open ones end with it. */
  ended(how: GraphEnd, error: ErrorInfo | null): void;
}

/** What a graph streams of itself. A message or a tool streams under its graph, in other forms in older versions. */
const OWN_MODES: ReadonlySet<string> = new Set(["values", "updates", "tasks", "checkpoints"]);

interface TaskChunk extends StartedTask {
  readonly interrupts?: readonly unknown[];
  readonly error?: unknown;
}

type Write = (name: string, json: Json) => void;

export function createLifecycleEvents(output: { readonly send: Write; readonly hold: Write }): LifecycleEvents {
  const children = createChildLifecycle();
  const causes = createTaskCauses();
  const write = (ns: Namespace, event: GraphEnd | "started", error: ErrorInfo | null): void => {
    const cause = causes.of(ns)?.["tool_call_id"];
    const data: JsonObject = {
      event: event === "paused" ? "interrupted" : event,
      namespace: [...ns],
      ...(cause === undefined ? {} : { tool_call_id: cause }),
      ...(error === null ? {} : { error: { error: error.error, message: error.message } }),
    };
    output[event === "paused" ? "hold" : "send"](["lifecycle", ...ns].join("|"), data);
  };
  return {
    chunk({ ns, mode, payload }) {
      if (!OWN_MODES.has(mode)) return;
      for (const child of children.seen(ns)) write(child, "started", null);
      if (mode !== "tasks") return;
      const task = payload as TaskChunk;
      if ("triggers" in task) return causes.started(ns, task);
      const how = readEnd(task);
      const error = how === "failed" ? readError(task.error) : null;
      for (const child of children.ended([...ns, `${task.name}:${task.id}`])) write(child, how, error);
      causes.ended(ns, task);
    },
    ended(how, error) {
      for (const child of children.left()) write(child, how, error);
    },
  };
}

function readEnd({ interrupts = [], error }: TaskChunk): GraphEnd {
  if (interrupts.length > 0) return "paused";
  return error === undefined || error === null ? "completed" : "failed";
}

/** LangGraph shows what a task threw, or its name and message. */
function readError(thrown: unknown): ErrorInfo {
  const shown =
    isJsonObject(thrown) && typeof thrown["message"] === "string" ? Object.assign(new Error(), thrown) : thrown;
  const { name, message } = describeError(shown);
  return { error: name, message };
}
