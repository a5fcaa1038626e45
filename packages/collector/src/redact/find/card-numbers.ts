// Card numbers: payment card numbers in a text.
// Invariants:
//   - Linear in the text: a separator has a bounded length.
//   - A card number has the length and the first digits of an issuer, and a correct Luhn checksum.
import type { Ranges } from "./ranges.ts";
import { isInWord, ONE_SEPARATOR, replaceEscapes } from "./separators.ts";

const CARD_DIGITS_MIN = 13;
const CARD_DIGITS_MAX = 19;

const RUN = new RegExp(`\\d(?:${ONE_SEPARATOR}?\\d){12,}`, "g");

export function findCards(original: string): Ranges {
  const text = replaceEscapes(original);
  const found: number[] = [];
  for (const { index, 0: run } of text.matchAll(RUN)) {
    if (isInWord(text, index) || isFraction(text, index, run)) continue;
    for (let from = 0; from < run.length;) {
      const end = cardEnd(run, from);
      if (end > 0) found.push(index + from, index + end);
      if (end === 0 && from === 0 && text[index - 1] === "%") {
        from = 2; // behind "%20"
        continue;
      }
      from = end > 0 ? end : from + 1;
      while (from < run.length && isDigit(run, from - 1)) from++; // a number begins a group of digits
      while (from < run.length && !isDigit(run, from)) from++;
    }
  }
  return found;
}

/** The digits of a number after its point, as in `0.5105105105105100`. */
function isFraction(text: string, index: number, run: string): boolean {
  return text[index - 1] === "." && isDigit(text, index - 2) && !/\D/.test(run);
}

/** The end of the longest card number that begins here and ends with its group of digits; 0 for none. */
function cardEnd(run: string, from: number): number {
  let digits = "";
  let end = 0;
  for (let at = from; at < run.length && digits.length < CARD_DIGITS_MAX; at++) {
    if (!isDigit(run, at)) continue;
    digits += run[at] ?? "";
    if (digits.length >= CARD_DIGITS_MIN && !isDigit(run, at + 1) && isCard(digits)) end = at + 1;
  }
  return end;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

/** First digits and lengths: Visa, Mastercard, American Express, Diners, JCB, Discover, UnionPay, Maestro. */
const ISSUERS =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35\d{14}|(?:5[06-8]|6\d)\d{11,17})$/;

function isCard(digits: string): boolean {
  if (!ISSUERS.test(digits)) return false;
  let sum = 0;
  for (let at = digits.length - 1, double = false; at >= 0; at--, double = !double) {
    const digit = digits.charCodeAt(at) - 48;
    sum += double ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return sum % 10 === 0;
}
