// Span events: read once per span, into conversation, errors and the rest.
// Invariants:
//   span-events.1. Every event becomes content or stays in `events`; exceptions are both error and event.
//   span-events.2. Messages keep their order in time, also those that an instrumentation wrote under another name
//        (history is input).
//   span-events.3. Attributes of an operation details event that are no messages complete the span's own
//        (span-facts.4).
//   span-events.4. Of several content events the first prompt and the last completion count; the others stay in
//   `events`.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Attributes, AttributeValue, Span, SpanEvent } from "../../otlp/span.ts";
import { jsonOf, plainAttributes } from "../attributes/plain-values.ts";
import { choiceOfEvent, isOfRecord, messageOfEvent } from "./event-messages.ts";
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
      if (EXCEPTIONS.has(event.name)) talk.exceptions.push(event);
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
    keepRecord(event, talk);
    talk.spoken.push(["messages", event]);
  } else if (event.name === "gen_ai.choice") {
    talk.choices.push(choiceOfEvent(event));
    keepRecord(event, talk);
    talk.spoken.push(["choices", event]);
  } else if (event.name === "gen_ai.content.prompt" && talk.prompt === null) takeSingle(event, talk, "prompt");
  else if (event.name === DETAILS_EVENT) takeDetails(event, talk);
  else if (event.name === "tool.output" && talk.toolOutput === null) {
    talk.toolOutput = plainAttributes(event.attributes);
    talk.spoken.push(["toolOutput", event]);
  } else if (event.name === "db.query.result" || event.name === "db.search.result") {
    talk.documents.push(plainAttributes(event.attributes));
    talk.spoken.push(["documents", event]);
  } else return false;
  return true;
}

/** What a log record says of itself belongs to the span, not to the message. */
function keepRecord({ attributes: { keys, values } }: SpanEvent, talk: Gathered): void {
  const own = keys.flatMap((key, at): [string, AttributeValue][] =>
    isOfRecord(key) ? [[key, values[at] ?? null]] : [],
  );
  if (own.length > 0)
    talk.detailAttributes.push({ keys: own.map(([key]) => key), values: own.map(([, value]) => value) });
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
  let isReplaced = false; // by another event with the same key
  for (const [at, key] of event.attributes.keys.entries()) {
    const given = event.attributes.values[at] ?? null;
    const name = Object.hasOwn(DETAILS, key) ? DETAILS[key] : undefined;
    if (name === undefined) {
      if (key === "event.name") continue;
      if (talk.detailAttributes.some((one) => hasOther(one, key, given))) {
        isReplaced = true;
        continue;
      }
      keys.push(key);
      values.push(given);
    } else if (given !== null) {
      const before = talk.spoken.findLast(([part]) => part === name)?.[1];
      if (before === undefined) talk.details[name] = jsonOf(given);
      else if (name !== "output") isReplaced = true;
      else {
        talk.details[name] = jsonOf(given); // several events: first input, last output
        talk.kept.push(keptEvent(before));
      }
      talk.spoken.push([name, event]);
    }
  }
  if (keys.length > DETAIL_ATTRIBUTES_MAX || isReplaced) talk.kept.push(keptEvent(event));
  if (keys.length > 0 && keys.length <= DETAIL_ATTRIBUTES_MAX) talk.detailAttributes.push({ keys, values });
}

function hasOther({ keys, values }: Attributes, key: string, value: AttributeValue): boolean {
  const at = keys.indexOf(key);
  return at >= 0 && values[at] !== value;
}
