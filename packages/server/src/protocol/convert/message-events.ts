// Message events: the messages of a REST stream → `messages` events of the thread protocol, with the parts that
// are open between the lines of a run.
// Invariants:
//   - The result depends on the earlier lines of the run alone: every process and every replay makes the same.
//   message-events.2. A message ends with the whole message, with the next root state, or with its run. Blocks of one
//     message do not overlap.
//   message-events.3. A run that streams both forms of messages is shown by the first one.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Namespace } from "./channel.ts";
import { buildDelta, isChunk, type MessagePart, listMessageParts, startBlock, wholeBlock } from "./message-parts.ts";

export interface MessageEvent {
  readonly namespace: Namespace;
  readonly node: string | null;
  readonly data: JsonObject;
}

interface OpenMessage {
  readonly id: string;
  readonly namespace: Namespace;
  readonly node: string | null;
  /** In the order of their begin; the last one is open. */
  readonly parts: readonly MessagePart[];
  readonly usage: Json;
  readonly reason: Json;
}

type Metadata = Pick<OpenMessage, "namespace" | "node">;

/** The open messages of a run after a line. Immutable. */
export interface OpenMessages {
  readonly form: "messages" | "messages/partial" | null;
  readonly open: ReadonlyMap<string, OpenMessage>;
  /** Metadata of messages that `messages/metadata` announced. */
  readonly announced: ReadonlyMap<string, Metadata>;
}

export const NO_MESSAGES: OpenMessages = { form: null, open: new Map(), announced: new Map() };

export interface Told {
  readonly after: OpenMessages;
  readonly events: readonly MessageEvent[];
}

/** @param mode of the line: `messages`, `messages/partial`, … */
export function messageLine(before: OpenMessages, mode: string, text: string): Told {
  const json = JSON.parse(text) as Json;
  if (mode === "messages/metadata") return announce(before, json);
  if (mode === "messages/complete") return visitEach(before, json, finishWhole);
  const form = mode === "messages" ? "messages" : "messages/partial";
  if (before.form !== null && before.form !== form) return { after: before, events: [] }; // message-events.3
  const now = { ...before, form } as const;
  if (form === "messages/partial") return visitEach(now, json, (all, message) => grow(all, message, true));
  const [message, metadata] = Array.isArray(json) ? (json as readonly Json[]) : [];
  if (!isJsonObject(message) || typeof message["id"] !== "string") return { after: now, events: [] };
  const known = { ...now, announced: new Map([...now.announced, [message["id"], readPlace(metadata)]]) };
  return isChunk(message) ? grow(known, message, false) : finishWhole(known, message);
}

/** The end of all open messages (message-events.2). @param max events */
export function finishOpen(before: OpenMessages, max: number): Told {
  const events = [...before.open.values()].flatMap(finish);
  const ends = events.length <= max ? events : events.filter(({ data }) => data["event"] === "message-finish");
  return { after: { ...before, open: new Map(), announced: new Map() }, events: ends.slice(0, max) };
}

function visitEach(before: OpenMessages, json: Json, take: (all: OpenMessages, message: JsonObject) => Told): Told {
  let after = before;
  const events: MessageEvent[] = [];
  for (const message of Array.isArray(json) ? (json as readonly Json[]) : []) {
    if (!isJsonObject(message) || typeof message["id"] !== "string") continue;
    const told = take(after, message);
    ({ after } = told);
    events.push(...told.events);
  }
  return { after, events };
}

function announce(before: OpenMessages, json: Json): Told {
  const announced = new Map(before.announced);
  for (const [id, value] of Object.entries(isJsonObject(json) ? json : {})) {
    announced.set(id, readPlace(isJsonObject(value) ? value["metadata"] : undefined));
  }
  return { after: { ...before, announced }, events: [] };
}

function readPlace(metadata: Json | undefined): Metadata {
  const { langgraph_checkpoint_ns: ns, langgraph_node: node } = isJsonObject(metadata) ? metadata : {};
  return {
    namespace: typeof ns === "string" && ns !== "" ? ns.split("|") : [],
    node: typeof node === "string" ? node : null,
  };
}

function readMessageId({ id }: JsonObject): string {
  return typeof id === "string" ? id : "";
}

const ROOT: Metadata = { namespace: [], node: null };

function newMessage(all: OpenMessages, message: JsonObject): OpenMessage {
  const id = readMessageId(message);
  return { id, ...(all.announced.get(id) ?? ROOT), parts: [], usage: null, reason: null };
}

/** @param isSoFar the message has all text until now, otherwise only the addition */
function grow(all: OpenMessages, message: JsonObject, isSoFar: boolean): Told {
  const id = readMessageId(message);
  const known = all.open.get(id);
  const begun = known ?? newMessage(all, message);
  const events: MessageEvent[] = known === undefined ? [buildEvent(begun, startData(begun, message))] : [];
  let parts = begun.parts;
  for (const part of listMessageParts(message)) {
    const at = parts.findIndex(({ key }) => key === part.key);
    const before = parts[at]?.text ?? "";
    const added = isSoFar ? part.text.slice(before.length) : part.text;
    if (at >= 0 && at < parts.length - 1) continue; // its block is finished (message-events.2)
    if (at < 0) {
      events.push(...finishLast(begun, parts));
      parts = [...parts, { ...part, text: "" }];
      events.push(
        buildEvent(begun, { event: "content-block-start", index: parts.length - 1, content: startBlock(part) }),
      );
    }
    if (added === "") continue;
    parts = parts.with(parts.length - 1, { ...parts.at(-1), ...part, text: before + added });
    const delta = buildDelta(part, added);
    events.push(buildEvent(begun, { event: "content-block-delta", index: parts.length - 1, delta }));
  }
  const grown = { ...begun, parts, ...readEnd(message, begun) };
  return { after: { ...all, open: new Map([...all.open, [id, grown]]) }, events };
}

function startData({ id }: OpenMessage, message: JsonObject): JsonObject {
  const { type, tool_call_id: callId, name } = message;
  return {
    event: "message-start",
    id,
    role: typeof type === "string" && type !== "" ? type : "ai",
    ...(typeof callId === "string" ? { tool_call_id: callId } : {}),
    ...(typeof name === "string" && name !== "" ? { name } : {}),
  };
}

function readEnd(message: JsonObject, before: OpenMessage): Pick<OpenMessage, "usage" | "reason"> {
  const metadata = isJsonObject(message["response_metadata"]) ? message["response_metadata"] : {};
  return {
    usage: message["usage_metadata"] ?? before.usage,
    reason: metadata["finish_reason"] ?? metadata["stop_reason"] ?? before.reason,
  };
}

/** A message that is shown whole: the rest of one that is open, or all of one that was not streamed. */
function finishWhole(all: OpenMessages, message: JsonObject): Told {
  const id = readMessageId(message);
  const known = all.open.get(id);
  const open = new Map(all.open);
  open.delete(id);
  const announced = new Map(all.announced);
  announced.delete(id);
  const after = { ...all, open, announced };
  if (known !== undefined) return { after, events: finish({ ...known, ...readEnd(message, known) }) };
  if (message["type"] !== "ai" && message["type"] !== "tool") return { after, events: [] }; // input of the run
  const made = { ...newMessage(all, message), parts: listMessageParts(message) };
  const whole = { ...made, ...readEnd(message, made) };
  const blocks = whole.parts.length > WHOLE_BLOCKS_MAX ? [] : whole.parts.flatMap((_, at) => wholeEvents(whole, at));
  return { after, events: [buildEvent(whole, startData(whole, message)), ...blocks, messageFinish(whole)] };
}

/** The events of a line have 16 numbers. */
const WHOLE_BLOCKS_MAX = 7;

function wholeEvents(message: OpenMessage, index: number): readonly MessageEvent[] {
  const part = message.parts[index];
  if (part === undefined) return [];
  const begin = buildEvent(message, { event: "content-block-start", index, content: startBlock(part) });
  return [begin, buildEvent(message, { event: "content-block-finish", index, content: wholeBlock(part) })];
}

function finish(message: OpenMessage): readonly MessageEvent[] {
  return [...finishLast(message, message.parts), messageFinish(message)];
}

function finishLast(message: OpenMessage, parts: readonly MessagePart[]): readonly MessageEvent[] {
  const last = parts.at(-1);
  if (last === undefined) return [];
  return [buildEvent(message, { event: "content-block-finish", index: parts.length - 1, content: wholeBlock(last) })];
}

function messageFinish(message: OpenMessage): MessageEvent {
  const { usage, reason } = message;
  return buildEvent(message, {
    event: "message-finish",
    ...(typeof reason === "string" ? { reason } : {}),
    ...(isJsonObject(usage) ? { usage } : {}),
  });
}

/** REST streams do not name the call of the model: the message stands for it. */
function buildEvent({ id, namespace, node }: OpenMessage, data: JsonObject): MessageEvent {
  const isStart = data["event"] === "message-start";
  return { namespace, node, data: { ...data, run_id: id, ...(isStart ? {} : { message_id: id }) } };
}
