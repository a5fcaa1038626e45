// Stream events: LangGraph's chunks → the events for clients, mode by mode.
// Invariants:
//   stream-events.1. Events that show a pause wait until the pause is stored; all others go out at once.
//   stream-events.2. Interrupts appear with the server's ids. Interrupts of earlier runs do not appear again.
//   stream-events.3. An event becomes text at once: later changes by a node are not in it.
//   stream-events.4. `messages/complete` follows the `values` it comes from, as in the reference.
import type { StreamMode, StreamRequest } from "../../agent/model/model.ts";
import type { HeldEvent, RunEvent } from "../../agent/ports/ports.ts";
import { type Json, type JsonObject, isJsonObject } from "../../base/json/json.ts";
import type { Codec } from "../checkpoints/codec/value-codec.ts";
import type { RawEvent } from "../langgraph/compiled-graph.ts";
import type { Library } from "../langgraph/library.ts";
import { createMessageEvents } from "./message-events.ts";
import { createProtocolEvents } from "./protocol/protocol-events.ts";
import { type Chunk, isPause } from "./stream-modes.ts";

export interface StreamEvents {
  chunk(chunk: Chunk): void;
  raw(event: RawEvent): void;
  /** The graph runs again from its interrupt: events that showed it no longer count. */
  again(): void;
  held(): readonly HeldEvent[];
  /** The graph ended without a pause. */
  ended(how: "completed" | "failed" | "interrupted"): void;
}

/** @param checkpointOf the checkpoint with exactly this state, if one is saved */
export function createStreamEvents(
  { library, codec }: { readonly library: Library; readonly codec: Codec },
  request: StreamRequest,
  checkpointOf: (values: unknown) => string | null,
  emit: (event: RunEvent) => void,
): StreamEvents {
  const asked = new Set<StreamMode>(request.modes);
  let held: HeldEvent[] = [];
  // stream-events.3
  const tell = (name: string, payload: unknown): void => emit({ name, data: codec.wireText(payload) });
  const hold = (name: string, payload: unknown): void => {
    const json = codec.toWire(payload);
    // stream-events.1, stream-events.2
    held.push({ name, text: (questions) => JSON.stringify(withQuestions(json, questions)) });
  };
  const messages = createMessageEvents(library, tell);
  const protocol =
    request.protocol === true
      ? createProtocolEvents(codec, {
          emit,
          hold: (name, json) =>
            void held.push({ name, text: (questions) => JSON.stringify(withQuestions(json, questions)) }),
          now: Date.now,
        })
      : null;

  const takeValues = (name: string, payload: unknown, atRoot: boolean): void => {
    if (isPause(payload)) {
      if (!atRoot && asked.has("values")) hold(name, payload); // the root's own event comes with the end of the run
      return;
    }
    if (asked.has("values")) {
      const reference = atRoot ? checkpointOf(payload) : null;
      const text = (): string => codec.wireText(payload);
      emit({ name, data: reference === null ? text() : { reference, text } });
    }
    if (atRoot && asked.has("messages")) messages.state(payload); // stream-events.4
  };

  const takeTask = (name: string, task: LibraryTaskChunk): void => {
    const shown = withCheckpointOf(task);
    if (task.interrupts?.length) hold(name, shown);
    else tell(name, shown);
  };

  const takeDebug = (name: string, chunk: DebugChunk): void => {
    if (chunk.type === "checkpoint") tell(name, { ...chunk, payload: checkpointChunk(chunk.payload) });
    else if (chunk.payload.interrupts?.length) hold(name, { ...chunk, payload: withCheckpointOf(chunk.payload) });
    else tell(name, { ...chunk, payload: withCheckpointOf(chunk.payload) });
  };

  return {
    chunk({ ns, mode, payload }) {
      const atRoot = ns.length === 0;
      if (protocol !== null) {
        protocol.chunk({ ns, mode, payload });
        if (mode !== "values" || !atRoot) return; // its REST readers see its states
      }
      const name = atRoot ? mode : `${mode}|${ns.join("|")}`;
      switch (mode) {
        case "values":
          return takeValues(name, payload, atRoot);
        case "messages": {
          const [message, metadata] = payload as readonly [unknown, unknown];
          if (asked.has("messages-tuple")) tell(name, payload);
          if (asked.has("messages")) messages.token(message, metadata);
          return;
        }
        case "updates":
          if (!isPause(payload)) tell(name, payload);
          else if (!atRoot) hold(name, payload);
          return;
        case "tasks":
          if (asked.has("tasks")) takeTask(name, payload as LibraryTaskChunk);
          return;
        case "checkpoints":
          // LangGraph adds an unrequested short form before values.
          if (asked.has("checkpoints") && isCheckpoint(payload)) tell(name, checkpointChunk(payload));
          return;
        case "debug":
          return takeDebug(name, payload as DebugChunk);
        default:
          if (asked.has(mode as StreamMode)) tell(name, payload);
      }
    },
    raw(event) {
      if (event.tags?.includes("langsmith:hidden") === true) return;
      if (showsPause(event.data)) hold("events", event);
      else tell("events", event);
    },
    again() {
      held = [];
    },
    held: () => held,
    ended: (how) => protocol?.ended(how),
  };
}

interface LibraryTaskChunk {
  readonly interrupts?: readonly unknown[];
  readonly state?: unknown;
}

interface CheckpointChunk {
  readonly config: unknown;
  readonly parentConfig?: unknown;
  readonly tasks: readonly LibraryTaskChunk[];
}

type DebugChunk =
  | { readonly type: "checkpoint"; readonly payload: CheckpointChunk }
  | { readonly type: "task" | "task_result"; readonly payload: LibraryTaskChunk };

function isCheckpoint(payload: unknown): payload is CheckpointChunk {
  return typeof payload === "object" && payload !== null && "tasks" in payload;
}

/**
 * A saved superstep: configs in the clients' form, `checkpoint` beside each, and no interrupt of an earlier run
 * (stream-events.2).
 */
function checkpointChunk({ parentConfig, ...chunk }: CheckpointChunk): object {
  return {
    ...chunk,
    config: shownConfig(chunk.config),
    parent_config: shownConfig(parentConfig),
    checkpoint: checkpointIn(chunk.config),
    parent_checkpoint: checkpointIn(parentConfig),
    tasks: chunk.tasks.map((task) => ({ ...withCheckpointOf(task), interrupts: [] })),
  };
}

/** A task with a subgraph names the place of its state; clients know that as `checkpoint`. */
function withCheckpointOf({ state, ...task }: LibraryTaskChunk): object {
  const checkpoint = checkpointIn(state);
  if (checkpoint !== null) return { ...task, checkpoint };
  return state === undefined ? task : { ...task, state };
}

function configurableOf(config: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof config !== "object" || config === null || !("configurable" in config)) return null;
  const { configurable } = config;
  return typeof configurable === "object" && configurable !== null ? { ...configurable } : null;
}

function checkpointIn(config: unknown): object | null {
  const found = configurableOf(config);
  if (typeof found?.["thread_id"] !== "string") return null;
  const { thread_id, checkpoint_ns = "", checkpoint_id = null, checkpoint_map = null } = found;
  return { thread_id, checkpoint_id, checkpoint_ns, checkpoint_map };
}

/** The client's members and the ids, without internal ones of the server and LangGraph. */
function shownConfig(config: unknown): unknown {
  const configurable = configurableOf(config);
  if (configurable === null) return config;
  const { callbacks: _callbacks, ...rest } = config as Readonly<Record<string, unknown>>;
  const shown = Object.entries(configurable).filter(
    ([name]) => !name.startsWith("__") && !name.startsWith("langgraph_auth"),
  );
  return { ...rest, configurable: Object.fromEntries(shown) };
}

/** True if a chunk of a graph at any depth shows a pause. */
function showsPause({ chunk }: RawEvent["data"]): boolean {
  return isPause(chunk) || (Array.isArray(chunk) && chunk.some(isPause));
}

/** The interrupts of the run in place of LangGraph's own, wherever it lists those. */
function withQuestions(json: Json, questions: ReadonlyMap<string, JsonObject>): Json {
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
