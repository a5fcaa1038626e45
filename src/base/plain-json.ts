// Plain JSON: a live value → a copy that is JSON and nothing else, or the reason why it has none.
// Invariants:
//   PJ1. Nothing is lost without a word: what JSON.stringify leaves out or makes null, but for undefined members, is refused.
//   PJ2. The copy shares nothing with the value.
import { fitsDepth, type Json } from "./json.ts";

const LEVELS_MAX = 500;

/** Objects with a toJSON, such as dates and messages, become what it gives. @throws {Error} with the reason. */
export function toPlainJson(value: unknown): Json {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, refuseLosses);
  } catch (error) {
    if (error instanceof RangeError) throw new Error("it is nested too deeply", { cause: error });
    throw error;
  }
  const copy = JSON.parse(text) as Json; // refuseLosses has made sure that there is a text
  if (!fitsDepth(copy, LEVELS_MAX)) throw new Error(`it is nested more than ${LEVELS_MAX} levels deep`);
  return copy;
}

/** @param value after its toJSON */
function refuseLosses(this: unknown, key: string, value: unknown): unknown {
  const where = key === "" ? "it" : `"${key}"`;
  if (typeof value === "undefined" && (key === "" || Array.isArray(this))) throw new Error(`${where} is undefined`);
  if (typeof value === "function" || typeof value === "symbol") throw new Error(`${where} is a ${typeof value}`);
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error(`${where} is ${value}`);
  if (value instanceof Map || value instanceof Set || ArrayBuffer.isView(value)) {
    throw new Error(`${where} is a ${value.constructor.name}`);
  }
  return value; // a bigint or a cycle is refused by JSON.stringify itself
}
