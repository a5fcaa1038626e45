// IP addresses: of version 4 and 6 in a text, also with ports, zones and prefixes around them.
// Linear in the text: a candidate has a bounded length.
import { isIPv6 } from "node:net";
import { merged, type Ranges } from "./ranges.ts";
import { endsEscaped } from "./separators.ts";

const OCTET = "(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)";
const VERSION_4 = new RegExp(`(?<![\\d.])${OCTET}(?:\\.${OCTET}){3}(?!\\.?\\d)`, "g");
/** Product versions of four numbers: `Chrome/120.0.0.0`, `version 1.2.3.4`. */
const PRODUCT =
  /(?:\b(?:Chrome|Chromium|HeadlessChrome|CriOS|Edge?|EdgA|OPR|Electron|SamsungBrowser|YaBrowser)\/|\bversions?["':= ]{1,4})$/i;
const PRODUCT_CHARS_MAX = 24;

const COLON = "(?::|%3[aA])";
const VERSION_6 = new RegExp(`(?:[\\dA-Fa-f.]|${COLON})+`, "g");
const VERSION_6_CHARS_MAX = 80;

export function findIpAddresses(text: string): Ranges {
  return merged([...findVersion4(text), ...findVersion6(text)]);
}

function findVersion4(text: string): Ranges {
  const found: number[] = [];
  for (const { index, 0: address } of text.matchAll(VERSION_4)) {
    const isInWord = /[\p{L}_]/u.test(text[index - 1] ?? "") && !endsEscaped(text, index);
    const before = text.slice(Math.max(0, index - PRODUCT_CHARS_MAX), index);
    if (isInWord || PRODUCT.test(before) || /^[\p{L}_]/u.test(text.slice(index + address.length))) continue;
    found.push(index, index + address.length);
  }
  return found;
}

function findVersion6(text: string): Ranges {
  const found: number[] = [];
  for (const { index, 0: run } of text.matchAll(VERSION_6)) {
    if (run.length > VERSION_6_CHARS_MAX || !/:|%3[aA]/.test(run)) continue;
    const isInWord = /[\p{L}\d_]/u.test(text[index - 1] ?? "") && !endsEscaped(text, index);
    // A name and one colon before it, as in "node:fe80::1"; a name and two are a name of a program's.
    const name = isInWord ? /^[^:%]*(?::|%3[aA])(?!:|%3[aA])/.exec(run) : /^(?::|%3[aA])(?!:|%3[aA])/.exec(run);
    if (isInWord && name === null) continue;
    const start = index + (name?.[0].length ?? 0);
    const address = run.slice(start - index).replace(/(?:(?<![:aA])(?::|%3[aA])|\.)+$/, "");
    const end = start + address.length;
    if (isAddress6(address.replaceAll(/%3a/gi, ":")) && !isSlice(text, start, end)) found.push(start, end);
  }
  return found;
}

/** `::` alone and words like `add::face` are none. */
function isAddress6(address: string): boolean {
  return /\d/.test(address) && isIPv6(address);
}

/** `list[1::2]`, in code. */
function isSlice(text: string, start: number, end: number): boolean {
  return text[end] === "]" && /[\w)\]]\[$/.test(text.slice(Math.max(0, start - 2), start));
}
