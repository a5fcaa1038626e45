// Written messages: messages while a model writes them, from events of the thread protocol. REST streams of runs that a front end
// started over it have whole messages only. Pure.
// Invariants:
//   thread/written-messages.1. A replay from the begin of a message gives the same message.
//   thread/written-messages.2. Events of other runs, and of unknown kinds, change nothing.
import type { Members } from "./live.ts";

/** Messages by id, in start order, in the form of `Live.writing`. */
export type MessagesById = ReadonlyMap<string, Members>;

export const SILENCE: MessagesById = new Map();

/** @param data the envelope of an event in the channel `messages` */
export function withMessageEvent(messagesById: MessagesById, data: unknown, runId: string): MessagesById {
  const { event_id: eventId, params } = listMembers(data);
  if (typeof eventId !== "string" || !eventId.startsWith(`${runId}:`)) return messagesById; // thread/written-messages.2
  const { namespace, data: inner } = listMembers(params);
  const event = listMembers(inner);
  if (event["event"] === "message-start") {
    const { id, role = "ai" } = event;
    if (typeof id !== "string") return messagesById;
    const message = { id, type: role, name: formatPlace(namespace), content: [] };
    return new Map(messagesById).set(id, message); // thread/written-messages.1
  }
  const { message_id: id, index } = event;
  const message = typeof id === "string" ? messagesById.get(id) : undefined;
  if (typeof id !== "string" || message === undefined || typeof index !== "number") return messagesById;
  const blocks = message["content"] as readonly Members[];
  const block = blockAfter(blocks[index], event);
  if (block === null || index > blocks.length) return messagesById;
  return new Map(messagesById).set(id, {
    ...message,
    content: [...blocks.slice(0, index), block, ...blocks.slice(index + 1)],
  });
}

function blockAfter(before: Members = {}, { event, content, delta }: Members): Members | null {
  if (event === "content-block-start" || event === "content-block-finish") return listMembers(content);
  if (event !== "content-block-delta") return null;
  const change = listMembers(delta);
  if (change["type"] === "block-delta") return { ...before, ...listMembers(change["fields"]) };
  const grown = (["text", "reasoning", "args", "data"] as const).find((name) => typeof change[name] === "string");
  return grown === undefined ? null : { ...before, [grown]: asText(before[grown]) + asText(change[grown]) };
}

/** The subgraphs that a message comes from: ["outer:<task>", "inside:<task>", "model:<task>"] → "outer › inside". */
function formatPlace(namespace: unknown): string | null {
  const path = Array.isArray(namespace) ? namespace.slice(0, -1).map((part) => String(part).replace(/:.*$/, "")) : [];
  return path.length === 0 ? null : path.join(" › ");
}

const asText = (value: unknown): string => (typeof value === "string" ? value : "");

function listMembers(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}
