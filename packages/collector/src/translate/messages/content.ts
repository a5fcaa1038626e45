// Content: the building blocks of inputs and outputs. Both are ordered lists of sources; the first source with a result
// wins. Invariants:
//   - Inputs and outputs are JSON objects: other values become a member with the name in the table.
//   - A sender's JSON object keeps its text after a check: digits and order stay unchanged.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { AttributeValue } from "../../otlp/span.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { type Cut, readCuts } from "../attributes/cut-json.ts";
import { signs, sources, type Sources, union } from "../attributes/known-keys.ts";
import { member, textMember } from "../attributes/indexed.ts";
import { isObject, toJson, type Parsed, unwrapValue } from "../attributes/plain-values.ts";
import { spell } from "../attributes/spellings.ts";
import { readPart } from "../forms/block-forms.ts";
import { readConversation, type Conversation } from "../forms/envelopes.ts";
import { withRest } from "../forms/members.ts";
import { listMessages } from "../forms/messages.ts";
import { readPython } from "../forms/python-text.ts";
import type { SpanEventContent } from "./span-events.ts";
import type { RunType } from "../../shared/trace-run.ts";

export interface Found {
  readonly value: JsonObject;
  /** The text of exactly this value, when there is one. */
  readonly source: string | null;
}

export interface Subject {
  readonly facts: Facts;
  readonly eventContent: SpanEventContent;
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

export function findFirst(list: readonly ContentSource[], subject: Subject): Found | null {
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

/** Where content that is no object goes. */
export type Key = "input" | "output" | "text";

/**
 * Content in any form: messages become {messages, …}, another object is itself, everything else {[key]: value}. Empty
 * text is nothing. Tools have no messages: their arguments and results stay as they are.
 */
export function readContent(parsed: Parsed, key: Key, type: RunType): Found | null {
  const { value } = parsed;
  if (value === null || value === "") return null;
  const given = typeof value === "string" ? (readPython(value) ?? value) : value;
  const eventContent = type === "tool" ? null : readConversation(given, { role: toRole(key), isCall: type === "llm" });
  if (eventContent !== null)
    return writeConversation(key === "input" ? eventContent : renameUsage(eventContent), parsed);
  if (isObject(value)) return { value, source: parsed.source };
  return (typeof value === "string" ? readCut(value, key, type) : null) ?? found({ [key]: value });
}

function toRole(key: Key): "user" | "assistant" {
  return key === "input" ? "user" : "assistant";
}

/** A sender's object with messages in the target form keeps its text. */
function writeConversation({ messages, rest }: Conversation, { value, source }: Parsed): Found {
  const isSame =
    isObject(value) && value["messages"] === messages && Object.keys(rest).length === Object.keys(value).length - 1;
  return isSame ? { value, source } : found(withRest({ messages }, rest, NONE));
}

const NONE: ReadonlySet<string> = new Set();
const USAGE = spell("usage_metadata");

/** The name is the backend's own for tokens (token-usage.ts), which are not all that a sender counts. */
export function renameUsage({ messages, rest }: Conversation): Conversation {
  const name = USAGE.find((one) => rest[one] !== undefined);
  if (name === undefined) return { messages, rest };
  return { messages, rest: withRest({ usage: rest[name] ?? null }, rest, new Set([name])) };
}

/**
 * JSON that a limit of the attribute cut off: the messages or members that are complete, and the rest as text. Never a
 * message with JSON as its text.
 */
function readCut(text: string, key: Key, type: RunType): Found | null {
  const cuts = readCuts(text);
  const as = { role: toRole(key), isCall: type === "llm" };
  for (const cut of type === "tool" ? [] : cuts) {
    if (key === "input" && lacksRole(cut)) continue;
    const eventContent = readConversation(cut.whole, as);
    if (eventContent !== null && !isSilent(eventContent.messages.at(-1), cut))
      return found(withRest({ messages: eventContent.messages, truncated: cut.rest }, eventContent.rest, NONE));
  }
  const cut = cuts.at(-1);
  if (cut === undefined || cut.level > 0) return null; // not one member is complete
  return found(withRest(isObject(cut.whole) ? cut.whole : { [key]: cut.whole }, { truncated: cut.rest }, NONE));
}

const ROLES = ["role", "_role", "type", "event.name", "source"];

/** The role of the message that is cut off may stand behind its parts. Gemini's first one is the user's. */
function lacksRole({ level, whole }: Cut): boolean {
  let at = whole;
  let path = "";
  for (let depth = 0; depth < level; depth++) {
    const [name, inner] = Object.entries(at as JsonObject).at(-1) ?? ["", null];
    const holdsParts = isObject(at) && (name === "parts" || name === "content");
    if (holdsParts && ROLES.every((one) => member(at, one) === undefined)) return !path.endsWith("contents.0.");
    path += `${name}.`;
    at = inner;
  }
  return false;
}

/** The text of the message, or of its last block, is cut off as a whole. */
function isSilent(message: Json | undefined, { isList }: Cut): boolean {
  if (!isObject(message)) return false;
  const { content } = message;
  if (content === "") return message["tool_calls"] === undefined;
  const last = Array.isArray(content) && !isList ? (content as readonly Json[]).at(-1) : undefined;
  return last !== undefined && (member(last, "text") === "" || readPart(last).form === "");
}

/** The same for what a convention calls messages: a text alone is one. */
export function readMessages(given: AttributeValue | undefined, key: Key, type: RunType): Found | null {
  return given === undefined ? null : readParsedMessages(unwrapValue(given), key, type);
}

/** `readMessages` of a value that is read already. */
export function readParsedMessages(parsed: Parsed, key: Key, type: RunType): Found | null {
  const { value } = parsed;
  if (Array.isArray(value) && value.length === 0) return null;
  const read = readContent(parsed, key, type === "tool" ? "chain" : type);
  if (read === null || read.value["messages"] !== undefined) return read;
  const texts = Array.isArray(value) ? (value as readonly Json[]) : [value];
  if (texts.every((one) => typeof one === "string" && /^\s*"?\s*[[{]/.test(one))) return read; // cut off, without one whole message
  return conversation(listMessages(value, toRole(key)));
}

/** Senders that say so mean a text, also when it looks like JSON. */
const MIMES: ReadonlyMap<string, Sources> = new Map(
  ["input", "output"].map((side): [string, Sources] => [`${side}.value`, sources(`${side}.mime_type`)]),
);

/** One attribute after the other, each wrapped under `key`. */
export function attributes(key: Key, ...names: readonly string[]): ContentSource {
  const list = names.map((name) => ({ one: sources(name), mime: MIMES.get(name) }));
  const all = union(...list.map(({ one }) => one));
  return given(all, ({ facts, type }) => {
    for (const { mime, one } of list) {
      if (!facts.has(one)) continue;
      const mark = facts.mark();
      const given = facts.value(one) ?? null;
      const said = typeof given === "string" && mime !== undefined ? facts.peek(mime) : "";
      const result = readAs(said, given, key) ?? readContent(unwrapValue(given), key, type);
      if (result !== null) return result;
      facts.release(mark);
    }
    return null;
  });
}

/** A text and an image are what their media type says. */
function readAs(mime: string, given: AttributeValue, key: Key): Found | null {
  if (typeof given !== "string" || given === "") return null;
  if (mime.startsWith("text/plain")) return found({ [key]: given.toWellFormed() });
  const image = { type: "image", mime_type: mime, image: given.toWellFormed() };
  return mime.startsWith("image/") ? conversation(listMessages({ role: toRole(key), content: [image] })) : null;
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
  return (subject) => (subject.type === type ? findFirst(list, subject) : null);
}

/** Where the list of an all-in-one history ends and the answer begins: before the last message of the assistant. */
export function splitHistory(messages: readonly Json[]): {
  readonly before: readonly Json[];
  readonly answer: readonly Json[];
} {
  const at = messages.findLastIndex((message) => isObject(message) && message["role"] === "assistant");
  return at === -1 ? { before: messages, answer: [] } : { before: messages.slice(0, at), answer: messages.slice(at) };
}

/** Logfire's events: the choices are the answer, else messages of the assistant at the end (Responses). */
export function splitEvents(list: readonly Json[]): {
  readonly asked: readonly Json[];
  readonly said: readonly Json[];
} {
  const isChoice = (item: Json): boolean => textMember(item, "event.name") === "gen_ai.choice";
  if (list.some(isChoice)) return { asked: list.filter((item) => !isChoice(item)), said: list.filter(isChoice) };
  const end = list.findLastIndex((item) => textMember(item, "event.name") !== "gen_ai.assistant.message") + 1;
  return { asked: list.slice(0, end), said: list.slice(end) };
}

const OPERATION = signs("gen_ai.operation.name");
/** Where an answer of a model call stands, when no message event has it. */
const ANSWERS = signs(
  "gen_ai.output.messages",
  "gen_ai.completion",
  "gen_ai.content.completion",
  "gen_ai.response.text",
  "gen_ai.response.tool_calls",
  "output.value",
  "traceloop.entity.output",
  "langfuse.observation.output",
  "ai.response.text",
  "ai.response.toolCalls",
  "events",
  "final_result",
  "pydantic_ai.all_messages",
  "all_messages_events",
  "response_data",
  "mlflow.spanOutputs",
);

/** Message events without a choice: the turn that the assistant ends is the answer, and all that a list returns. */
export function splitTurn({ facts, eventContent, type }: Subject): {
  readonly asked: readonly Json[];
  readonly said: readonly Json[];
} {
  const { choices, completion, details, messages } = eventContent;
  if (messages.length === 0 || !CONVERSES.has(type)) return { asked: messages, said: [] };
  const isAnswered =
    choices.length > 0 ||
    completion !== null ||
    details.output !== null ||
    facts.has(ANSWERS) ||
    facts.familySize("completion") + facts.familySize("outputMessages") + facts.familySize("choices") > 0;
  if (isAnswered) return { asked: messages, said: [] };
  if (facts.peek(OPERATION).startsWith("list_")) return { asked: [], said: messages };
  if (textMember(messages.at(-1), "role") !== "assistant") return { asked: messages, said: [] };
  const end = messages.findLastIndex((one) => !TURN.has(textMember(one, "role"))) + 1;
  return { asked: messages.slice(0, end), said: messages.slice(end) };
}

const CONVERSES: ReadonlySet<RunType> = new Set(["chain", "llm"]);
/** Roles of what a model call adds to the messages. */
export const TURN: ReadonlySet<string> = new Set(["assistant", "tool"]);

/** The attribute's list, or nothing: then the attribute stays unused. */
export function listWithin(facts: Facts, from: Sources): readonly Json[] {
  const mark = facts.mark();
  const list = toJson(facts.value(from));
  if (Array.isArray(list)) return list as readonly Json[];
  facts.release(mark);
  return [];
}
