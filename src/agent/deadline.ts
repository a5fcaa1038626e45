// Deadline: until when a question may wait, and what happens then, as its payload or its assistant says. Pure.
// Invariants:
//   DL1. The payload's word wins over the assistant's.
//   DL2. What is not a deadline in the form below is no deadline: a payload's members are the graph's own business.
import { isJsonObject, type Json, type JsonObject } from "../base/json.ts";
import type { OnExpiry } from "./model.ts";

export interface Deadline {
  readonly expiresAt: number | null;
  readonly onExpiry: OnExpiry | null;
}

const NONE: Deadline = { expiresAt: null, onExpiry: null };
const SECONDS_MAX = 10 * 366 * 24 * 3600;

/** Member of an assistant's metadata with the deadline of its questions: `{expires_in_seconds, on_expiry}`. */
const ASSISTANT_KEY = "interrupt_deadline";

/**
 * `{expires_at: "2026-12-01T12:00:00Z"}` or `{expires_in_seconds: 3600}`, with `on_expiry: "fail"` or
 * `on_expiry: {answer: …}`; in a list of one object, as agent inboxes know it, in that object.
 * @param askedAt time of asking, from which seconds count.
 */
export function deadlineOf(value: Json, askedAt: number): Deadline {
  const only = Array.isArray(value) && value.length === 1 ? (value[0] as Json) : value;
  return isJsonObject(only) ? read(only, askedAt) : NONE;
}

/** @param metadata of the assistant. */
export function assistantDeadline(metadata: JsonObject, askedAt: number): Deadline {
  const given = metadata[ASSISTANT_KEY];
  return isJsonObject(given) ? read(given, askedAt) : NONE;
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
