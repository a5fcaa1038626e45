// Candidates: one pass over the bytes of a request finds the places where a rule could apply. Messages without one are
// copied, or kept, as they are: decoding every text for every rule would cost several times the decoding of the request.
// Invariants:
//   candidates.1. A place that a rule matches has a candidate in its bytes, in either encoding and with escapes of JSON: a
//        rule whose pattern names no fixed text makes everything a candidate.
//   candidates.2. The work at one position is bounded, whatever the bytes are.

/** What must be in the bytes of a value that a rule matches. */
export type Requirement =
  | { readonly kind: "literal"; readonly text: string }
  /** Source of a regular expression over bytes, which must not need unbounded work at a position. */
  | { readonly kind: "pattern"; readonly source: string }
  | { readonly kind: "anything" };

export interface Candidates {
  /** True when a rule could apply between these offsets. */
  readonly within: (start: number, end: number) => boolean;
  readonly none: boolean;
}

const EVERYWHERE: Candidates = { within: () => true, none: false };
const NOWHERE: Candidates = { within: () => false, none: true };

/** An escape of an ASCII character, as `\u0040` for "@": any literal could hide in one. */
const ESCAPED = String.raw`\\u00[2-7]`;
/** Some senders write "/" as "\/". */
const ESCAPED_SOLIDUS = String.raw`\\/`;
/** An int64 of 13 digits or more, as a varint of protobuf. */
export const LONG_VARINT = String.raw`\x18[\x80-\xff]{5}`;
export const LONG_DIGITS = String.raw`\d(?:[ -]?\d){12}`;

const WINDOW_BYTES = 1024 * 1024;
/** No alternative looks further ahead. */
const OVERLAP_BYTES = 256;
/** With more candidates per byte, ranges cost more than they save. */
const BYTES_A_CANDIDATE = 48;

export interface Finder {
  /** Yields between windows. */
  readonly find: (body: Buffer) => Generator<undefined, Candidates>;
}

export function candidateFinder(requirements: readonly Requirement[]): Finder {
  const alternatives = new Set<string>();
  for (const requirement of requirements) {
    if (requirement.kind === "anything") return { find: everywhere };
    alternatives.add(requirement.kind === "pattern" ? requirement.source : literalSource(requirement.text));
    if (requirement.kind === "literal" && requirement.text.includes("/")) alternatives.add(ESCAPED_SOLIDUS);
  }
  if (alternatives.size === 0) return { find: nowhere };
  const pattern = new RegExp(`(?=${[ESCAPED, ...alternatives].join("|")})[^]`, "g");
  return { find: (body) => findIn(body, pattern) };
}

// oxlint-disable-next-line require-yield
function* everywhere(): Generator<undefined, Candidates> {
  return EVERYWHERE;
}

// oxlint-disable-next-line require-yield
function* nowhere(): Generator<undefined, Candidates> {
  return NOWHERE;
}

/** Bytes of the text's UTF-8, each as a character. */
function literalSource(text: string): string {
  return Buffer.from(text)
    .toString("latin1")
    .replaceAll(/[^]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function* findIn(body: Buffer, pattern: RegExp): Generator<undefined, Candidates> {
  const offsets: number[] = [];
  const offsetsMax = 64 + body.length / BYTES_A_CANDIDATE;
  for (let start = 0; start < body.length; start += WINDOW_BYTES) {
    if (start > 0) yield;
    const window = body.toString("latin1", start, Math.min(body.length, start + WINDOW_BYTES + OVERLAP_BYTES));
    pattern.lastIndex = 0;
    for (let found = pattern.exec(window); found !== null; found = pattern.exec(window)) {
      if (found.index >= WINDOW_BYTES) break;
      offsets.push(start + found.index);
      if (offsets.length > offsetsMax) return EVERYWHERE;
    }
  }
  return offsets.length === 0 ? NOWHERE : { none: false, within: (start, end) => hasOneIn(offsets, start, end) };
}

/** A candidate that begins before `start` may reach into the range: a length in front can look like a digit. */
function hasOneIn(offsets: readonly number[], start: number, end: number): boolean {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  const next = offsets[low];
  return next !== undefined && next < end;
}
