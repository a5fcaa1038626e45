// Shown payload: what an interrupt showed, so that its answer is handed to a place that shows the same.
// Rules:
//   shown-payload.1. `exact` is equal for equal JSON, in any order of members.
//   shown-payload.2. `masked` leaves out what a node makes anew each time it runs: times close to the moment of asking,
//        random fractions, UUIDs and other random texts. Two payloads that differ in anything else differ in it.
import { contentHash } from "@holdpoint/base/ids.ts";
import type { Json } from "@holdpoint/base/json/json.ts";

export interface ShownPayload {
  readonly exact: string;
  readonly masked: string;
}

export interface DescribedPayload extends ShownPayload {
  /** Random texts that `masked` leaves out. If the state has one, it names something and is not random. */
  readonly random: readonly string[];
}

/** A payload is made shortly before its interrupt. */
const SLACK_MS = 10 * 60_000;
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
  const text = JSON.stringify(value, sortMembers);
  const random: string[] = [];
  const masked = text.replace(VOLATILE, (token) => {
    if (DATE.test(token) || EPOCH.test(token)) {
      const at = DATE.test(token) ? Date.parse(token) : Number(token.length === 10 ? `${token}000` : token);
      return at >= from - SLACK_MS && at <= to + SLACK_MS ? "~time" : token;
    }
    if (FRACTION.test(token)) return "~random";
    if (!UUID.test(token) && (token.match(KIND_CHANGE)?.length ?? 0) < KIND_CHANGES_MIN) return token;
    random.push(token);
    return "~random";
  });
  return { exact: contentHash(text), masked: contentHash(masked), random };
}

function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
