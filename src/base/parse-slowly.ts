// Parse slowly: JSON.parse for long texts that yields to the event loop at intervals.
// Invariants:
//   parse-slowly.1. It reads exactly what JSON.parse reads, and gives the same value.
//   parse-slowly.2. One turn holds the loop for STEP_UNITS of text, or for one string or number if that is longer.
//   parse-slowly.3. Texts up to PLAIN_UNITS_MAX go to JSON.parse: they are faster there.
//   parse-slowly.4. What nests deeper than `levels` is refused while it is read: no second walk over a long text is
//        needed.
import { fitsDepth } from "./json/json.ts";
import { inSlices } from "./slices.ts";

export const PLAIN_UNITS_MAX = 1024 * 1024;
const STEP_UNITS = 128 * 1024;

export class TooDeepError extends Error {}

/** @throws {SyntaxError} @throws {TooDeepError} parse-slowly.4 */
export async function parseSlowly(text: string, levels: number): Promise<unknown> {
  if (text.length > PLAIN_UNITS_MAX) return inSlices(steps(text, levels));
  const value: unknown = JSON.parse(text);
  if (!fitsDepth(value, levels)) throw new TooDeepError();
  return value;
}

/** A container in progress. */
type Open = { readonly list: unknown[] } | { readonly members: Record<string, unknown>; key: string };

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const NEEDS_READING = /[\\\u0000-\u001f]/;

function* steps(text: string, levels: number): Generator<void, unknown> {
  const stack: Open[] = [];
  let at = 0;
  let pause = STEP_UNITS;
  const fail = (): never => {
    throw new SyntaxError(`Unexpected ${at < text.length ? "token" : "end"} in JSON at position ${at}`);
  };
  const skip = (): string => {
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
    return text.charAt(at);
  };
  const string = (): string => {
    const from = at;
    do at = text.indexOf('"', at + 1);
    while (at >= 0 && isEscaped(text, at));
    if (at < 0) {
      at = text.length;
      fail();
    }
    const inner = text.slice(from + 1, at++);
    return NEEDS_READING.test(inner) ? (JSON.parse(text.slice(from, at)) as string) : inner;
  };
  const scalar = (): unknown => {
    SCALAR.lastIndex = at;
    if (!SCALAR.test(text)) fail();
    const found = text.slice(at, SCALAR.lastIndex);
    at = SCALAR.lastIndex;
    return JSON.parse(found);
  };
  const key = (): string => {
    if (skip() !== '"') fail();
    const name = string();
    if (skip() !== ":") fail();
    at++;
    return name;
  };
  for (;;) {
    if (at > pause) {
      yield; // parse-slowly.2
      pause = at + STEP_UNITS;
    }
    const first = skip();
    let value: unknown;
    if (first === "[" || first === "{") {
      if (stack.length >= levels) throw new TooDeepError();
      at++;
      const isList = first === "[";
      const open: Open = isList ? { list: [] } : { members: {}, key: "" };
      if (skip() !== (isList ? "]" : "}")) {
        if ("members" in open) open.key = key();
        stack.push(open);
        continue;
      }
      at++;
      value = "list" in open ? open.list : open.members;
    } else value = first === '"' ? string() : scalar();
    for (;;) {
      const open = stack.at(-1);
      if (open === undefined) {
        if (skip() !== "") fail();
        return value;
      }
      if ("list" in open) open.list.push(value);
      else setMember(open.members, open.key, value);
      const next = skip();
      at++;
      if (next === ",") {
        if ("members" in open) open.key = key();
        break;
      }
      if (next !== ("list" in open ? "]" : "}")) {
        at--;
        fail();
      }
      stack.pop();
      value = "list" in open ? open.list : open.members;
    }
  }
}

function isEscaped(text: string, at: number): boolean {
  let from = at;
  while (text.charCodeAt(from - 1) === 0x5c) from--;
  return (at - from) % 2 === 1;
}

/** `__proto__` is an ordinary member, as JSON.parse has it. */
function setMember(members: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") members[key] = value;
  else Object.defineProperty(members, key, { value, writable: true, enumerable: true, configurable: true });
}
