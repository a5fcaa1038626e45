// Merge messages: a conversation that a span has twice, flattened into attributes and as the JSON of the request or
// response.
// Invariants:
//   - The longer conversation is the base; of two messages at one place, from the end, each member that one lacks comes
//     from the other. Content is lacking when it is empty, or says less than the other's. A member that says something
//     else stays as `other_<name>`.
//   - JSON that holds no messages changes nothing.
//   - Nothing of the JSON is lost: members beside the messages are the rest, members beside a message of the answer
//     stay with it. Empty ones, and the text of a message repeated, go.
import type { Json } from "@holdpoint/base/json/json.ts";
import { isObject } from "../attributes/plain-values.ts";
import { readConversation, type Reading, type Conversation } from "./envelopes.ts";

/** @param body a request, a response or a framework's state; null when it has no messages, or fewer */
export function mergeConversation(flattened: readonly Json[], body: Json, as: Reading): Conversation | null {
  const read = readConversation(body, as);
  if (read === null || read.messages.length === 0) return null;
  const missing = read.messages.length - flattened.length; // the first ones: system messages
  if (missing < 0) return isBehindSystem(flattened, read.messages) ? mergeBehind(flattened, read) : null;
  const messages = read.messages.map((one, at) =>
    missing === 0
      ? joinMessage(flattened[at] ?? one, one)
      : at < missing
        ? one
        : joinMessage(one, flattened[at - missing] ?? one),
  );
  return { messages, rest: read.rest };
}

/** The flattened messages begin with instructions, which the body has elsewhere, and are the same ones after these. */
function isBehindSystem(flattened: readonly Json[], messages: readonly Json[]): boolean {
  const before = flattened.length - messages.length;
  return flattened.every((one, at) => {
    const role = isObject(one) ? one["role"] : null;
    const other = messages[at - before];
    return at < before ? role === "system" || role === "developer" : isObject(other) && other["role"] === role;
  });
}

function mergeBehind(flattened: readonly Json[], { messages, rest }: Conversation): Conversation {
  const before = flattened.length - messages.length;
  return {
    messages: flattened.map((one, at) => (at < before ? one : joinMessage(one, messages[at - before] ?? one))),
    rest,
  };
}

function joinMessage(message: Json, other: Json): Json {
  if (!isObject(message) || !isObject(other)) return message;
  const out: Record<string, Json> = { ...message };
  for (const [name, value] of Object.entries(other)) {
    const own = out[name];
    if (own === undefined || own === null || own === value) {
      if (value !== null) out[name] = value;
      continue;
    }
    const isOther = name === "content" ? lacks(own, value) : !saysAll(own, value) && saysAll(value, own);
    const [winner, loser] = isOther ? [value, own] : [own, value];
    out[name] = winner;
    const isSaid = name === "role" && winner === "tool"; // a result in a message of the user's
    if (!isSaid && !saysAll(winner, loser)) out[`other_${name}`] = loser;
  }
  return out;
}

/** True when the value has every text of the other one. */
export function saysAll(value: Json, other: Json): boolean {
  if (other === value) return true;
  const text = JSON.stringify(value);
  return listTexts(other).every((one) => text.includes(JSON.stringify(one).slice(1, -1)));
}

/** Without the types of blocks and calls. */
function listTexts(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(listTexts);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, one]) => (name === "type" ? [] : listTexts(one)));
}

function lacks(content: Json | undefined, other: Json | undefined): boolean {
  if (other === undefined || other === null || other === "") return false;
  if (content === undefined || content === null || content === "") return true;
  if (!Array.isArray(other)) return false;
  if (!Array.isArray(content)) return other.length > 1;
  return content.length < other.length || (saysAll(other, content) && !saysAll(content, other));
}
