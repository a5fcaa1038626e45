// Merge messages: a conversation that a span has twice, flattened into attributes and as the JSON of the request or
// response.
// Invariants:
//   merge-messages.1. The longer conversation is the base; of two messages at one place each member that one lacks
//        comes from the other. Content is lacking when it is empty, or plain text where the other also has blocks.
//   merge-messages.2. JSON that holds no messages changes nothing.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import { member, textMember } from "../attributes/indexed.ts";
import { isObject } from "../attributes/plain-values.ts";
import { messagesOf } from "./messages.ts";

/** @param body JSON of a request, a response or a framework's state; null when it has no messages */
export function merged(flattened: readonly Json[], body: Json, role: "user" | "assistant"): readonly Json[] | null {
  const other = messagesWithin(body, role);
  if (other.length === 0) return null;
  if (other.length !== flattened.length) return other.length > flattened.length ? other : flattened;
  return flattened.map((message, at) => joined(message, other[at] ?? message));
}

function joined(message: Json, other: Json): Json {
  if (!isObject(message) || !isObject(other)) return message;
  const out: Record<string, Json> = { ...message };
  for (const [name, value] of Object.entries(other)) if (out[name] === undefined && value !== null) out[name] = value;
  if (lacks(out["content"], other["content"])) out["content"] = other["content"] ?? "";
  return out;
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
  return list.flatMap((one) => member(one, "message") ?? []);
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
  const { content, tool_calls: calls, tool_call_id: callId } = kwargs;
  return {
    ...(role === undefined || role === "" ? {} : { role }),
    content: content ?? "",
    ...(Array.isArray(calls) && calls.length > 0 ? { tool_calls: calls } : {}),
    ...(callId === undefined ? {} : { tool_call_id: callId }),
  };
}
