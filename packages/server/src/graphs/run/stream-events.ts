// Stream events: LangGraph's chunks → the events for clients, mode by mode.
// Invariants:
//   - Events that show a pause wait until the pause is stored; all others go out at once.
//   - Interrupts appear with the server's ids. Interrupts of earlier runs do not appear again.
//   - An event becomes text at once: later changes by a node are not in it.
//   - `messages/complete` follows the `values` it comes from, as in the reference.
//   - With the mode `lifecycle` LangGraph streams subgraphs. Whoever has not asked for their other events sees what LangGraph
//     streams without them: no event, but custom events of theirs among the root's.
import type { ErrorInfo, StreamMode, StreamRequest } from "../../model/model.ts";
import type { HeldEvent, RunSink } from "../../ports/ports.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Codec } from "../checkpoints/codec/value-codec.ts";
import type { RawEvent } from "../langgraph/compiled-graph.ts";
import type { Library } from "../langgraph/library.ts";
import { type Chunk, isPause } from "../langgraph/stream-chunk.ts";
import { createLifecycleEvents } from "./lifecycle-events.ts";
import { createExtensions } from "./protocol/extension-channels.ts";
import type { GraphEnd } from "./protocol/child-lifecycle.ts";
import { createProtocolEvents } from "./protocol/protocol-events.ts";
import {
  type DebugChunk,
  type LibraryTaskChunk,
  checkpointChunk,
  isCheckpoint,
  withTaskCheckpoint,
  withQuestions,
} from "./stream-shapes.ts";
import type { BaseMessage, BaseMessageChunk } from "@langchain/core/messages";

export interface StreamEvents {
  chunk(chunk: Chunk): void;
  raw(event: RawEvent): void;
  /** The graph runs again from its interrupt: events that showed it no longer count. */
  again(): void;
  held(): readonly HeldEvent[];
  /** The graph paused or ended by itself: the last output of its stream transformers. */
  closing(): Promise<void>;
  /** The graph ended, and asks nothing. */
  ended(how: GraphEnd, error?: ErrorInfo): void;
}

interface EventStream {
  readonly codec: Codec;
  readonly asked: ReadonlySet<StreamMode>;
  readonly findCheckpoint: (values: unknown) => string | null;
  readonly emit: RunSink["emit"];
  held: HeldEvent[];
}

export interface EventSources {
  readonly library: Library;
  readonly codec: Codec;
  /** Factories of stream transformers that the graph was compiled with. */
  readonly transformers: unknown;
}

/** @param findCheckpoint the checkpoint with exactly this state, if one is saved */
export function createStreamEvents(
  { library, codec, transformers }: EventSources,
  request: StreamRequest,
  findCheckpoint: (values: unknown) => string | null,
  { emit }: Pick<RunSink, "emit">,
): StreamEvents {
  const stream: EventStream = { codec, asked: new Set(request.modes), findCheckpoint, emit, held: [] };
  const messages = createMessageEvents(library, (name, payload) => send(stream, name, payload));
  const holdLine = (name: string, json: Json): void => holdJson(stream, name, json);
  const protocolOutput = { emit, hold: holdLine, now: Date.now };
  const protocol = request.protocol === true ? createProtocolEvents(codec, protocolOutput) : null;
  const output = { send: (name: string, json: Json) => emit({ name, data: JSON.stringify(json) }), hold: holdLine };
  const lifecycle = stream.asked.has("lifecycle") ? createLifecycleEvents(output) : null;
  const foldsSubgraphs = lifecycle !== null && !request.subgraphs;
  const extensions = protocol === null ? null : createExtensions(transformers, library.langgraph, protocol.extension);
  return {
    chunk(chunk) {
      extensions?.chunk(chunk);
      protocol?.chunk(chunk);
      lifecycle?.chunk(chunk);
      const shown = foldsSubgraphs ? atRoot(chunk) : chunk;
      const isRootState = chunk.mode === "values" && chunk.ns.length === 0;
      if (shown !== null && (protocol === null || isRootState)) takeChunk(stream, messages, shown); // REST readers of the protocol see its states
    },
    raw(event) {
      if (event.tags?.includes("langsmith:hidden") === true) return;
      if (showsPause(event.data)) hold(stream, "events", event);
      else send(stream, "events", event);
    },
    again() {
      stream.held = [];
    },
    held: () => stream.held,
    async closing() {
      await extensions?.ended();
    },
    ended(how, error) {
      protocol?.ended(how);
      lifecycle?.ended(how, error ?? null);
    },
  };
}

/** The chunk as LangGraph streams it without subgraphs; null for one that it does not stream. */
function atRoot(chunk: Chunk): Chunk | null {
  if (chunk.ns.length === 0) return chunk;
  return chunk.mode === "custom" ? { ...chunk, ns: [] } : null;
}

function takeChunk(stream: EventStream, messages: MessageEvents, { ns, mode, payload }: Chunk): void {
  const { asked } = stream;
  const atRoot = ns.length === 0;
  const name = atRoot ? mode : `${mode}|${ns.join("|")}`;
  switch (mode) {
    case "values":
      takeValues(stream, name, payload, atRoot);
      if (atRoot && asked.has("messages") && !isPause(payload)) messages.state(payload);
      return;
    case "messages": {
      const [message, metadata] = payload as readonly [unknown, unknown];
      if (asked.has("messages-tuple")) send(stream, name, payload);
      if (asked.has("messages")) messages.token(message, metadata);
      return;
    }
    case "updates":
      if (!isPause(payload)) send(stream, name, payload);
      else if (!atRoot) hold(stream, name, payload);
      return;
    case "tasks":
      if (asked.has("tasks")) takeTask(stream, name, payload as LibraryTaskChunk);
      return;
    case "checkpoints":
      // LangGraph adds an unrequested short form before values.
      if (asked.has("checkpoints") && isCheckpoint(payload)) send(stream, name, checkpointChunk(payload));
      return;
    case "debug":
      return takeDebug(stream, name, payload as DebugChunk);
    default:
      if (asked.has(mode as StreamMode)) send(stream, name, payload);
  }
}

function takeValues(stream: EventStream, name: string, payload: unknown, atRoot: boolean): void {
  if (!stream.asked.has("values")) return;
  if (isPause(payload)) {
    if (!atRoot) hold(stream, name, payload); // the root's own event comes with the end of the run
    return;
  }
  const reference = atRoot ? stream.findCheckpoint(payload) : null;
  if (reference === null) return send(stream, name, payload);
  const { codec, emit } = stream;
  emit({ name, data: { reference, text: () => codec.clientText(payload) } });
}

function takeTask(stream: EventStream, name: string, task: LibraryTaskChunk): void {
  const shown = withTaskCheckpoint(task);
  if (task.interrupts?.length) hold(stream, name, shown);
  else send(stream, name, shown);
}

function takeDebug(stream: EventStream, name: string, chunk: DebugChunk): void {
  if (chunk.type === "checkpoint") send(stream, name, { ...chunk, payload: checkpointChunk(chunk.payload) });
  else if (chunk.payload.interrupts?.length)
    hold(stream, name, { ...chunk, payload: withTaskCheckpoint(chunk.payload) });
  else send(stream, name, { ...chunk, payload: withTaskCheckpoint(chunk.payload) });
}

function send({ codec, emit }: EventStream, name: string, payload: unknown): void {
  emit({ name, data: codec.clientText(payload) });
}

function hold(stream: EventStream, name: string, payload: unknown): void {
  holdJson(stream, name, stream.codec.toClientJson(payload));
}

function holdJson({ held }: EventStream, name: string, json: Json): void {
  held.push({ name, text: (questions) => JSON.stringify(withQuestions(json, questions)) });
}

/** True if a chunk of a graph at any depth shows a pause. */
function showsPause({ chunk }: RawEvent["data"]): boolean {
  return isPause(chunk) || (Array.isArray(chunk) && chunk.some(isPause));
}

/**
 * The tokens of chat models → the events of stream mode `messages`. messages/metadata announces a message,
 * messages/partial has all of it so far, and messages/complete the whole once it is in the state.
 */
interface MessageEvents {
  token(message: unknown, metadata: unknown): void;
  state(values: unknown): void;
}

function createMessageEvents(
  { messages }: Pick<Library, "messages">,
  emit: (name: string, payload: unknown) => void,
): MessageEvents {
  const growing = new Map<string, BaseMessageChunk>();
  const complete = new Set<string>();
  const isMessage = (value: unknown): value is BaseMessage => messages.BaseMessage.isInstance(value);
  return {
    token(message, metadata) {
      if (!isMessage(message) || !messages.isBaseMessageChunk(message) || message.id === undefined) return;
      const before = growing.get(message.id);
      if (before === undefined) emit("messages/metadata", { [message.id]: { metadata } });
      const sofar = before === undefined ? message : before.concat(message);
      growing.set(message.id, sofar);
      emit("messages/partial", [sofar]);
    },
    state(values) {
      if (typeof values !== "object" || values === null || !("messages" in values)) return;
      const list = Array.isArray(values.messages) ? (values.messages as unknown[]) : [values.messages];
      const fresh: BaseMessage[] = [];
      for (const message of list) {
        if (!isMessage(message) || message.id === undefined || complete.has(message.id)) continue;
        complete.add(message.id);
        growing.delete(message.id);
        fresh.push(message);
      }
      if (fresh.length > 0) emit("messages/complete", fresh);
    },
  };
}
