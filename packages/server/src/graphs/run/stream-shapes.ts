// Stream shapes: chunks of LangGraph in the clients' form: configs without internal names, tasks with their
// `checkpoint`, and the stored interrupts in place of the library's own.
import { type Json, type JsonObject, isJsonObject } from "@holdpoint/base/json/json.ts";

export interface LibraryTaskChunk {
  readonly interrupts?: readonly unknown[];
  readonly state?: unknown;
}

interface CheckpointChunk {
  readonly config: unknown;
  readonly parentConfig?: unknown;
  readonly tasks: readonly LibraryTaskChunk[];
}

export type DebugChunk =
  | { readonly type: "checkpoint"; readonly payload: CheckpointChunk }
  | { readonly type: "task" | "task_result"; readonly payload: LibraryTaskChunk };

export function isCheckpoint(payload: unknown): payload is CheckpointChunk {
  return typeof payload === "object" && payload !== null && "tasks" in payload;
}

/**
 * A saved superstep: configs in the clients' form, `checkpoint` beside each, and no interrupt of an earlier run.
 */
export function checkpointChunk({ parentConfig, ...chunk }: CheckpointChunk): object {
  return {
    ...chunk,
    config: shownConfig(chunk.config),
    parent_config: shownConfig(parentConfig),
    checkpoint: checkpointIn(chunk.config),
    parent_checkpoint: checkpointIn(parentConfig),
    tasks: chunk.tasks.map((task) => ({ ...withTaskCheckpoint(task), interrupts: [] })),
  };
}

/** A task with a subgraph names the place of its state; clients know that as `checkpoint`. */
export function withTaskCheckpoint({ state, ...task }: LibraryTaskChunk): object {
  const checkpoint = checkpointIn(state);
  if (checkpoint !== null) return { ...task, checkpoint };
  return state === undefined ? task : { ...task, state };
}

function readConfigurable(config: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof config !== "object" || config === null || !("configurable" in config)) return null;
  const { configurable } = config;
  return typeof configurable === "object" && configurable !== null ? { ...configurable } : null;
}

function checkpointIn(config: unknown): object | null {
  const found = readConfigurable(config);
  if (typeof found?.["thread_id"] !== "string") return null;
  const { thread_id, checkpoint_ns = "", checkpoint_id = null, checkpoint_map = null } = found;
  return { thread_id, checkpoint_id, checkpoint_ns, checkpoint_map };
}

/** The client's members and the ids, without internal ones of the server and LangGraph. */
function shownConfig(config: unknown): unknown {
  const configurable = readConfigurable(config);
  if (configurable === null) return config;
  const { callbacks: _callbacks, ...rest } = config as Readonly<Record<string, unknown>>;
  const shown = Object.entries(configurable).filter(
    ([name]) => !name.startsWith("__") && !name.startsWith("langgraph_auth"),
  );
  return { ...rest, configurable: Object.fromEntries(shown) };
}

/** The interrupts of the run in place of LangGraph's own, wherever it lists those. */
export function withQuestions(json: Json, questions: ReadonlyMap<string, JsonObject>): Json {
  if (Array.isArray(json)) return json.map((item) => withQuestions(item, questions));
  if (!isJsonObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json).map(([key, member]) => [
      key,
      (key === "__interrupt__" || key === "interrupts") && Array.isArray(member)
        ? member.flatMap((raised) => questionFor(raised, questions))
        : withQuestions(member, questions),
    ]),
  );
}

function questionFor(raised: Json, questions: ReadonlyMap<string, JsonObject>): readonly Json[] {
  const id = isJsonObject(raised) ? raised["id"] : undefined;
  if (typeof id !== "string") return [raised];
  const question = questions.get(id);
  return question === undefined ? [] : [question];
}
