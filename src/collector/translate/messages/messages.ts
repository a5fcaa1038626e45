// Messages: every convention's way of writing a chat message → {role, content, tool_calls?, tool_call_id?, name?, …}.
// Content is a string when it is one piece of text, else a list of blocks. Unknown parts stay unchanged. Invariants:
//   messages/messages.1. Every part stays: text, calls and results in their fields, all others in `content`.
//   messages/messages.2. A message that already has the target form comes back as the same object.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import { textMember } from "../attributes/indexed.ts";
import { isObject } from "../attributes/plain-values.ts";
import { withRest } from "./members.ts";
import { callOf, contentOf, partOf } from "./message-parts.ts";

/** True for a list in which every item has a role (or parts): a conversation. */
export function looksLikeMessages(value: Json | undefined): value is readonly JsonObject[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    (value as readonly Json[]).every(
      (item) => isObject(item) && (typeof item["role"] === "string" || Array.isArray(item["parts"])),
    )
  );
}

/** A list of messages, a single one, or text → messages in the target form. */
export function messagesOf(value: Json, role = "user"): readonly Json[] {
  const list = Array.isArray(value) ? (value as readonly Json[]) : [value];
  return list.flatMap((item) => messageOf(item, role));
}

function messageOf(item: Json, role: string): readonly Json[] {
  if (!isObject(item)) return item === null ? [] : [{ role, content: item }];
  const parts = Array.isArray(item["parts"]) ? item["parts"] : listOf(item["content"]);
  if (parts === null || !(Array.isArray(item["parts"]) || parts.some(isForeignPart))) {
    const calls = item["tool_calls"];
    const same = typeof item["role"] === "string" && (calls === undefined || !Array.isArray(calls));
    if (same) return [item]; // messages/messages.2
    return [
      {
        role: typeof item["role"] === "string" ? item["role"] : role,
        ...item,
        ...(Array.isArray(calls) ? { tool_calls: (calls as readonly Json[]).map(callOf) } : {}),
      },
    ];
  }
  return assembleParts(item, parts as readonly Json[], role);
}

function listOf(content: Json | undefined): readonly Json[] | null {
  return Array.isArray(content) ? (content as readonly Json[]) : null;
}

/** Parts with a field in the target form. OpenAI's and Anthropic's blocks stay unchanged. */
function isForeignPart(part: Json): boolean {
  if (!isObject(part)) return false;
  switch (textMember(part, "type")) {
    case "tool_call":
    case "tool-call":
    case "tool_call_response":
    case "tool-result":
    case "blob":
      return true;
    case "text":
      return typeof part["content"] === "string";
    case "":
      return [
        "text",
        "toolUse",
        "toolResult",
        "function_call",
        "function_response",
        "toolRequest",
        "toolResponse",
        "media",
      ].some((name) => part[name] !== undefined);
    default:
      return false;
  }
}

/** Of messages with only results, which become messages of tools. */
const ROLES: ReadonlySet<string> = new Set(["tool", "user", "function", "assistant", "model"]);
const CALLS: ReadonlySet<string> = new Set(["tool_calls"]);
const NONE: ReadonlySet<string> = new Set();

function assembleParts(item: JsonObject, parts: readonly Json[], defaultRole: string): readonly Json[] {
  const blocks: Json[] = [];
  const calls: Json[] = [];
  const results: JsonObject[] = [];
  for (const part of parts) {
    const kind = partOf(part);
    if (kind.kind === "call") calls.push(kind.value);
    else if (kind.kind === "result") results.push(kind.value as JsonObject);
    else blocks.push(kind.value);
  }
  const { parts: _parts, content, role: given, ...beside } = item;
  const isKnown =
    given === undefined || (typeof given === "string" && (calls.length + blocks.length > 0 || ROLES.has(given)));
  const rest = isKnown ? beside : { ...beside, original_role: given };
  const role = typeof item["role"] === "string" ? (item["role"] === "model" ? "assistant" : item["role"]) : defaultRole;
  if (Array.isArray(item["parts"]) && content !== undefined && content !== "") blocks.unshift(partOf(content).value); // messages/messages.1
  if (blocks.length === 0 && calls.length === 0 && results.length > 0) {
    return results.map((one, at) => (at > 0 ? one : withRest(one, rest, NONE)));
  }
  const own = listOf(item["tool_calls"]);
  const made: JsonObject = {
    role,
    content: contentOf(blocks),
    ...(calls.length > 0 ? { tool_calls: [...(own ?? []), ...calls] } : {}),
  };
  const message = withRest(made, rest, own !== null && calls.length > 0 ? CALLS : NONE);
  return results.length > 0 ? [message, ...results] : [message];
}
