// Stringify in slices: the JSON text of a long value, written with a turn of the event loop between pieces.
// Invariants:
//   stringify-in-slices.1. The text is the one that the writer gives for the whole value.
//   stringify-in-slices.2. One turn holds the loop for PIECE_UNITS of text, or for one string if that is longer. A
//        value that the writer does not split is one piece.
//   stringify-in-slices.3. The estimate of a length stops at its limit: it is cheap for short values, and bounded for
//        long ones.
import { inSlices } from "./slices.ts";

export const PIECE_UNITS = 64 * 1024;

/** Shorter values are written at once. */
export const LONG_UNITS = 512 * 1024;

/** Below this level a value is one piece. */
const LEVELS_MAX = 200;

const UNITS_PER_SCALAR = 6;

export type ValuePath = readonly (string | number)[];

export interface JsonWriter {
  /** In one piece; undefined for a value without text. */
  readonly text: (value: unknown, path: ValuePath) => string | undefined;
  /** Items of a list from the index `from` on, with the brackets. */
  readonly items: (items: readonly unknown[], from: number, path: ValuePath) => string;
  /** True for an object whose text consists of the texts of its members. */
  readonly splits: (object: object) => boolean;
  /** Of a value within itself. */
  readonly cycle: (path: ValuePath) => string;
}

/** True when the text has more than `units` characters, roughly. */
export function isLong(value: unknown, units = LONG_UNITS): boolean {
  return estimatedUnits(value, units) > units;
}

/** As JSON.stringify. */
export async function stringifyInSlices(value: unknown): Promise<string> {
  return isLong(value) ? ((await writeInSlices(value, PLAIN)) ?? "null") : JSON.stringify(value);
}

const PLAIN: JsonWriter = {
  text: (value) => JSON.stringify(value),
  items: (items) => JSON.stringify(items),
  splits: (object) => !("toJSON" in object),
  cycle(path) {
    throw new TypeError(`a cycle at ${path.join(".")} has no JSON`);
  },
};

/** @param path of the value, for the writer's errors */
export function writeInSlices(value: unknown, writer: JsonWriter, path: ValuePath = []): Promise<string | undefined> {
  return inSlices(steps(value, writer, path, new Set()));
}

function* steps(
  value: unknown,
  writer: JsonWriter,
  path: ValuePath,
  ancestors: Set<unknown>,
): Generator<void, string | undefined> {
  const isOpen = typeof value === "object" && value !== null && ancestors.size < LEVELS_MAX;
  if (!isOpen || !(Array.isArray(value) || writer.splits(value))) return writer.text(value, path);
  if (ancestors.has(value)) return writer.cycle(path);
  ancestors.add(value);
  const text = yield* Array.isArray(value)
    ? listSteps(value, writer, path, ancestors)
    : memberSteps(value, writer, path, ancestors);
  ancestors.delete(value);
  return text;
}

function* listSteps(
  list: readonly unknown[],
  writer: JsonWriter,
  path: ValuePath,
  ancestors: Set<unknown>,
): Generator<void, string> {
  const pieces: string[] = [];
  let [from, units] = [0, 0];
  const flush = (to: number): void => {
    if (from < to) pieces.push(writer.items(list.slice(from, to), from, path).slice(1, -1));
    [from, units] = [to, 0];
  };
  for (let at = 0; at < list.length; at++) {
    const more = estimatedUnits(list[at], PIECE_UNITS);
    if (more > PIECE_UNITS) {
      flush(at);
      yield;
      pieces.push((yield* steps(list[at], writer, [...path, at], ancestors)) ?? "null");
      from = at + 1;
    } else if ((units += more) > PIECE_UNITS) {
      flush(at + 1);
      yield;
    }
  }
  flush(list.length);
  yield;
  return `[${pieces.join(",")}]`;
}

function* memberSteps(
  object: object,
  writer: JsonWriter,
  path: ValuePath,
  ancestors: Set<unknown>,
): Generator<void, string> {
  const pieces: string[] = [];
  let units = 0;
  for (const key of Object.keys(object)) {
    const member = (object as Record<string, unknown>)[key];
    const more = estimatedUnits(member, PIECE_UNITS);
    const within = [...path, key];
    const isPiece = more > PIECE_UNITS;
    if (isPiece) yield;
    const text = isPiece ? yield* steps(member, writer, within, ancestors) : writer.text(member, within);
    if (text !== undefined) pieces.push(`${JSON.stringify(key)}:${text}`);
    units += more;
    if (units <= PIECE_UNITS) continue;
    units = 0;
    yield;
  }
  return `{${pieces.join(",")}}`;
}

/** stringify-in-slices.3. Length of the text; more than `max` as soon as that is certain. */
export function estimatedUnits(value: unknown, max: number): number {
  return unitsOf(value, max, LEVELS_MAX);
}

function unitsOf(value: unknown, max: number, levels: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return UNITS_PER_SCALAR;
  if (levels === 0) return max + 1;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let units = 2;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && units <= max; at++) units += 1 + unitsOf(value[at], max - units, levels - 1);
    return units;
  }
  for (const key in value) {
    units += key.length + 4 + unitsOf((value as Record<string, unknown>)[key], max - units, levels - 1);
    if (units > max) break;
  }
  return units;
}
