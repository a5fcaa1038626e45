// JSON at once: a small body through one JSON.parse, for about half of the cost of the scan and a JSON.parse of each item.
// A body that needs the scan is left to it: the scan reads it then, or names the reason of its refusal.
// Invariants:
//   json-at-once.1. It accepts only what the scan leaves as it is: no value deeper than JSON_DEPTH_MAX, no more
//        containers than `valuesMax`, no bare integer that the scan would quote.
//   json-at-once.2. It takes bodies up to AT_ONCE_BYTES: about a millisecond.
import { valuesMax } from "./decoded.ts";
import { JSON_DEPTH_MAX, LONG_INTEGER_DIGITS } from "./json-scan.ts";

const AT_ONCE_BYTES = 512 * 1024;
/** The smallest integer that the scan quotes. */
const LONG_INTEGER = 10 ** (LONG_INTEGER_DIGITS - 1);
/** Senders that write times as bare integers: seen before the parse, which would be in vain. */
const BARE_TIME = /[uU]nix_?[nN]ano"\s*:\s*\d/;
const LOOKED_THROUGH_CHARS = 4096;

/** `body` is valid UTF-8. undefined: the scan must read it. */
export function parseAtOnce(body: Buffer): unknown {
  if (body.length > AT_ONCE_BYTES) return undefined;
  const text = body.toString("utf8");
  if (BARE_TIME.test(text.slice(0, LOOKED_THROUGH_CHARS))) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isPlain(value, JSON_DEPTH_MAX, { containers: valuesMax(body.length) }) ? value : undefined;
}

/** json-at-once.1. The recursion ends at the greatest depth. */
function isPlain(value: unknown, levels: number, left: { containers: number }): boolean {
  if (typeof value === "number") return value > -LONG_INTEGER && value < LONG_INTEGER;
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0 || --left.containers < 0) return false;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) if (!isPlain(item, levels - 1, left)) return false;
    return true;
  }
  const object = value as Readonly<Record<string, unknown>>;
  for (const name in object) if (!isPlain(object[name], levels - 1, left)) return false;
  return true;
}
