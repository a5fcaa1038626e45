// Candidates: one pass over the bytes of a request finds the places where a rule could apply. Messages without one are
// copied, or kept, as they are: decoding every text for every rule would cost several times the decoding of the request.
// The pass looks at every second pair of bytes, and at every twelfth byte for long numbers; a rare pair leads to the
// comparison of a whole pattern.
// Invariants:
//   candidates.1. A place that a rule matches has a candidate in its bytes, in either encoding and with escapes of JSON: a
//        rule whose pattern names no fixed text makes everything a candidate.
//   candidates.2. The work at one position is bounded, whatever the bytes are.
import type { WireFormat } from "../../otlp/status.ts";
import { type BytePattern, literalSources, matchesAt, patternOf, rarestWindow } from "./byte-pattern.ts";
import { CARD_GROUPINGS, hasDigitsAround, isCardInJson } from "./card-numbers.ts";

/** The bytes that a value must have for a rule to match. */
export type Requirement =
  /** Sources of one byte each. */
  | { readonly kind: "bytes"; readonly sources: readonly string[] }
  /** A payment card number. */
  | { readonly kind: "card" }
  /** An integer of this many digits or more. */
  | { readonly kind: "integer"; readonly digits: number }
  | { readonly kind: "anything" };

export interface Candidates {
  /** True when a rule could apply between these offsets. */
  readonly within: (start: number, end: number) => boolean;
  readonly none: boolean;
}

export const EVERYWHERE: Candidates = { within: () => true, none: false };
const NOWHERE: Candidates = { within: () => false, none: true };

/** An escape of an ASCII character, as `\u0040` for "@": any pattern could hide in one. */
const ESCAPED = ["\\\\", "u", "0", "0", "[2-7]"];
const CARD_DIGITS_MIN = 13;
const NUMBER_STEP = CARD_DIGITS_MIN - 1;
/** A longer row of digits is a candidate without a look at it. */
const NUMBER_BYTES_MAX = 64;

const WINDOW_BYTES = 1024 * 1024;
/** With more candidates per byte, ranges cost more than they save. */
const BYTES_A_CANDIDATE = 48;

export interface Finder {
  /** Yields between windows. */
  readonly find: (body: Buffer, format: WireFormat) => Generator<undefined, Candidates>;
}

export function candidateFinder(requirements: readonly Requirement[]): Finder {
  if (requirements.some(({ kind }) => kind === "anything")) return { find: everywhere };
  if (requirements.length === 0) return { find: nowhere };
  const scans = { protobuf: scanOf(requirements, "protobuf"), json: scanOf(requirements, "json") };
  return { find: (body, format) => findIn(body, scans[format]) };
}

// oxlint-disable-next-line require-yield
function* everywhere(): Generator<undefined, Candidates> {
  return EVERYWHERE;
}

// oxlint-disable-next-line require-yield
function* nowhere(): Generator<undefined, Candidates> {
  return NOWHERE;
}

interface Scan {
  /** By a pair of bytes in the order of the machine (little-endian): 0, or the index in `lists`. */
  readonly pairs: Uint16Array;
  /** 1 where `pairs` is not 0: half the size, for the caches of the processor. */
  readonly isPair: Uint8Array;
  readonly lists: readonly (readonly Entry[])[];
  /** Decides whether digits, with what stands before them, are a candidate. null: long numbers are none. */
  readonly isCard: ((b: Buffer, start: number, end: number) => boolean) | null;
}

/** A pattern, and the position of the pair in it. */
interface Entry {
  readonly pattern: BytePattern;
  readonly offset: number;
  /** One of CARD_GROUPINGS. */
  readonly isGrouping: boolean;
}

function scanOf(requirements: readonly Requirement[], format: WireFormat): Scan {
  const patterns = new Map<string, BytePattern>();
  const hasCards = requirements.some(({ kind }) => kind === "card");
  const all = [ESCAPED, ...requirements.map((requirement) => sourcesOf(requirement, format))];
  for (const sources of all) if (sources !== null) patterns.set(sources.join(" "), patternOf(sources));
  const entries = new Map<number, Entry[]>();
  for (const pattern of patterns.values()) addPattern(entries, pattern, false);
  if (hasCards)
    for (const sources of CARD_GROUPINGS) {
      const pattern = patternOf(sources);
      patterns.set(`card ${sources.join(" ")}`, pattern);
      addPattern(entries, pattern, true);
    }
  const pairs = new Uint16Array(65536);
  const lists = new Map<string, { index: number; list: readonly Entry[] }>();
  const ids = new Map<BytePattern, number>([...patterns.values()].map((pattern, index) => [pattern, index]));
  for (const [pair, list] of entries) {
    const key = list.map(({ pattern, offset }) => `${ids.get(pattern) ?? 0}:${offset}`).join(" ");
    const known = lists.get(key) ?? { index: lists.size + 1, list };
    lists.set(key, known);
    pairs[pair] = known.index;
  }
  const isCard = format === "json" ? isCardInJson : () => true;
  const isPair = Uint8Array.from(pairs, (list) => Math.min(list, 1));
  return {
    pairs,
    isPair,
    lists: [[], ...[...lists.values()].map(({ list }) => list)],
    isCard: hasCards ? isCard : null,
  };
}

function addPattern(entries: Map<number, Entry[]>, pattern: BytePattern, isGrouping: boolean): void {
  const { offset, pairs } = rarestWindow(pattern);
  for (const [index, [one, two]] of pairs.entries())
    for (let first = 0; first < 256; first++) {
      if (one[first] !== 1) continue;
      for (let second = 0; second < 256; second++) {
        if (two[second] !== 1) continue;
        const list = entries.get(first + second * 256) ?? [];
        list.push({ pattern, offset: offset + index, isGrouping });
        entries.set(first + second * 256, list);
      }
    }
}

function sourcesOf(requirement: Requirement, format: WireFormat): readonly string[] | null {
  if (requirement.kind === "bytes") return requirement.sources;
  if (format === "json" || requirement.kind === "anything") return null;
  // The field int_value with a varint: JSON has the digits themselves.
  const digits = requirement.kind === "card" ? CARD_DIGITS_MIN : requirement.digits;
  const bytes = Math.ceil((10n ** BigInt(Math.min(digits, 19) - 1)).toString(2).length / 7);
  return ["\\x18", ...Array.from({ length: bytes - 1 }, () => "[\\x80-\\xff]")];
}

/** The text as a requirement. */
export function literalRequirement(text: string): Requirement {
  return { kind: "bytes", sources: literalSources(text) };
}

function* findIn(body: Buffer, scan: Scan): Generator<undefined, Candidates> {
  const offsets: number[] = [];
  const offsetsMax = 64 + body.length / BYTES_A_CANDIDATE;
  for (let start = 0; start < body.length; start += WINDOW_BYTES) {
    if (start > 0) yield;
    const end = Math.min(body.length, start + WINDOW_BYTES);
    findPatterns(body, { start, end, scan, offsets, offsetsMax });
    if (scan.isCard !== null) findNumbers(body, { start, end, scan, offsets, offsetsMax });
    if (offsets.length > offsetsMax) return EVERYWHERE;
  }
  if (offsets.length === 0) return NOWHERE;
  const sorted = Float64Array.from(offsets).sort();
  return { none: false, within: (start, end) => hasOneIn(sorted, start, end) };
}

interface Finding {
  readonly start: number;
  readonly end: number;
  readonly scan: Scan;
  readonly offsets: number[];
  readonly offsetsMax: number;
}

function findPatterns(b: Buffer, { end, offsets, offsetsMax, scan, start }: Finding): void {
  const { isPair } = scan;
  const first = Math.min(end, start + (-(b.byteOffset + start) & 3)); // words are aligned in their memory
  const words = end - first < 4 ? NO_WORDS : new Uint32Array(b.buffer, b.byteOffset + first, (end - first) >> 2);
  for (let at = first - 2; at >= start - 1; at -= 2) findAt(b, at, { scan, offsets });
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? 0; // two pairs
    if (((isPair[word & 0xffff] ?? 0) | (isPair[word >>> 16] ?? 0)) === 0) continue;
    findAt(b, first + index * 4, { scan, offsets });
    findAt(b, first + index * 4 + 2, { scan, offsets });
    if (offsets.length > offsetsMax) return;
  }
  for (let at = first + words.length * 4; at < end - 1; at += 2) findAt(b, at, { scan, offsets });
  findAt(b, end - 1, { scan, offsets }); // the last byte, and the pair over the edge
}

const NO_WORDS = new Uint32Array(0);

/** The patterns that a pair at this offset leads to; beyond the body, any byte stands for all. */
function findAt(b: Buffer, at: number, { offsets, scan }: Pick<Finding, "offsets" | "scan">): void {
  const list = scan.pairs[(at < 0 ? 0 : (b[at] ?? 0)) | ((b[at + 1] ?? 0) << 8)] ?? 0;
  for (const { isGrouping, offset, pattern } of scan.lists[list] ?? [])
    if (matchesAt(b, at - offset, pattern) && (!isGrouping || hasDigitsAround(b, at - offset)))
      offsets.push(at - offset);
}

/** Thirteen digits, with a space or dash between, cover two neighbours of which one is at a multiple of twelve. */
function findNumbers(b: Buffer, { end, offsets, offsetsMax, scan, start }: Finding): void {
  for (let at = start - (start % NUMBER_STEP); at < end; at += NUMBER_STEP) {
    if (!isDigit(b[at]) && !isDigit(b[at + 1])) continue;
    const { first, stop } = numberAround(b, isDigit(b[at]) ? at : at + 1);
    const length = stop - first;
    if (length < CARD_DIGITS_MIN || isFraction(b, first, stop)) continue;
    if (length > NUMBER_BYTES_MAX || scan.isCard?.(b, first, stop) === true) {
      // Bytes before a text can look like digits: each place with enough digits behind it is a candidate.
      for (let from = first; from <= stop - CARD_DIGITS_MIN; from++) offsets.push(from);
      if (offsets.length > offsetsMax) return;
    }
    at = Math.max(at, stop - (stop % NUMBER_STEP) - NUMBER_STEP);
  }
}

/** At most NUMBER_BYTES_MAX to either side (candidates.2). */
function numberAround(b: Buffer, inside: number): { readonly first: number; readonly stop: number } {
  let first = inside;
  while (isDigit(b[first - 1]) || (isSeparator(b[first - 1]) && isDigit(b[first - 2]))) {
    if (inside - first > NUMBER_BYTES_MAX) break;
    first--;
  }
  let stop = inside + 1;
  while (isDigit(b[stop]) || (isSeparator(b[stop]) && isDigit(b[stop + 1]))) {
    if (stop - inside > NUMBER_BYTES_MAX) break;
    stop++;
  }
  return { first, stop };
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function isSeparator(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x2d;
}

/**
 * As the detector's rule for the digits after a point. In protobuf, no tag and length of a text look like a digit and a
 * point.
 */
function isFraction(b: Buffer, first: number, stop: number): boolean {
  if (b[first - 1] !== 0x2e || !isDigit(b[first - 2])) return false;
  for (let at = first; at < stop; at++) if (!isDigit(b[at])) return false;
  return true;
}

/** A candidate that begins before `start` may reach into the range: a length in front can look like a digit. */
function hasOneIn(offsets: Float64Array, start: number, end: number): boolean {
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
