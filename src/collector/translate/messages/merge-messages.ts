// Merge messages: a conversation that a span has twice, flattened into attributes and as the JSON of the request or
// response.
// Invariants:
//   merge-messages.1. The longer conversation is the base; of two messages at one place, from the end, each member that
//        one lacks comes from the other. Content is lacking when it is empty, or plain text where the other also has blocks.
//        A member that says something else stays as `other_<name>`.
//   merge-messages.2. JSON that holds no messages changes nothing.
//   merge-messages.3. Nothing of the JSON is lost: members beside the messages are the rest, members beside a message
//        of the answer stay with it. Empty ones, and the text of a message repeated, go.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import { member, textMember } from "../attributes/indexed.ts";
import { isObject } from "../attributes/plain-values.ts";
import { messagesOf } from "./messages.ts";

/** @param body JSON of a request, a response or a framework's state; null when it has no messages */
export function merged(flattened: readonly Json[], body: Json, role: "user" | "assistant"): Merged | null {
  const other = messagesWithin(body, role);
  if (other.length < Math.max(flattened.length, 1) || !isObject(body)) return null;
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !isRead(name, body, role)));
  const missing = other.length - flattened.length; // the first ones: system messages
  const messages = other.map((one, at) =>
    missing === 0
      ? joined(flattened[at] ?? one, one)
      : at < missing
        ? one
        : joined(one, flattened[at - missing] ?? one),
  );
  return { messages, rest };
}

export interface Merged {
  readonly messages: readonly Json[];
  readonly rest: JsonObject;
}

/** Members that `messagesWithin` reads. */
function isRead(name: string, body: JsonObject, role: "user" | "assistant"): boolean {
  if (role === "user") return name === "messages" || name === "system";
  return name === (["choices", "generations", "message"].find((one) => body[one] !== undefined) ?? "");
}

function joined(message: Json, other: Json): Json {
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
    if (!saysAll(winner, loser)) out[`other_${name}`] = loser;
  }
  return out;
}

/** True when the value has every text of the other one. */
function saysAll(value: Json, other: Json): boolean {
  if (other === value) return true;
  const text = JSON.stringify(value);
  return textsOf(other).every((one) => text.includes(JSON.stringify(one).slice(1, -1)));
}

/** Without the types of blocks and calls. */
function textsOf(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(textsOf);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, one]) => (name === "type" ? [] : textsOf(one)));
}

function lacks(content: Json | undefined, other: Json | undefined): boolean {
  if (other === undefined || other === null || other === "") return false;
  if (content === undefined || content === null || content === "") return true;
  return Array.isArray(other) && (Array.isArray(content) ? content.length < other.length : other.length > 1);
}

/** {messages}, {messages: [[…]]} of LangChain, {choices: [{message}]}, {generations: [[{message}]]}, {message}. */
function messagesWithin(body: Json, role: "user" | "assistant"): readonly Json[] {
  if (!isObject(body)) return [];
  const choices = body["choices"];
  const generations = body["generations"];
  const list =
    role === "user"
      ? inner(body["messages"])
      : Array.isArray(choices)
        ? membersOf(choices as readonly Json[])
        : Array.isArray(generations)
          ? membersOf(inner(generations))
          : body["message"] === undefined
            ? []
            : [body["message"]];
  const system = role === "user" ? (body["system"] ?? null) : null;
  const known = list.filter(isObject).map(plainMessage);
  if (known.length === 0 || known.some((one) => typeof one["role"] !== "string")) return [];
  return [...(system === null ? [] : [{ role: "system", content: system }]), ...messagesOf(known, role)];
}

/** The only list in a list of one. */
function inner(value: Json | undefined): readonly Json[] {
  if (!Array.isArray(value)) return [];
  const first = (value as readonly Json[])[0];
  return value.length === 1 && Array.isArray(first) ? (first as readonly Json[]) : (value as readonly Json[]);
}

function membersOf(list: readonly Json[]): readonly Json[] {
  return list.flatMap((one): readonly Json[] => {
    const message = member(one, "message");
    if (!isObject(one) || message === undefined) return [];
    const { message: _message, index: _index, text, ...beside } = one; // merge-messages.3
    if (!isObject(message)) return [message];
    const isRepeated =
      text === undefined || text === "" || text === (message["content"] ?? member(message, "kwargs", "content"));
    return [{ ...withoutEmpty(beside), ...(isRepeated ? {} : { text }), ...message }];
  });
}

function withoutEmpty(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: Json): boolean {
  if (value === null || value === "") return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

const ROLES: Readonly<Record<string, string>> = {
  human: "user",
  ai: "assistant",
  system: "system",
  tool: "tool",
  function: "tool",
};

/** LangChain serialises a message as {lc, type: "constructor", id: […, "HumanMessage"], kwargs}. */
function plainMessage(message: JsonObject): JsonObject {
  const kwargs = message["kwargs"];
  if (!isObject(kwargs)) return message;
  const id = message["id"];
  const last = Array.isArray(id) ? (id as readonly Json[]).at(-1) : undefined;
  const name = typeof last === "string" ? last : textMember(kwargs, "type");
  const kind = name.replace(/Message(?:Chunk)?$/, "").toLowerCase();
  const role = kind === "chat" ? textMember(kwargs, "role") : Object.hasOwn(ROLES, kind) ? ROLES[kind] : undefined;
  const { content, tool_calls: calls, tool_call_id: callId, type: _type, ...more } = kwargs;
  const { lc: _lc, type: _constructor, id: _id, kwargs: _kwargs, ...beside } = message;
  return {
    ...beside,
    ...withoutEmpty(more),
    ...(role === undefined || role === "" ? {} : { role }),
    content: content ?? "",
    ...(Array.isArray(calls) && calls.length > 0 ? { tool_calls: calls } : {}),
    ...(callId === undefined ? {} : { tool_call_id: callId }),
  };
}
