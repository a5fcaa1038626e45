// Payload deadline: the time in a question's payload at which it expires.
// Rules:
//   - A node may compute the time anew each time it runs. The same time, or a time as long after the asking, is the
//     same deadline. Any other time is another content: a graph may use it for more than the question.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

export interface PayloadDeadline {
  readonly askedAt: number;
  readonly expiresAt: number;
}

interface FoundDeadline extends PayloadDeadline {
  readonly member: "expires_at" | "expires_in_seconds";
}

/** A payload is made shortly before its interrupt. */
export const SLACK_MS = 10 * 60_000;
const SECONDS_MAX = 10 * 366 * 24 * 3600;

export function findDeadline(
  { expires_at: at, expires_in_seconds: seconds }: JsonObject,
  askedAt: number,
): FoundDeadline | null {
  const time = parseTime(at);
  if (time !== null) return { askedAt, expiresAt: time, member: "expires_at" };
  if (!isDuration(seconds)) return null;
  const expiresAt = askedAt + Math.ceil(seconds * 1000);
  return { askedAt, expiresAt, member: "expires_in_seconds" };
}

/** Agent inboxes accept a list of one. */
export function onlyPayload(value: Json): Json {
  return Array.isArray(value) && value.length === 1 ? (value[0] as Json) : value;
}

/** @returns the payload with a mark in place of its time */
export function splitDeadline(
  value: Json,
  askedAt: number,
): { readonly rest: Json; readonly deadline: PayloadDeadline | null } {
  const payload = onlyPayload(value);
  const found = isJsonObject(payload) ? findDeadline(payload, askedAt) : null;
  if (found === null || !isJsonObject(payload)) return { rest: value, deadline: null };
  const { member, ...deadline } = found;
  const marked = { ...payload, [member]: "~time" };
  return { rest: payload === value ? marked : [marked], deadline };
}

export function isSameDeadline(one: PayloadDeadline | null, other: PayloadDeadline | null): boolean {
  if (one === null || other === null) return one === other;
  const moved = Math.abs(one.expiresAt - other.expiresAt);
  const moreLeft = Math.abs(one.expiresAt - one.askedAt - (other.expiresAt - other.askedAt));
  return Math.min(moved, moreLeft) <= SLACK_MS;
}

/** Requires a time zone, so that the time does not depend on the server's location. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/;

function parseTime(given: Json | undefined): number | null {
  if (typeof given !== "string" || !ISO_TIME.test(given)) return null;
  const time = Date.parse(given);
  return Number.isNaN(time) ? null : time;
}

function isDuration(given: Json | undefined): given is number {
  return typeof given === "number" && given >= 0 && given <= SECONDS_MAX;
}
