// Parse in slices: JSON.parse for long texts that yields to the event loop at intervals.
// Invariants:
//   parse-in-slices.1. It accepts exactly the texts that JSON.parse accepts, and gives the same value.
//   parse-in-slices.2. One turn holds the loop for STEP_UNITS of text, or for one string or number if that is longer.
//   parse-in-slices.3. Texts up to PLAIN_UNITS_MAX go to JSON.parse: they are faster there.
//   parse-in-slices.4. Parsing rejects deeper nesting than `levels`: a long text needs no second pass.
//   parse-in-slices.5. Parsing of a long text rejects an object with more than `membersMax` members: the engine needs
//        seconds to build, list and copy it.
//   parse-in-slices.6. The text is cut between the members of long lists and objects, and JSON.parse reads the pieces:
//        it decides whether they are valid JSON.
import { fitsDepth } from "./json/json.ts";
import { inSlices } from "./slices.ts";

export const PLAIN_UNITS_MAX = 1024 * 1024;
const STEP_UNITS = 128 * 1024;

export class TooDeepError extends Error {}
export class TooWideError extends Error {}

/** @throws {SyntaxError} @throws {TooDeepError} parse-in-slices.4 @throws {TooWideError} parse-in-slices.5 */
export async function parseInSlices(text: string, levels: number, membersMax = Infinity): Promise<unknown> {
  if (text.length > PLAIN_UNITS_MAX) return inSlices(steps({ text, levels, membersMax, at: 0 }));
  const value: unknown = JSON.parse(text);
  if (!fitsDepth(value, levels)) throw new TooDeepError();
  return value;
}

const SPACE = /[ \t\n\r]*/y;

function* steps(reader: Reader): Generator<void, unknown> {
  const value = yield* valueSteps(reader, 0);
  if (skip(reader) !== "") fail(reader);
  return value;
}

interface Reader {
  readonly text: string;
  readonly levels: number;
  readonly membersMax: number;
  at: number;
}

/** The value at the reader's position. */
function* valueSteps(reader: Reader, level: number): Generator<void, unknown> {
  const first = skip(reader);
  const { text, at: from } = reader;
  const end = endOf(reader, level, from + STEP_UNITS);
  if (end !== TOO_LONG) {
    reader.at = end;
    return JSON.parse(text.slice(from, end)) as unknown;
  }
  if (first !== "[" && first !== "{") fail(reader);
  reader.at = from + 1;
  return yield* first === "[" ? listSteps(reader, level + 1) : objectSteps(reader, level + 1);
}

function* listSteps(reader: Reader, level: number): Generator<void, unknown[]> {
  const list: unknown[] = [];
  const add = (piece: string): void => {
    for (const item of JSON.parse(`[${piece}]`) as unknown[]) list.push(item);
  };
  const long = function* (): Generator<void> {
    list.push(yield* valueSteps(reader, level));
  };
  yield* memberSteps(reader, level, "]", { add, long });
  return list;
}

function* objectSteps(reader: Reader, level: number): Generator<void, Record<string, unknown>> {
  const object: Record<string, unknown> = {};
  let members = 0;
  const set = (key: string, member: unknown): void => {
    if (++members > reader.membersMax) throw new TooWideError(); // parse-in-slices.5
    setMember(object, key, member);
  };
  const add = (piece: string): void => {
    for (const [key, member] of Object.entries(JSON.parse(`{${piece}}`) as object)) set(key, member);
  };
  const long = function* (): Generator<void> {
    if (skip(reader) !== '"') fail(reader);
    const from = reader.at;
    reader.at = endOfString(reader.text, from);
    const key = JSON.parse(reader.text.slice(from, reader.at)) as string;
    if (skip(reader) !== ":") fail(reader);
    reader.at++;
    set(key, yield* valueSteps(reader, level));
  };
  yield* memberSteps(reader, level, "}", { add, long });
  return object;
}

interface MemberReaders {
  /** Takes a batch of members, without the brackets. */
  readonly add: (piece: string) => void;
  /** Reads one long member. */
  readonly long: () => Generator<void>;
}

/**
 * Reads up to the end of a container: short members in batches, long ones by themselves (parse-in-slices.6).
 */
function* memberSteps(reader: Reader, level: number, close: string, { add, long }: MemberReaders): Generator<void> {
  const { text } = reader;
  const begin = reader.at;
  let batch = begin;
  const flush = (end: number): void => {
    const isEmpty = endOfSpace(text, batch) >= end;
    if (!isEmpty) add(text.slice(batch, end));
    else if (batch !== begin || text.charAt(end) !== close) fail(reader); // nothing beside a comma
  };
  for (;;) {
    let end = endOf(reader, level, reader.at + STEP_UNITS);
    const isRead = end === TOO_LONG;
    if (isRead) {
      if (batch < reader.at) flush(reader.at - 1);
      yield;
      yield* long();
      skip(reader);
      end = batch = reader.at;
    }
    const next = text.charAt(end);
    reader.at = end;
    if (next !== "," && next !== close) fail(reader);
    reader.at = end + 1;
    if (next === close || end - batch > STEP_UNITS) {
      if (!isRead) flush(end);
      yield; // parse-in-slices.2
      batch = end + 1;
    } else if (isRead) batch = end + 1;
    if (next === close) return;
  }
}

const TOO_LONG = -1;

/**
 * Where the member at the reader's position ends: at the comma or bracket after it, or at the end of the text.
 * @returns TOO_LONG for a list or an object that goes on behind `limit`
 */
function endOf({ text, levels, at: from }: Reader, level: number, limit: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at) - 1;
    else if (unit === OPEN_LIST || unit === OPEN_OBJECT) {
      if (level + ++depth > levels) throw new TooDeepError(); // parse-in-slices.4
    } else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) {
      if (depth-- === 0) return at;
    } else if (unit === COMMA && depth === 0) return at;
    if (at >= limit && depth > 0) return TOO_LONG;
  }
  return text.length;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Most strings are short: looking at each unit is faster there. */
const SHORT_STRING_UNITS = 64;

/** @param from the opening quote. @returns the position behind the closing one, or the end of the text */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  for (const until = Math.min(at + SHORT_STRING_UNITS, text.length); at < until; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at + 1;
    if (unit === BACKSLASH) at++;
  }
  for (at = text.indexOf('"', at); at >= 0 && isEscaped(text, at, from);) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at + 1;
}

/** @param from the opening quote */
function isEscaped(text: string, at: number, from: number): boolean {
  let slash = at;
  while (slash - 1 > from && text.charCodeAt(slash - 1) === BACKSLASH) slash--;
  return (at - slash) % 2 === 1;
}

/** Passes white space. @returns the character after it */
function skip(reader: Reader): string {
  reader.at = endOfSpace(reader.text, reader.at);
  return reader.text.charAt(reader.at);
}

function endOfSpace(text: string, from: number): number {
  SPACE.lastIndex = from;
  SPACE.test(text);
  return SPACE.lastIndex;
}

function fail({ text, at }: Reader): never {
  throw new SyntaxError(`Unexpected ${at < text.length ? "token" : "end"} in JSON at position ${at}`);
}

/** `__proto__` is an ordinary member, as JSON.parse has it. */
function setMember(members: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") members[key] = value;
  else Object.defineProperty(members, key, { value, writable: true, enumerable: true, configurable: true });
}
