// Shown payload: what an interrupt showed, so that its answer is handed to a place that shows the same.
// Rules:
//   - `exact` is equal for equal JSON, in any order of members.
//   - `masked` leaves out what a node makes anew each time it runs: times close to the moment of asking, random
//     fractions, UUIDs and other random texts. Two payloads that differ in anything else differ in it, but for their
//     deadline, which is beside it.
import { contentHash } from "@holdpoint/base/ids.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import { isSameDeadline, SLACK_MS, splitDeadline, type PayloadDeadline } from "./payload-deadline.ts";

export interface ShownPayload {
  readonly exact: string;
  readonly masked: string;
  readonly deadline?: PayloadDeadline;
}

export interface DescribedPayload extends ShownPayload {
  /** Random texts that `masked` leaves out. If the state has one, it names something and is not random. */
  readonly random: readonly string[];
}

const VOLATILE =
  /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|(?<!\d)0?\.\d{10,}(?:e-\d+)?|[\dA-Za-z]{9,}/gi;
const FRACTION = /^0?\.\d/;
const EPOCH = /^(?:\d{10}|\d{13})$/;
const UUID = /^[\da-f]{8}-/i;
const DATE = /^\d{4}-\d\d-\d\dT/;
const KIND_CHANGE = /\d(?=[A-Za-z])|[A-Za-z](?=\d)/g;
const KIND_CHANGES_MIN = 3;

/** @param from time of the interrupt at the earliest, in ms @param to at the latest: times between them are left out */
export function describePayload(value: Json, from: number, to: number): DescribedPayload {
  const { rest, deadline } = splitDeadline(value, from);
  const text = JSON.stringify(value, sortMembers);
  const random: string[] = [];
  const masked = (deadline === null ? text : JSON.stringify(rest, sortMembers)).replace(VOLATILE, (token) => {
    if (DATE.test(token) || EPOCH.test(token)) {
      const at = DATE.test(token) ? Date.parse(token) : Number(token.length === 10 ? `${token}000` : token);
      return at >= from - SLACK_MS && at <= to + SLACK_MS ? "~time" : token;
    }
    if (FRACTION.test(token)) return "~random";
    if (!UUID.test(token) && (token.match(KIND_CHANGE)?.length ?? 0) < KIND_CHANGES_MIN) return token;
    random.push(token);
    return "~random";
  });
  const shown = { exact: contentHash(text), masked: contentHash(masked), random };
  return deadline === null ? shown : { ...shown, deadline };
}

/** What differs between them is made anew each time the node runs. */
export function isAlike(one: ShownPayload, other: ShownPayload): boolean {
  return one.masked === other.masked && isSameDeadline(one.deadline ?? null, other.deadline ?? null);
}

/** Equal for equal JSON: -0 is 0, in any order of members. */
export function hashJson(value: Json): string {
  return contentHash(JSON.stringify(value, sortMembers));
}

function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
