// Deadline: until when a question may wait, and what happens then. Pure.
// Invariants:
//   deadline.1. The first of these that names a time decides, alone: the options that the graph's code gives to interrupt(), the
//        deployment's langgraph.json, the payload, the assistant.
//   deadline.2. What is not a deadline in the form below is no deadline: a payload's members are the graph's own business.
//   deadline.3. A default answer never comes from a payload: its members may be a model's words.
import { isJsonObject, type Json, type JsonObject } from "../../base/json/json.ts";
import type { OnExpiry } from "../model/model.ts";
import type { Question } from "../ports/ports.ts";

export interface Deadline {
  readonly expiresAt: number | null;
  readonly onExpiry: OnExpiry | null;
}

const NONE: Deadline = { expiresAt: null, onExpiry: null };
const SECONDS_MAX = 10 * 366 * 24 * 3600;

/** Member of a response schema with the deadline of its question: only the graph's code writes the schema. */
const SCHEMA_KEY = "x-holdpoint-deadline";

/** Member of an assistant's metadata with the deadline of its questions: `{expires_in_seconds, on_expiry}`. */
const ASSISTANT_KEY = "interrupt_deadline";

/**
 * `{expires_at: "2026-12-01T12:00:00Z"}` or `{expires_in_seconds: 3600}`, with `on_expiry: "fail"` or
 * `on_expiry: {answer: …}`.
 * @param assistant its metadata
 * @param askedAt time of asking, from which seconds count.
 */
export function deadlineOf(
  { value, responseSchema, deadline }: Pick<Question, "value" | "responseSchema" | "deadline">,
  assistant: JsonObject,
  askedAt: number,
): Deadline {
  const payload = Array.isArray(value) && value.length === 1 ? (value[0] as Json) : value; // as agent inboxes know it
  // By name, not by identity: a graph may use one object as payload and as option.
  const sources = { schema: responseSchema?.[SCHEMA_KEY], deadline, payload, assistant: assistant[ASSISTANT_KEY] };
  for (const [source, from] of Object.entries(sources)) {
    const found = isJsonObject(from) ? read(from, askedAt) : NONE;
    if (found.expiresAt === null) continue;
    const isAnswer = found.onExpiry !== null && found.onExpiry !== "fail";
    return source === "payload" && isAnswer ? { ...found, onExpiry: null } : found; // deadline.3
  }
  return NONE;
}

/** Whether an assistant's metadata say which answer its questions get when nobody gives one. */
export function hasDefaultAnswer(metadata: JsonObject): boolean {
  const given = metadata[ASSISTANT_KEY];
  return isJsonObject(given) && isJsonObject(given["on_expiry"]);
}

function read(from: JsonObject, askedAt: number): Deadline {
  const { expires_at: at, expires_in_seconds: seconds, on_expiry: then } = from;
  const expiresAt = timeOf(at) ?? (isDuration(seconds) ? askedAt + Math.ceil(seconds * 1000) : null);
  return expiresAt === null ? NONE : { expiresAt, onExpiry: onExpiryOf(then) };
}

/** With a zone, so that it means the same wherever the server is. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/;

function timeOf(given: Json | undefined): number | null {
  if (typeof given !== "string" || !ISO_TIME.test(given)) return null;
  const time = Date.parse(given);
  return Number.isNaN(time) ? null : time;
}

function isDuration(given: Json | undefined): given is number {
  return typeof given === "number" && given >= 0 && given <= SECONDS_MAX;
}

function onExpiryOf(given: Json | undefined): OnExpiry | null {
  if (given === "fail") return "fail";
  return isJsonObject(given) && Object.hasOwn(given, "answer") ? { answer: given["answer"] ?? null } : null;
}
