// Long values: stored form → live values → form for clients, in slices of the event loop. Short values take the plain
// way through the codec.
// Invariants:
//   long-values.1. The result is the one of the codec for the whole value.
//   long-values.2. One turn of the loop converts PIECE_UNITS, or one item if that is longer. Items of lists and members
//        of plain objects are split; a message or another tagged value is one item.
import { TAG, type Stored } from "../../agent/model/model.ts";
import type { Json } from "../../base/json/json.ts";
import { inSlices } from "../../base/slices.ts";
import { PIECE_UNITS, isLong, estimatedUnits } from "../../base/stringify-in-slices.ts";
import type { Codec } from "./codec/value-codec.ts";

/** As codec.decode(). */
export async function decodeInSlices(codec: Codec, stored: Stored): Promise<unknown> {
  await stored.load?.();
  if (!stored.tagged || !isLong(stored.json)) return codec.decode(stored);
  const whole = (json: unknown): unknown => codec.decode({ json: json as Json, tagged: true });
  return inSlices(steps(stored.json, whole, (object) => !Object.hasOwn(object, TAG)));
}

/** As codec.toClientJson(), for values that have been stored: without cycles. */
export async function clientJsonInSlices(codec: Codec, value: unknown): Promise<Json> {
  if (!isLong(value)) return codec.toClientJson(value);
  return (await inSlices(steps(value, (part) => codec.toClientJson(part), isPlainObject))) as Json;
}

function* steps(
  value: unknown,
  whole: (part: unknown) => unknown,
  splits: (object: object) => boolean,
): Generator<void, unknown> {
  if (typeof value !== "object" || value === null) return whole(value);
  if (!(Array.isArray(value) || splits(value))) return whole(value);
  let units = 0;
  const part = function* (member: unknown): Generator<void, unknown> {
    const more = estimatedUnits(member, PIECE_UNITS);
    if (more > PIECE_UNITS) {
      yield;
      return yield* steps(member, whole, splits);
    }
    if ((units += more) > PIECE_UNITS) {
      units = 0;
      yield; // long-values.2
    }
    return whole(member);
  };
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const item of value as readonly unknown[]) list.push(yield* part(item));
    return list;
  }
  const entries: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) if (hasForm(member)) entries.push([key, yield* part(member)]);
  return Object.fromEntries(entries);
}

/** Other members have no form for clients; stored values have none of them. */
function hasForm(member: unknown): boolean {
  return member !== undefined && typeof member !== "function" && typeof member !== "symbol";
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !("toJSON" in value);
}
