// Span events: read once per span, into conversation, errors and the rest.
// Invariants:
//   - Every event becomes content or stays in `events`; exceptions are both error and event.
//   - Messages keep their order in time, also those that an instrumentation wrote under another name (history is
//     input).
//   - Attributes of an operation details event that are no messages complete the span's own.
//   - Of several content events the first prompt and the last completion count; the others stay in
//   `events`.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Attributes, AttributeValue, Span, SpanEvent } from "../../otlp/span.ts";
import { toJson, plainAttributes } from "../attributes/plain-values.ts";
import { choiceOfEvent, EVENT_BODY, isOfRecord, messagesOfEvent } from "./event-messages.ts";
import { countVector } from "../forms/vectors.ts";
import { rfc3339 } from "../../shared/rfc3339.ts";

export interface SpanEventContent {
  readonly messages: readonly Json[];
  readonly choices: readonly JsonObject[];
  /** `gen_ai.content.prompt` and `gen_ai.content.completion`, null for none. */
  readonly prompt: AttributeValue;
  readonly completion: AttributeValue;
  /** Attributes of the operation details events, the first that has a key for input, the last for output. */
  readonly details: Readonly<Record<DetailsKey, Json>>;
  /** The other attributes of these events. */
  readonly detailAttributes: readonly Attributes[];
  readonly documents: readonly Json[];
  /** Attributes of Claude Code's event of a tool's output, the first one. */
  readonly toolOutput: JsonObject | null;
  readonly exceptions: readonly SpanEvent[];
  /** The events with content, by part. */
  readonly partEvents: readonly (readonly [EventContentPart, SpanEvent])[];
  /** Parts that a field of the run took (`taken`). */
  readonly used: Set<EventContentPart>;
  /** As uploaded in `events`. */
  readonly kept: readonly JsonObject[];
  readonly isGenAi: boolean;
}

export type EventContentPart =
  | DetailsKey
  | "messages"
  | "choices"
  | "prompt"
  | "completion"
  | "documents"
  | "toolOutput";

type DetailsKey = "input" | "output" | "system" | "tools";

export const DETAILS: Readonly<Record<string, DetailsKey>> = {
  "gen_ai.input.messages": "input",
  "gen_ai.output.messages": "output",
  "gen_ai.system_instructions": "system",
  "gen_ai.tool.definitions": "tools",
};

export const DETAILS_EVENT = "gen_ai.client.inference.operation.details";

const ROLE_OF_EVENT: ReadonlyMap<string, string> = new Map([
  ["gen_ai.system.message", "system"],
  ["gen_ai.user.message", "user"],
  ["gen_ai.assistant.message", "assistant"],
  ["gen_ai.tool.message", "tool"],
]);

const EXCEPTIONS: ReadonlySet<string> = new Set(["exception", "gen_ai.client.operation.exception"]);

const NO_DETAILS: SpanEventContent["details"] = Object.freeze({ input: null, output: null, system: null, tools: null });

const SILENT: SpanEventContent = Object.freeze({
  messages: [],
  choices: [],
  prompt: null,
  completion: null,
  details: NO_DETAILS,
  detailAttributes: [],
  documents: [],
  toolOutput: null,
  exceptions: [],
  partEvents: [],
  used: new Set<EventContentPart>(),
  kept: [],
  isGenAi: false,
});

export function gatherMessages(span: Span): SpanEventContent {
  if (span.events.length === 0) return SILENT;
  const eventContent: Gathered = {
    messages: [],
    choices: [],
    prompt: null,
    completion: null,
    details: { ...NO_DETAILS },
    detailAttributes: [],
    documents: [],
    toolOutput: null,
    exceptions: [],
    partEvents: [],
    used: new Set(),
    kept: [],
    isGenAi: false,
  };
  let completion: SpanEvent | null = null;
  for (const given of inTime(span.events)) {
    const event = withoutPlace(given, span);
    eventContent.isGenAi ||= event.name.startsWith("gen_ai.");
    if (event.name === "gen_ai.content.completion") {
      if (completion !== null) eventContent.kept.push(keptEvent(completion));
      completion = event;
    } else if (!takeContent(event, eventContent)) {
      if (EXCEPTIONS.has(event.name)) eventContent.exceptions.push(event);
      eventContent.kept.push(keptEvent(event));
    }
  }
  if (completion !== null) takeSingle(completion, eventContent, "completion");
  return eventContent;
}

const PLACES = /^gen_ai\.(?:thread\.|agent\.id$)/;

/** Azure's agents write the place of their span at each of its events too. */
function withoutPlace(event: SpanEvent, { attributes: own }: Span): SpanEvent {
  const { keys, values } = event.attributes;
  const isRepeated = (key: string, at: number): boolean =>
    PLACES.test(key) && own.values[own.keys.indexOf(key)] === values[at];
  if (!keys.some(isRepeated)) return event;
  const kept = keys.map((key, at) => !isRepeated(key, at));
  return {
    ...event,
    attributes: { keys: keys.filter((_, at) => kept[at]), values: values.filter((_, at) => kept[at]) },
  };
}

type Gathered = {
  -readonly [K in keyof SpanEventContent]: SpanEventContent[K] extends readonly (infer Item)[]
    ? Item[]
    : SpanEventContent[K];
} & {
  readonly details: Record<DetailsKey, Json>;
};

/** False: the event is no content. */
function takeContent(event: SpanEvent, eventContent: Gathered): boolean {
  const role = ROLE_OF_EVENT.get(event.name);
  if (role !== undefined) {
    eventContent.messages.push(...messagesOfEvent(event, role));
    keepRecord(event, eventContent);
    eventContent.partEvents.push(["messages", event]);
  } else if (event.name === "gen_ai.choice") {
    eventContent.choices.push(choiceOfEvent(event));
    keepRecord(event, eventContent);
    eventContent.partEvents.push(["choices", event]);
  } else if (event.name === "gen_ai.content.prompt" && eventContent.prompt === null)
    takeSingle(event, eventContent, "prompt");
  else if (event.name === DETAILS_EVENT || isDetail(event)) takeDetails(event, eventContent);
  else if (event.name === "tool.output" && eventContent.toolOutput === null) {
    eventContent.toolOutput = plainAttributes(event.attributes);
    eventContent.partEvents.push(["toolOutput", event]);
  } else if (event.name === "db.query.result" || event.name === "db.search.result") {
    eventContent.documents.push(readMembers(event));
    eventContent.partEvents.push(["documents", event]);
  } else return false;
  return true;
}

/** What a log record says of itself belongs to the span, not to the message. */
function keepRecord({ attributes: { keys, values } }: SpanEvent, eventContent: Gathered): void {
  const own = keys.flatMap((key, at): [string, AttributeValue][] =>
    isOfRecord(key) ? [[key, values[at] ?? null]] : [],
  );
  if (own.length > 0)
    eventContent.detailAttributes.push({ keys: own.map(([key]) => key), values: own.map(([, value]) => value) });
}

/** An event with more than its content stays in `events` too. */
function takeSingle(event: SpanEvent, eventContent: Gathered, name: "prompt" | "completion"): void {
  const value = findAttribute(event, `gen_ai.${name}`);
  eventContent[name] = value === "" ? null : value;
  if (eventContent[name] === null || event.attributes.keys.some((key) => key !== `gen_ai.${name}`))
    eventContent.kept.push(keptEvent(event));
  else eventContent.partEvents.push([name, event]);
}

function inTime(events: readonly SpanEvent[]): readonly SpanEvent[] {
  const later = (a: SpanEvent, b: SpanEvent): number => a.time.sec - b.time.sec || a.time.nano - b.time.nano;
  return events.toSorted(later); // stable: equal times keep their order
}

export function keptEvent(event: SpanEvent): JsonObject {
  return {
    name: event.name.toWellFormed(),
    time: rfc3339(event.time),
    ...(event.attributes.keys.length > 0 ? { attributes: readMembers(event) } : {}),
    ...(event.droppedAttributes > 0 ? { dropped_attributes_count: event.droppedAttributes } : {}),
  };
}

/** Without the vectors of a search. */
function readMembers({ name, attributes }: SpanEvent): JsonObject {
  const members = plainAttributes(attributes);
  if (!name.startsWith("db.")) return members;
  return Object.fromEntries(
    Object.entries(members).map(([key, value]) => [
      key,
      key.endsWith(".vector") ? (countVector(value) ?? value) : value,
    ]),
  );
}

export function attributeText(event: SpanEvent, key: string): string {
  const value = findAttribute(event, key);
  return typeof value === "string" ? value : "";
}

function findAttribute({ attributes }: SpanEvent, key: string): AttributeValue {
  return attributes.values[attributes.keys.lastIndexOf(key)] ?? null;
}

/** Azure's agents write each detail as the body of an event of its own. */
function isDetail({ name, attributes }: SpanEvent): boolean {
  return Object.hasOwn(DETAILS, name) && attributes.keys.includes(EVENT_BODY);
}

const DETAIL_ATTRIBUTES_MAX = 256;

function takeDetails(event: SpanEvent, eventContent: Gathered): void {
  const keys: string[] = [];
  const values: AttributeValue[] = [];
  let isReplaced = false; // by another event with the same key
  for (const [at, key] of event.attributes.keys.entries()) {
    const given = event.attributes.values[at] ?? null;
    const detail = key === EVENT_BODY ? event.name : key;
    const name = Object.hasOwn(DETAILS, detail) ? DETAILS[detail] : undefined;
    if (name === undefined) {
      if (key === "event.name") continue;
      if (eventContent.detailAttributes.some((one) => hasOther(one, key, given))) {
        isReplaced = true;
        continue;
      }
      keys.push(key);
      values.push(given);
    } else if (given !== null) {
      const before = eventContent.partEvents.findLast(([part]) => part === name)?.[1];
      if (before === undefined) eventContent.details[name] = toJson(given);
      else if (name !== "output") isReplaced = true;
      else {
        eventContent.details[name] = toJson(given); // several events: first input, last output
        eventContent.kept.push(keptEvent(before));
      }
      eventContent.partEvents.push([name, event]);
    }
  }
  if (keys.length > DETAIL_ATTRIBUTES_MAX || isReplaced) eventContent.kept.push(keptEvent(event));
  if (keys.length > 0 && keys.length <= DETAIL_ATTRIBUTES_MAX) eventContent.detailAttributes.push({ keys, values });
}

function hasOther({ keys, values }: Attributes, key: string, value: AttributeValue): boolean {
  const at = keys.indexOf(key);
  return at >= 0 && values[at] !== value;
}
