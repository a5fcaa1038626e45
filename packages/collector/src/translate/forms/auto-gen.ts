// AutoGen: its messages and events, which name their speaker, as plain messages.
//   {source: "user", content, type: "TextMessage"}, {source, content: [{id, name, arguments}], type: "AssistantMessage"}
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { textMember } from "../attributes/indexed.ts";
import { isObject } from "../attributes/plain-values.ts";
import { withRest } from "./members.ts";

/** By type; "" for the role of the speaker. */
const ROLES: ReadonlyMap<string, string> = new Map([
  ["UserMessage", "user"],
  ["AssistantMessage", "assistant"],
  ["FunctionExecutionResultMessage", "tool"],
  ["ToolCallRequestEvent", "assistant"],
  ["ToolCallExecutionEvent", "tool"],
  ["ToolCallSummaryMessage", "assistant"],
  ["ThoughtEvent", "assistant"],
  ["TextMessage", ""],
  ["MultiModalMessage", ""],
  ["StructuredMessage", ""],
  ["HandoffMessage", ""],
  ["StopMessage", ""],
]);
/** Speakers that no document has as its source. */
const SPEAKERS: ReadonlySet<Json | undefined> = new Set(["user", "assistant", "system"]);
const READ: ReadonlySet<string> = new Set(["source", "type", "content"]);

/** The message itself when it is none of AutoGen's. */
export function readAutoGen(message: JsonObject): JsonObject {
  const { source, content, type } = message;
  if (content === undefined || message["role"] !== undefined) return message;
  const known = typeof type === "string" ? ROLES.get(type) : SPEAKERS.has(source) ? "" : undefined;
  if (known === undefined) return message;
  const said = source === "user" || source === "system" ? source : "assistant";
  const role = known === "" ? said : known;
  const isNamed = typeof source === "string" && source !== role;
  const speaker = role === "tool" ? { source: source ?? null } : { name: source ?? null }; // a tool's name is its own
  return withRest(
    { role, ...(isNamed ? speaker : {}), ...readContent(content, textMember(message, "type")) },
    role === "tool" ? withEventId(withoutNulls(message)) : withoutNulls(message),
    READ,
  );
}

/** The id of the event is not that of a call. */
function withEventId({ id, ...message }: JsonObject): JsonObject {
  return id === undefined ? message : { ...message, event_id: id };
}

function readContent(content: Json, type: string): JsonObject {
  if (type === "ThoughtEvent") return { content: [{ type: "reasoning", reasoning: content }] };
  return isCalls(content) ? { content: "", tool_calls: content } : { content };
}

/** A reply of AutoGen's clients has the calls as its content, too. */
export function isCalls(content: Json | undefined): content is readonly Json[] {
  return Array.isArray(content) && content.length > 0 && (content as readonly Json[]).every(isCall);
}

function isCall(item: Json): boolean {
  return isObject(item) && typeof item["name"] === "string" && item["arguments"] !== undefined;
}

/** A summary repeats the calls and the results before it: they are no further ones. */
function withoutNulls({ tool_calls: calls, results, thought, ...message }: JsonObject): JsonObject {
  const summed =
    calls === undefined && results === undefined ? {} : { summary_of: { calls: calls ?? [], results: results ?? [] } };
  const members = Object.entries(message).filter(([, value]) => value !== null && !isEmptyObject(value));
  const thinks = typeof thought === "string" && thought !== "" ? { reasoning_content: thought } : {};
  return { ...Object.fromEntries(members), ...thinks, ...summed };
}

function isEmptyObject(value: Json): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
