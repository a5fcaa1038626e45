// Convert line: an event of a run's log → protocol events. Pure; converted-row.ts adds values from storage later.
// Invariants:
//   - The result depends on the line, its place, and the messages that earlier lines of the run left open:
//     every process and every replay makes the same.
//   - A run that REST or a cron started is shown from its log: begin, end, questions, root states, and of its other
//     stream modes updates, tasks, custom, messages and the states of subgraphs.
//   - The numbers of a line's events leave room for the ends of messages before its state, so that they do not depend
//     on the number of these.
//   - No event of a checkpoint, or after it, is older than the checkpoint: pages skip older ones.
import { type Json, isJsonObject } from "@holdpoint/base/json/json.ts";
import type { EndMark } from "../../events/end-mark.ts";
import { AT_END, END, type LoggedEvent } from "../../events/event-batch.ts";
import { NOTE_END, type ThreadNote } from "../../events/thread-note.ts";
import { GONE_LINES, PROTOCOL_PREFIX, type ProtocolLine, type ProtocolMethod } from "../../model/protocol-lines.ts";
import { nameChannel, type Namespace } from "./channel.ts";
import { toSeq } from "./event-place.ts";
import { endData, endId, requestedId, runningData, runningId } from "./root-lifecycle.ts";
import { finishOpen, type MessageEvent, messageLine, NO_MESSAGES, type OpenMessages } from "./message-events.ts";
import { type EventParts, type Gate, type WireEvent, wireEvent, withParams } from "./wire-event.ts";

/** A lookup in storage: the state of a checkpoint with the event before it, or a question. */
export type Draft =
  | { readonly kind: "event"; readonly event: WireEvent }
  | {
      readonly kind: "state";
      readonly checkpointId: string;
      readonly checkpoints: EventParts;
      readonly values: EventParts;
    }
  | { readonly kind: "question"; readonly interruptId: string; readonly parts: EventParts };

export interface LinePlace {
  readonly runId: string;
  /** Number of the row, and of the event in it. */
  readonly row: number;
  readonly index: number;
  /** Time of the row. */
  readonly at: number;
}

const NO_DRAFTS: readonly Draft[] = [];

/** Numbers of a line's events. */
const STATE_PART = 14;
const STATE_PART_AT_END = 64;

export interface Converted {
  readonly drafts: readonly Draft[];
  readonly after: OpenMessages;
}

export function convertLine(place: LinePlace, event: LoggedEvent, open: OpenMessages): Converted {
  const { name, text, reference } = event;
  const [mode = ""] = name.split("|");
  if (mode === "metadata") return { drafts: convertDrafts(place, event), after: NO_MESSAGES }; // an attempt begins
  if (mode.startsWith("messages")) {
    if (text === null) return { drafts: NO_DRAFTS, after: open };
    const { events, after } = messageLine(open, mode, text);
    return { drafts: events.map((one, part) => messageDraft(place, event, one, part)), after };
  }
  const isState = name === "values" && reference !== AT_END;
  if (open.open.size === 0 || (!isState && name !== END)) return { drafts: convertDrafts(place, event), after: open };
  const { events, after } = finishOpen(open, isState ? STATE_PART : STATE_PART_AT_END);
  const ends = events.map((one, part) => messageDraft(place, event, one, part));
  return { drafts: [...ends, ...convertDrafts(place, event)], after };
}

function messageDraft(
  place: LinePlace,
  event: LoggedEvent,
  { namespace, node, data }: MessageEvent,
  part: number,
): Draft {
  const parts = {
    ...toParts(place, event, part, "messages"),
    id: `${place.runId}:${event.id}:message:${part}`,
    namespace,
  };
  return { kind: "event", event: wireEvent({ ...parts, ...(node === null ? {} : { node }) }, JSON.stringify(data)) };
}

function convertDrafts(place: LinePlace, event: LoggedEvent): readonly Draft[] {
  const { name, text, reference } = event;
  if (name === NOTE_END) return ending(place, event, JSON.parse(text ?? "{}") as EndMark);
  if (name === GONE_LINES) return NO_DRAFTS;
  if (name.startsWith(PROTOCOL_PREFIX)) return text === null ? NO_DRAFTS : [fromLine(place, event, text)];
  const [mode = "", ...namespace] = name.split("|");
  if (mode === "values") {
    if (reference === AT_END || text?.includes('"__interrupt__"') === true) return NO_DRAFTS;
    if (reference !== null) return [stateDraft(place, event, reference, STATE_PART)];
  }
  if (text === null) return NO_DRAFTS;
  if (mode === "metadata") return running(place, text);
  if (mode === END) return ending(place, event, JSON.parse(text) as EndMark);
  return fromMode({ place, event, mode, namespace }, text);
}

function toParts(
  place: LinePlace,
  { id }: LoggedEvent,
  part: number,
  method: ProtocolMethod,
): Omit<EventParts, "gate"> {
  const { row, index, runId } = place;
  const own = part === 0 ? `${runId}:${id}` : `${runId}:${id}:${part}`;
  return { seq: toSeq(row, index, part), id: own, method, namespace: [], timestamp: place.at };
}

/** Methods that are their own channel and have no note: the data, which may be long, is not parsed. */
const PLAIN_METHODS: ReadonlySet<ProtocolMethod> = new Set([
  "values",
  "updates",
  "messages",
  "tools",
  "lifecycle",
  "checkpoints",
  "tasks",
]);
const HEAD = /^\{"namespace":(\[(?:"(?:[^"\\]|\\.)*",?)*\]),"timestamp":(\d+),/;

/** A line of a run over the protocol, or a note: its text has the parameters of the event as they are. */
function fromLine(place: LinePlace, event: LoggedEvent, text: string): Draft {
  const method = event.name.slice(PROTOCOL_PREFIX.length) as ProtocolMethod;
  const head = PLAIN_METHODS.has(method) ? HEAD.exec(text) : null;
  if (head !== null) {
    const namespace = JSON.parse(head[1] ?? "[]") as Namespace;
    const parts = { ...toParts(place, event, 0, method), namespace, timestamp: Number(head[2]) };
    return { kind: "event", event: withParams(parts, text, method) };
  }
  const { namespace, timestamp, data, note } = JSON.parse(text) as ProtocolLine & { readonly note?: ThreadNote };
  const parts = { ...toParts(place, event, 0, method), namespace, timestamp };
  const channel = nameChannel(method, data);
  if (note === undefined) return { kind: "event", event: withParams(parts, text, channel) };
  const gate: Gate = { kind: "closed", interruptIds: idsIn(data) };
  return { kind: "event", event: wireEvent({ ...parts, id: note.id, gate }, JSON.stringify(data), channel) };
}

function running(place: LinePlace, text: string): readonly Draft[] {
  const { run_id: runId, attempt } = JSON.parse(text) as { readonly run_id: string; readonly attempt: number };
  const parts: EventParts = {
    seq: toSeq(place.row, place.index, 0),
    id: runningId(runId, attempt),
    method: "lifecycle",
    namespace: [],
    timestamp: place.at,
    gate: { kind: "run", runId },
  };
  return [{ kind: "event", event: wireEvent(parts, JSON.stringify(runningData(runId, attempt))) }];
}

function idsIn(data: Json): readonly string[] {
  const ids = isJsonObject(data) ? data["interrupt_ids"] : null;
  return Array.isArray(ids) ? ids.map(String) : [];
}

/** The state where none was streamed, the questions that the end closed, each open question, the end of the run. */
function ending(place: LinePlace, event: LoggedEvent, mark: EndMark): readonly Draft[] {
  const timestamp = Math.max(mark.at, place.at);
  const state =
    mark.no_values === true && typeof mark.checkpoint_id === "string"
      ? [stateDraft(place, event, mark.checkpoint_id, STATE_PART_AT_END)]
      : NO_DRAFTS;
  const closed = mark.closed ?? [];
  const answered: EventParts = {
    ...toParts(place, event, STATE_PART_AT_END + 2, "input.answered"),
    id: `${closed[0] ?? ""}:${mark.run_id}:answered`,
    timestamp,
    gate: { kind: "closed", interruptIds: closed },
  };
  const data = JSON.stringify({ interrupt_ids: closed, how: "abandoned" });
  const left: readonly Draft[] =
    closed.length === 0 ? [] : [{ kind: "event", event: wireEvent(answered, data, "input") }];
  const questions = (mark.open ?? []).map((interruptId, at): Draft => {
    const parts: EventParts = {
      ...toParts(place, event, STATE_PART_AT_END + 3 + at, "input.requested"),
      id: requestedId(mark, interruptId),
      timestamp,
      gate: { kind: "question", interruptId, runId: mark.run_id },
    };
    return { kind: "question", interruptId, parts };
  });
  const parts: EventParts = {
    ...toParts(place, event, STATE_PART_AT_END + 3 + questions.length, "lifecycle"),
    id: endId(mark),
    timestamp,
    gate: { kind: "run", runId: mark.run_id },
  };
  return [...state, ...left, ...questions, { kind: "event", event: wireEvent(parts, JSON.stringify(endData(mark))) }];
}

function stateDraft(place: LinePlace, event: LoggedEvent, checkpointId: string, part: number): Draft {
  const seq = toSeq(place.row, place.index, part);
  const values = { ...toParts(place, event, 0, "values"), seq: seq + 1 };
  return { kind: "state", checkpointId, checkpoints: { ...toParts(place, event, 1, "checkpoints"), seq }, values };
}

interface ModeEvent {
  readonly place: LinePlace;
  readonly event: LoggedEvent;
  readonly mode: string;
  readonly namespace: Namespace;
}

function fromMode({ place, event, mode, namespace }: ModeEvent, text: string): readonly Draft[] {
  const made = (method: ProtocolMethod, part: number, data: Json | string, channel?: string): Draft => {
    const isRootState = method === "values" && namespace.length === 0;
    const seq = toSeq(place.row, place.index, isRootState ? STATE_PART + 1 : part);
    const parts = { ...toParts(place, event, part, method), seq, namespace };
    return { kind: "event", event: wireEvent(parts, typeof data === "string" ? data : JSON.stringify(data), channel) };
  };
  switch (mode) {
    case "values":
      return [made("values", 0, text)];
    case "tasks":
      return [made("tasks", 0, text)];
    case "custom": {
      const written = JSON.parse(text) as Json;
      const named = typeof written === "object" && written !== null && "name" in written;
      const data = named ? written : { payload: written };
      return [made("custom", 0, data, nameChannel("custom", data))];
    }
    case "updates": {
      const written = JSON.parse(text) as Readonly<Record<string, Json>>;
      if ("__interrupt__" in written) return NO_DRAFTS;
      return Object.entries(written).map(([node, values], at) => {
        const shown =
          typeof values === "object" && values !== null && !Array.isArray(values) ? values : { value: values };
        return made("updates", Math.min(at, 15), { node, values: shown });
      });
    }
    default:
      return NO_DRAFTS;
  }
}
