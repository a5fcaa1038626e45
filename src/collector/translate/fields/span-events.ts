// Span events: told apart once a span, into what they say about the conversation, about errors, and the rest.
// Invariants:
//   span-events.1. Every event is used as content or kept in `events`; exceptions are both error and event.
//   span-events.2. Messages keep their order in time, also those that an instrumentation wrote under another name (history is input).
import type { Json, JsonObject } from "../../../base/json/json.ts";
import type { Span, SpanEvent } from "../../otlp/span.ts";
import { textMember } from "../attributes/indexed.ts";
import { callOf } from "./messages.ts";
import { isObject, jsonOf, jsonWithin, plainAttributes, unwrap } from "../attributes/plain-values.ts";
import { rfc3339 } from "../../shared/rfc3339.ts";

export interface SpanTalk {
  readonly messages: readonly Json[];
  readonly choices: readonly JsonObject[];
  /** `gen_ai.content.prompt` and `gen_ai.content.completion`, "" for none. */
  readonly prompt: string;
  readonly completion: string;
  /** Attributes of the operation details events, the first that has a key for input, the last for output. */
  readonly details: Readonly<Record<DetailsKey, Json>>;
  readonly documents: readonly Json[];
  readonly exceptions: readonly SpanEvent[];
  /** As uploaded in `events`. */
  readonly kept: readonly JsonObject[];
  readonly isGenAi: boolean;
}

type DetailsKey = "input" | "output" | "system" | "tools";

const DETAILS: Readonly<Record<string, DetailsKey>> = {
  "gen_ai.input.messages": "input",
  "gen_ai.output.messages": "output",
  "gen_ai.system_instructions": "system",
  "gen_ai.tool.definitions": "tools",
};

const ROLE_OF_EVENT: ReadonlyMap<string, string> = new Map([
  ["gen_ai.system.message", "system"],
  ["gen_ai.user.message", "user"],
  ["gen_ai.assistant.message", "assistant"],
  ["gen_ai.tool.message", "tool"],
]);

const NO_DETAILS: SpanTalk["details"] = Object.freeze({ input: null, output: null, system: null, tools: null });

const SILENT: SpanTalk = Object.freeze({
  messages: [],
  choices: [],
  prompt: "",
  completion: "",
  details: NO_DETAILS,
  documents: [],
  exceptions: [],
  kept: [],
  isGenAi: false,
});

export function talkOf(span: Span): SpanTalk {
  if (span.events.length === 0) return SILENT;
  const messages: Json[] = [];
  const choices: JsonObject[] = [];
  const documents: Json[] = [];
  const exceptions: SpanEvent[] = [];
  const kept: JsonObject[] = [];
  const details = { ...NO_DETAILS };
  let prompt = "";
  let completion = "";
  let isGenAi = false;
  for (const event of inTime(span.events)) {
    const role = ROLE_OF_EVENT.get(event.name);
    isGenAi ||= event.name.startsWith("gen_ai.");
    if (role !== undefined) messages.push(messageOfEvent(event, role));
    else if (event.name === "gen_ai.choice") choices.push(choiceOfEvent(event));
    else if (event.name === "gen_ai.content.prompt") prompt = attributeText(event, "gen_ai.prompt");
    else if (event.name === "gen_ai.content.completion") completion = attributeText(event, "gen_ai.completion");
    else if (event.name === "gen_ai.client.inference.operation.details") takeDetails(event, details);
    else if (event.name === "db.query.result") documents.push(plainAttributes(event.attributes));
    else {
      if (event.name === "exception") exceptions.push(event);
      kept.push(keptEvent(event));
    }
  }
  return { messages, choices, prompt, completion, details, documents, exceptions, kept, isGenAi };
}

function inTime(events: readonly SpanEvent[]): readonly SpanEvent[] {
  const later = (a: SpanEvent, b: SpanEvent): number => a.time.sec - b.time.sec || a.time.nano - b.time.nano;
  return events.toSorted(later); // stable: equal times keep their order (span-events.2)
}

function keptEvent(event: SpanEvent): JsonObject {
  return {
    name: event.name.toWellFormed(),
    time: rfc3339(event.time),
    ...(event.attributes.keys.length > 0 ? { attributes: plainAttributes(event.attributes) } : {}),
    ...(event.droppedAttributes > 0 ? { dropped_attributes_count: event.droppedAttributes } : {}),
  };
}

export function attributeText(event: SpanEvent, key: string): string {
  const value = event.attributes.values[event.attributes.keys.lastIndexOf(key)];
  return typeof value === "string" ? value : "";
}

function takeDetails(event: SpanEvent, details: Record<DetailsKey, Json>): void {
  for (const [at, key] of event.attributes.keys.entries()) {
    const name = Object.hasOwn(DETAILS, key) ? DETAILS[key] : undefined;
    if (name === undefined) continue;
    const value = jsonOf(event.attributes.values[at]);
    if (name === "output" || details[name] === null) details[name] = value; // several events: first input, last output
  }
}

/** The whole body in one attribute (Semantic Kernel), or one attribute a field; the role is in the name when nowhere else. */
function messageOfEvent(event: SpanEvent, role: string): Json {
  const body = unwrap(attributeText(event, "gen_ai.event.content")).value;
  if (isObject(body)) return tidied({ role, ...body });
  const {
    "gen_ai.system": _system,
    "event.name": _name,
    "gen_ai.message.index": _index,
    ...fields
  } = plainAttributes(event.attributes);
  const { content, id, tool_calls: calls, ...rest } = fields;
  return tidied({
    role,
    content: jsonWithin(content ?? (typeof body === "string" ? body : "")),
    ...(role === "tool" && id !== undefined ? { tool_call_id: id } : id === undefined ? {} : { id }),
    ...(calls === undefined ? {} : { tool_calls: jsonWithin(calls) }),
    ...rest,
  });
}

function tidied(message: JsonObject): JsonObject {
  const calls = message["tool_calls"];
  return Array.isArray(calls) ? { ...message, tool_calls: (calls as readonly Json[]).map(callOf) } : message;
}

function choiceOfEvent(event: SpanEvent): JsonObject {
  const body = unwrap(attributeText(event, "gen_ai.event.content")).value;
  if (isObject(body) && isObject(body["message"]))
    return { ...body, message: tidied({ role: "assistant", ...body["message"] }) };
  const fields = plainAttributes(event.attributes);
  const message = jsonWithin(fields["message"]);
  const calls = callsOf(fields);
  return {
    ...(fields["index"] === undefined ? {} : { index: fields["index"] }),
    ...(fields["finish_reason"] === undefined ? {} : { finish_reason: fields["finish_reason"] }),
    message: {
      role: textMember(fields, "message.role") || textMember(message, "role") || "assistant",
      ...(isObject(message) ? message : { content: fields["message.content"] ?? fields["content"] ?? message ?? "" }),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
    ...(fields["tool.result"] === undefined ? {} : { tool_result: jsonWithin(fields["tool.result"]) }),
  };
}

const CALLS_MAX = 256;

/** `tool_calls` as JSON, or `tool_calls.N.id|function.name|function.arguments`. */
function callsOf(fields: JsonObject): readonly Json[] {
  const whole = jsonWithin(fields["tool_calls"]);
  if (Array.isArray(whole)) return (whole as readonly Json[]).map(callOf);
  const calls: Json[] = [];
  for (let at = 0; at < CALLS_MAX; at++) {
    const id = fields[`tool_calls.${at}.id`];
    const name = fields[`tool_calls.${at}.function.name`];
    if (id === undefined && name === undefined) break;
    calls.push(
      callOf({ id: id ?? null, name: name ?? null, arguments: fields[`tool_calls.${at}.function.arguments`] ?? "" }),
    );
  }
  return calls;
}
