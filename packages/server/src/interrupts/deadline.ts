// Deadline: expiry time and expiry action of an interrupt. Pure.
// Invariants:
//   deadline.1. The first source with a time wins alone: the options of interrupt() in the graph's code, the
//     deployment's langgraph.json, the payload, the assistant.
//   deadline.2. Members that do not match the form below are not a deadline: the payload belongs to the graph.
//   deadline.3. A default answer never comes from a payload, because a model may have written it.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { OnExpiry } from "../model/model.ts";
import { findDeadline, onlyPayload } from "../model/payload/payload-deadline.ts";
import type { OpenInterrupt } from "../ports/ports.ts";

export interface Deadline {
  readonly expiresAt: number | null;
  readonly onExpiry: OnExpiry | null;
}

const NONE: Deadline = { expiresAt: null, onExpiry: null };

/** Member of a response schema with the deadline. Only the graph's code writes the schema. */
export const DEADLINE_MEMBER = "x-holdpoint-deadline";

/** Member of an assistant's metadata with the deadline of its interrupts: `{expires_in_seconds, on_expiry}`. */
const ASSISTANT_KEY = "interrupt_deadline";

/**
 * `{expires_at: "2026-12-01T12:00:00Z"}` or `{expires_in_seconds: 3600}`, with `on_expiry: "fail"` or `on_expiry:
 * {answer: …}`.
 * @param assistant its metadata
 * @param askedAt creation time of the interrupt, the base of `expires_in_seconds`
 */
export function buildDeadline(
  { value, responseSchema, deadline }: Pick<OpenInterrupt, "value" | "responseSchema" | "deadline">,
  assistant: JsonObject,
  askedAt: number,
): Deadline {
  const payload = onlyPayload(value);
  // Compare by name, not by identity: a graph may pass one object as payload and as option.
  const sources = { schema: responseSchema?.[DEADLINE_MEMBER], deadline, payload, assistant: assistant[ASSISTANT_KEY] };
  for (const [source, from] of Object.entries(sources)) {
    const found = isJsonObject(from) ? readDeadline(from, askedAt) : NONE;
    if (found.expiresAt === null) continue;
    const isAnswer = found.onExpiry !== null && found.onExpiry !== "fail";
    return source === "payload" && isAnswer ? { ...found, onExpiry: null } : found; // deadline.3
  }
  return NONE;
}

/** True if the assistant's metadata define a default answer for its interrupts. */
export function hasDefaultAnswer(metadata: JsonObject): boolean {
  const given = metadata[ASSISTANT_KEY];
  return isJsonObject(given) && isJsonObject(given["on_expiry"]);
}

function readDeadline(from: JsonObject, askedAt: number): Deadline {
  const found = findDeadline(from, askedAt);
  return found === null ? NONE : { expiresAt: found.expiresAt, onExpiry: readOnExpiry(from["on_expiry"]) };
}

function readOnExpiry(given: Json | undefined): OnExpiry | null {
  if (given === "fail") return "fail";
  return isJsonObject(given) && Object.hasOwn(given, "answer") ? { answer: given["answer"] ?? null } : null;
}
