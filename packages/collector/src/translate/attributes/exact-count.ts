// Exact count: an attribute value → the number of tokens, or the cost, in it: ints, doubles, numeric text. Whole numbers
// keep every digit: beyond 2^53 they are bigints, and so are their sums.
import type { Json } from "@holdpoint/base/json/json.ts";
import type { AttributeValue } from "../../otlp/span.ts";
import { readDigits } from "./plain-values.ts";

export type Count = number | bigint;

/** undefined: no number, or one that is negative or not finite. */
export function readCount(value: Json | AttributeValue | undefined): Count | undefined {
  if (typeof value === "number") return Number.isFinite(value) && value >= 0 ? value : undefined;
  if (typeof value === "bigint") return value >= 0n ? shortest(value) : undefined;
  if (typeof value === "string") return ofText(value.trim());
  const digits = readDigits(value);
  return digits === null ? undefined : ofText(digits);
}

function ofText(text: string): Count | undefined {
  if (text === "") return undefined;
  return /^\d{16,}$/.test(text) ? shortest(BigInt(text)) : readCount(Number(text));
}

function shortest(whole: bigint): Count {
  return whole <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(whole) : whole;
}

export function plus(a: Count, b: Count): Count {
  const sum = Number(a) + Number(b);
  if (Number.isSafeInteger(sum) || !isWhole(a) || !isWhole(b)) return sum;
  return BigInt(a) + BigInt(b);
}

function isWhole(count: Count): boolean {
  return typeof count === "bigint" || Number.isInteger(count);
}
