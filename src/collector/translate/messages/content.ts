// Content: the building blocks of inputs and outputs. Both are ordered lists of sources; the first source with a result
// wins. Invariants:
//   content.1. Inputs and outputs are JSON objects: other values become a member with the name in the table.
//   content.2. A sender's JSON object keeps its text after a check: digits and order stay unchanged.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import type { AttributeValue } from "../../otlp/span.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { signs, sources, type Sources, union } from "../attributes/known-keys.ts";
import { withRest } from "./members.ts";
import { looksLikeMessages, messagesOf } from "./messages.ts";
import { isObject, jsonOf, type Parsed, unwrapValue } from "../attributes/plain-values.ts";
import type { SpanTalk } from "./span-events.ts";
import type { RunType } from "../../shared/trace-run.ts";

export interface Found {
  readonly value: JsonObject;
  /** The text of exactly this value, when there is one. */
  readonly source: string | null;
}

export interface Subject {
  readonly facts: Facts;
  readonly talk: SpanTalk;
  readonly type: RunType;
}

export interface ContentSource {
  (subject: Subject): Found | null;
  /** Yields nothing without one of these. */
  readonly when?: Sources;
}

/** A source that applies only to spans with one of these attributes. */
export function given(when: Sources, source: (subject: Subject) => Found | null): ContentSource {
  return Object.assign((subject: Subject) => source(subject), { when });
}

export function firstOf(list: readonly ContentSource[], subject: Subject): Found | null {
  const { facts } = subject;
  for (const source of list) {
    if (source.when !== undefined && !facts.has(source.when)) continue;
    const mark = facts.mark();
    const found = source(subject);
    if (found !== null) return found;
    facts.release(mark);
  }
  return null;
}

export function found(value: JsonObject): Found {
  return { value, source: null };
}

/** An object is itself, a conversation becomes {messages}, everything else {[key]: value}. Empty text is nothing. */
export function wrapped(parsed: Parsed, key: string): Found | null {
  const { value } = parsed;
  if (isObject(value)) return { value, source: parsed.source };
  if (value === null || value === "") return null;
  if (looksLikeMessages(value)) return found({ messages: messagesOf(value) });
  return found({ [key]: value });
}

/** One attribute after the other, each wrapped under `key`. */
export function attributes(key: string, ...names: readonly string[]): ContentSource {
  const list = names.map((name) => sources(name));
  const all = union(...list);
  return given(all, ({ facts }) => {
    for (const one of list) {
      if (!facts.has(one)) continue;
      const mark = facts.mark();
      const result = wrappedAttribute(facts.value(one), key);
      if (result !== null) return result;
      facts.release(mark);
    }
    return null;
  });
}

function wrappedAttribute(value: AttributeValue | undefined, key: string): Found | null {
  return value === undefined ? null : wrapped(unwrapValue(value), key);
}

/** {messages}, or nothing when there are none. */
export function conversation(messages: readonly Json[]): Found | null {
  return messages.length === 0 ? null : found({ messages });
}

/**
 * Marks of the backend's own SDK: on its spans `gen_ai.prompt` and `gen_ai.completion` are the whole inputs and
 * outputs.
 */
const OWN_SDK: Sources = signs(
  "langsmith.span.id",
  "langsmith.span.kind",
  "langsmith.trace.id",
  "langsmith.trace.name",
  "langsmith.span.dotted_order",
  "langsmith.span.parent_id",
);

/**
 * The SDK's exporter adds these marks to the AI SDK's spans too, and half of their content: their own rules read those.
 */
const FOREIGN: Sources = signs("ai.operationId");

export function ofOwnSdk(source: ContentSource): ContentSource {
  return (subject) => (subject.facts.has(OWN_SDK) && !subject.facts.has(FOREIGN) ? source(subject) : null);
}

export function onlyFor(type: RunType, list: readonly ContentSource[]): ContentSource {
  return (subject) => (subject.type === type ? firstOf(list, subject) : null);
}

/** Where the list of an all-in-one history ends and the answer begins: before the last message of the assistant. */
export function splitHistory(messages: readonly Json[]): {
  readonly before: readonly Json[];
  readonly answer: readonly Json[];
} {
  const at = messages.findLastIndex((message) => isObject(message) && message["role"] === "assistant");
  return at === -1 ? { before: messages, answer: [] } : { before: messages.slice(0, at), answer: messages.slice(at) };
}

/** Items of Logfire's `events` and `all_messages_events`: message events written into one attribute. */
export function messageOfLogEvent(item: Json): Json {
  if (!isObject(item)) return item;
  const { "event.name": name, "gen_ai.message.index": _index, "gen_ai.system": _system, id, ...rest } = item;
  const implied = /^gen_ai\.(\w+)\.message$/.exec(typeof name === "string" ? name : "")?.[1];
  const role = typeof rest["role"] === "string" ? rest["role"] : (implied ?? "user");
  const made: JsonObject = id === undefined ? { role } : role === "tool" ? { role, tool_call_id: id } : { role, id };
  return withRest(made, rest, NONE);
}

const NONE: ReadonlySet<string> = new Set();

/** The attribute's list, or nothing: then the attribute stays unused. */
export function listWithin(facts: Facts, from: Sources): readonly Json[] {
  const mark = facts.mark();
  const list = jsonOf(facts.value(from));
  if (Array.isArray(list)) return list as readonly Json[];
  facts.release(mark);
  return [];
}
