// Plain JSON: a live value → a pure JSON copy, or the reason why it has none.
// Invariants:
//   plain-json.1. No silent loss: a value that JSON.stringify omits or turns into null is an error, except undefined
//        members.
//   plain-json.2. The copy shares nothing with the value.
import { fitsDepth, type Json } from "./json.ts";

const LEVELS_MAX = 500;

/** Objects with a toJSON, such as dates and messages, become its result. @throws {Error} with the reason. */
export function toPlainJson(value: unknown): Json {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, refuseLosses);
  } catch (error) {
    if (error instanceof RangeError) throw new Error("nested too deeply", { cause: error });
    throw error;
  }
  const copy = JSON.parse(text) as Json; // refuseLosses guarantees a text
  if (!fitsDepth(copy, LEVELS_MAX)) throw new Error(`nested more than ${LEVELS_MAX} levels deep`);
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
  return value; // JSON.stringify itself rejects a bigint or a cycle
}
