// Spoken: messages while a model writes them, from events of the thread protocol. REST streams of runs that a front end
// started over it have whole messages only. Pure.
// Invariants:
//   thread/spoken.1. A replay from the begin of a message gives the same message.
//   thread/spoken.2. Events of other runs, and of unknown kinds, change nothing.
import type { Members } from "./live.ts";

/** Messages by id, in start order, in the form of `Live.writing`. */
export type Spoken = ReadonlyMap<string, Members>;

export const SILENCE: Spoken = new Map();

/** @param data the envelope of an event in the channel `messages` */
export function withSpoken(spoken: Spoken, data: unknown, runId: string): Spoken {
  const { event_id: eventId, params } = membersOf(data);
  if (typeof eventId !== "string" || !eventId.startsWith(`${runId}:`)) return spoken; // thread/spoken.2
  const { namespace, data: inner } = membersOf(params);
  const event = membersOf(inner);
  if (event["event"] === "message-start") {
    const { id, role = "ai" } = event;
    if (typeof id !== "string") return spoken;
    const message = { id, type: role, name: placeOf(namespace), content: [] };
    return new Map(spoken).set(id, message); // thread/spoken.1
  }
  const { message_id: id, index } = event;
  const message = typeof id === "string" ? spoken.get(id) : undefined;
  if (typeof id !== "string" || message === undefined || typeof index !== "number") return spoken;
  const blocks = message["content"] as readonly Members[];
  const block = blockAfter(blocks[index], event);
  if (block === null || index > blocks.length) return spoken;
  return new Map(spoken).set(id, {
    ...message,
    content: [...blocks.slice(0, index), block, ...blocks.slice(index + 1)],
  });
}

function blockAfter(before: Members = {}, { event, content, delta }: Members): Members | null {
  if (event === "content-block-start" || event === "content-block-finish") return membersOf(content);
  if (event !== "content-block-delta") return null;
  const change = membersOf(delta);
  if (change["type"] === "block-delta") return { ...before, ...membersOf(change["fields"]) };
  const grown = (["text", "reasoning", "args", "data"] as const).find((name) => typeof change[name] === "string");
  return grown === undefined ? null : { ...before, [grown]: textOf(before[grown]) + textOf(change[grown]) };
}

/** The subgraphs that a message comes from: ["outer:<task>", "inside:<task>", "model:<task>"] → "outer › inside". */
function placeOf(namespace: unknown): string | null {
  const path = Array.isArray(namespace) ? namespace.slice(0, -1).map((part) => String(part).replace(/:.*$/, "")) : [];
  return path.length === 0 ? null : path.join(" › ");
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}
