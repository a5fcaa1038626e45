// Event messages: `gen_ai.user.message` and the like, and `gen_ai.choice` → message and choice.
// An attribute that is no part of the message stays beside it, under its name.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { SpanEvent } from "../../otlp/span.ts";
import { textMember } from "../attributes/indexed.ts";
import { isObject, jsonWithin, plainAttributes } from "../attributes/plain-values.ts";
import { withRest } from "../forms/members.ts";
import { toToolCall } from "../forms/tool-forms.ts";

export const EVENT_BODY = "gen_ai.event.content";

/** Says nothing that the run does not. */
const NOISE: ReadonlySet<string> = new Set([
  "gen_ai.system",
  "gen_ai.provider.name",
  "event.name",
  "gen_ai.message.index",
]);

/** Names of the log record around a message: no member of it. */
export function isOfRecord(name: string): boolean {
  return name.startsWith("otel.");
}

/** Without the attributes that are equal to what the message has, or empty. */
function beside(fields: JsonObject, read: ReadonlySet<string>, message: JsonObject): JsonObject {
  const rest = new Map<string, Json>();
  for (const [name, value] of Object.entries(fields)) {
    if (NOISE.has(name) || isOfRecord(name) || read.has(name) || value === "" || value === message[name]) continue;
    let free = name;
    while (message[free] !== undefined || (free !== name && (rest.has(free) || fields[free] !== undefined)))
      free = `event.${free}`;
    rest.set(free, value);
  }
  return Object.fromEntries(rest);
}

const BODY_ONLY: ReadonlySet<string> = new Set([EVENT_BODY]);

/**
 * The whole body in one attribute (Semantic Kernel), or one attribute a field; the role is in the name when nowhere
 * else.
 */
function messageOfEvent(event: SpanEvent, role: string): JsonObject {
  const fields = plainAttributes(event.attributes);
  const body = jsonWithin(fields[EVENT_BODY]);
  if (isObject(body)) return { role, ...withRest({}, body, NOISE), ...beside(fields, BODY_ONLY, body) };
  const { content, tool_calls: calls, [EVENT_BODY]: _body, ...given } = fields;
  const message = {
    role: textMember(given, "role") || role,
    content: jsonWithin(content ?? body ?? ""),
    ...(calls === undefined ? {} : { tool_calls: jsonWithin(calls) }),
    ...(content === undefined || body === null || body === "" || body === content ? {} : { [EVENT_BODY]: body }),
  };
  return withRest(message, beside(given, NONE, message), NONE);
}

const NONE: ReadonlySet<string> = new Set();

/** Usually one. Google's client writes its list of contents, each with a role, as the content of one. */
export function messagesOfEvent(event: SpanEvent, role: string): readonly Json[] {
  const { content, role: own, ...more } = messageOfEvent(event, role);
  const isOne = { ...(own === undefined ? {} : { role: own }), ...(content === undefined ? {} : { content }), ...more };
  if (!Array.isArray(content) || content.length === 0) return [isOne];
  const list = content as readonly Json[];
  if (!list.every((one) => isObject(one) && Array.isArray(one["parts"]))) return [isOne];
  return list.map((one, at) => ({ role, ...(one as JsonObject), ...(at === 0 ? more : {}) }));
}

const CALL_FIELD = /^tool_calls\.\d+\.(?:id|type|function\.name|function\.arguments)$/;

export function choiceOfEvent(event: SpanEvent): JsonObject {
  const fields = plainAttributes(event.attributes);
  const body = jsonWithin(fields[EVENT_BODY]);
  if (isObject(body) && isObject(body["message"]))
    return {
      ...body,
      message: { role: "assistant", ...body["message"] },
      ...beside(fields, BODY_ONLY, body),
    };
  if (isObject(body) && body["content"] !== undefined && fields["message"] === undefined) {
    const { content, ...rest } = body; // Gemini's candidate
    const said = isObject(content) ? content : { role: "assistant", content: content ?? "" };
    return { ...rest, message: said, ...beside(fields, BODY_ONLY, body) };
  }
  const message = jsonWithin(fields["message"]);
  const calls = listCalls(fields);
  const read = new Set(["index", "finish_reason", "message", "tool.result"]);
  if (calls.length > 0) for (const name of Object.keys(fields)) if (isCall(name, fields)) read.add(name);
  const roleFrom = ["message.role", "role"].find((name) => textMember(fields, name) !== "");
  if (roleFrom !== undefined && textMember(message, "role") === "") read.add(roleFrom);
  const contentFrom = isObject(message) ? undefined : ["message.content", "content"].find((name) => name in fields);
  if (contentFrom !== undefined) read.add(contentFrom);
  if (contentFrom !== undefined && message !== null && message !== "") read.delete("message");
  const turn: JsonObject = {
    role: textMember(message, "role") || textMember(fields, roleFrom ?? "role") || "assistant",
    ...(isObject(message) ? message : readSaid(fields[contentFrom ?? ""] ?? message ?? "")),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    ...beside(fields, read, OWN),
    ...(fields["index"] === undefined ? {} : { index: fields["index"] }),
    ...(fields["finish_reason"] === undefined ? {} : { finish_reason: fields["finish_reason"] }),
    message: turn,
    ...(fields["tool.result"] === undefined ? {} : { tool_result: jsonWithin(fields["tool.result"]) }),
  };
}

/** Also Gemini's content as JSON text. */
function readSaid(content: Json): JsonObject {
  const inner = jsonWithin(content);
  return isObject(inner) && Array.isArray(inner["parts"]) ? inner : { content };
}

/** Members that a choice has anyway. */
const OWN: JsonObject = { message: null, tool_result: null };

/** `tool_calls` as JSON, or its parts. */
function isCall(name: string, fields: JsonObject): boolean {
  return Array.isArray(jsonWithin(fields["tool_calls"])) ? name === "tool_calls" : CALL_FIELD.test(name);
}

const CALLS_MAX = 256;

/** `tool_calls` as JSON, or `tool_calls.N.id|function.name|function.arguments`. */
function listCalls(fields: JsonObject): readonly Json[] {
  const whole = jsonWithin(fields["tool_calls"]);
  if (Array.isArray(whole)) return whole as readonly Json[];
  const calls: Json[] = [];
  for (let at = 0; at < CALLS_MAX; at++) {
    const id = fields[`tool_calls.${at}.id`];
    const name = fields[`tool_calls.${at}.function.name`];
    if (id === undefined && name === undefined) break;
    calls.push(
      toToolCall({
        id: id ?? null,
        name: name ?? null,
        arguments: fields[`tool_calls.${at}.function.arguments`] ?? "",
      }),
    );
  }
  return calls;
}
