// Span events: read once per span, into conversation, errors and the rest.
// Invariants:
//   span-events.1. Every event becomes content or stays in `events`; exceptions are both error and event.
//   span-events.2. Messages keep their order in time, also those that an instrumentation wrote under another name
//        (history is input).
//   span-events.3. Attributes of an operation details event that are no messages complete the span's own
//        (span-facts.4).
//   span-events.4. Of several content events the first prompt and the last completion count; the others stay in
//   `events`.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import type { Attributes, AttributeValue, Span, SpanEvent } from "../../otlp/span.ts";
import { textMember } from "../attributes/indexed.ts";
import { callOf } from "./message-parts.ts";
import { isObject, jsonOf, jsonWithin, plainAttributes, unwrap } from "../attributes/plain-values.ts";
import { rfc3339 } from "../../shared/rfc3339.ts";

export interface SpanTalk {
  readonly messages: readonly Json[];
  readonly choices: readonly JsonObject[];
  /** `gen_ai.content.prompt` and `gen_ai.content.completion`, null for none. */
  readonly prompt: AttributeValue;
  readonly completion: AttributeValue;
  /** Attributes of the operation details events, the first that has a key for input, the last for output. */
  readonly details: Readonly<Record<DetailsKey, Json>>;
  /** The other attributes of these events (span-events.3). */
  readonly detailAttributes: readonly Attributes[];
  readonly documents: readonly Json[];
  /** Attributes of Claude Code's event of a tool's output, the first one. */
  readonly toolOutput: JsonObject | null;
  readonly exceptions: readonly SpanEvent[];
  /** The events with content, by part. */
  readonly spoken: readonly (readonly [TalkPart, SpanEvent])[];
  /** Parts that a field of the run took (`taken`). */
  readonly heard: Set<TalkPart>;
  /** As uploaded in `events`. */
  readonly kept: readonly JsonObject[];
  readonly isGenAi: boolean;
}

export type TalkPart = DetailsKey | "messages" | "choices" | "prompt" | "completion" | "documents" | "toolOutput";

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
  prompt: null,
  completion: null,
  details: NO_DETAILS,
  detailAttributes: [],
  documents: [],
  toolOutput: null,
  exceptions: [],
  spoken: [],
  heard: new Set<TalkPart>(),
  kept: [],
  isGenAi: false,
});

export function talkOf(span: Span): SpanTalk {
  if (span.events.length === 0) return SILENT;
  const talk: Gathered = {
    messages: [],
    choices: [],
    prompt: null,
    completion: null,
    details: { ...NO_DETAILS },
    detailAttributes: [],
    documents: [],
    toolOutput: null,
    exceptions: [],
    spoken: [],
    heard: new Set(),
    kept: [],
    isGenAi: false,
  };
  let completion: SpanEvent | null = null;
  for (const event of inTime(span.events)) {
    talk.isGenAi ||= event.name.startsWith("gen_ai.");
    if (event.name === "gen_ai.content.completion") {
      if (completion !== null) talk.kept.push(keptEvent(completion)); // span-events.4
      completion = event;
    } else if (!takeContent(event, talk)) {
      if (event.name === "exception") talk.exceptions.push(event);
      talk.kept.push(keptEvent(event));
    }
  }
  if (completion !== null) takeSingle(completion, talk, "completion");
  return talk;
}

type Gathered = {
  -readonly [K in keyof SpanTalk]: SpanTalk[K] extends readonly (infer Item)[] ? Item[] : SpanTalk[K];
} & {
  readonly details: Record<DetailsKey, Json>;
};

/** False: the event is no content. */
function takeContent(event: SpanEvent, talk: Gathered): boolean {
  const role = ROLE_OF_EVENT.get(event.name);
  if (role !== undefined) {
    talk.messages.push(messageOfEvent(event, role));
    talk.spoken.push(["messages", event]);
  } else if (event.name === "gen_ai.choice") {
    talk.choices.push(choiceOfEvent(event));
    talk.spoken.push(["choices", event]);
  } else if (event.name === "gen_ai.content.prompt" && talk.prompt === null) takeSingle(event, talk, "prompt");
  else if (event.name === "gen_ai.client.inference.operation.details") takeDetails(event, talk);
  else if (event.name === "tool.output" && talk.toolOutput === null) {
    talk.toolOutput = plainAttributes(event.attributes);
    talk.spoken.push(["toolOutput", event]);
  } else if (event.name === "db.query.result" || event.name === "db.search.result") {
    talk.documents.push(plainAttributes(event.attributes));
    talk.spoken.push(["documents", event]);
  } else return false;
  return true;
}

/** An event with more than its content stays in `events` too. */
function takeSingle(event: SpanEvent, talk: Gathered, name: "prompt" | "completion"): void {
  const value = attributeOf(event, `gen_ai.${name}`);
  talk[name] = value === "" ? null : value;
  if (talk[name] === null || event.attributes.keys.some((key) => key !== `gen_ai.${name}`))
    talk.kept.push(keptEvent(event));
  else talk.spoken.push([name, event]);
}

function inTime(events: readonly SpanEvent[]): readonly SpanEvent[] {
  const later = (a: SpanEvent, b: SpanEvent): number => a.time.sec - b.time.sec || a.time.nano - b.time.nano;
  return events.toSorted(later); // stable: equal times keep their order (span-events.2)
}

export function keptEvent(event: SpanEvent): JsonObject {
  return {
    name: event.name.toWellFormed(),
    time: rfc3339(event.time),
    ...(event.attributes.keys.length > 0 ? { attributes: plainAttributes(event.attributes) } : {}),
    ...(event.droppedAttributes > 0 ? { dropped_attributes_count: event.droppedAttributes } : {}),
  };
}

export function attributeText(event: SpanEvent, key: string): string {
  const value = attributeOf(event, key);
  return typeof value === "string" ? value : "";
}

function attributeOf({ attributes }: SpanEvent, key: string): AttributeValue {
  return attributes.values[attributes.keys.lastIndexOf(key)] ?? null;
}

const DETAIL_ATTRIBUTES_MAX = 256;

function takeDetails(event: SpanEvent, talk: Gathered): void {
  const keys: string[] = [];
  const values: AttributeValue[] = [];
  for (const [at, key] of event.attributes.keys.entries()) {
    const given = event.attributes.values[at] ?? null;
    const name = Object.hasOwn(DETAILS, key) ? DETAILS[key] : undefined;
    if (name === undefined) {
      if (key === "event.name") continue;
      keys.push(key);
      values.push(given);
    } else {
      if (name === "output" || talk.details[name] === null) talk.details[name] = jsonOf(given); // several events: first input, last output
      if (given !== null && name !== "tools") talk.spoken.push([name, event]);
    }
  }
  if (keys.length > DETAIL_ATTRIBUTES_MAX) talk.kept.push(keptEvent(event));
  else if (keys.length > 0) talk.detailAttributes.push({ keys, values });
}

/**
 * The whole body in one attribute (Semantic Kernel), or one attribute a field; the role is in the name when nowhere
 * else.
 */
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
  return Array.isArray(calls) ? { ...message, tool_calls: (calls as readonly Json[]).map(callWithin) } : message;
}

/** LiveKit writes a list of JSON texts. */
function callWithin(call: Json): Json {
  return callOf(jsonWithin(call));
}

const CHOICE_FIELDS =
  /^(?:index|finish_reason|message|message\.role|message\.content|content|role|tool\.result|tool_calls(?:\.\d+\..+)?|gen_ai\.system|gen_ai\.event\.content|event\.name)$/;

function choiceOfEvent(event: SpanEvent): JsonObject {
  const body = unwrap(attributeText(event, "gen_ai.event.content")).value;
  if (isObject(body) && isObject(body["message"]))
    return { ...body, message: tidied({ role: "assistant", ...body["message"] }) };
  const fields = plainAttributes(event.attributes);
  const message = jsonWithin(fields["message"]);
  const calls = callsOf(fields);
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([name]) => !CHOICE_FIELDS.test(name))),
    ...(fields["index"] === undefined ? {} : { index: fields["index"] }),
    ...(fields["finish_reason"] === undefined ? {} : { finish_reason: fields["finish_reason"] }),
    message: {
      role:
        textMember(fields, "message.role") || textMember(message, "role") || textMember(fields, "role") || "assistant",
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
  if (Array.isArray(whole)) return (whole as readonly Json[]).map(callWithin);
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
