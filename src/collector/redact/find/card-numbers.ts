// Card numbers: payment card numbers in a text.
// Invariants:
//   card-numbers.1. Linear in the text: a separator has a bounded length.
//   card-numbers.2. A card number has the length and the first digits of an issuer, and a correct Luhn checksum.

/** Half-open ranges in ascending order: start, end, start, end, … */
export type Ranges = readonly number[];

const CARD_DIGITS_MIN = 13;
const CARD_DIGITS_MAX = 19;

/** Every space and dash of one line, and characters without a width. */
const SEPARATOR = "[ \\-\\u00a0\\u00ad\\u1680\\u2000-\\u200d\\u2010-\\u2015\\u202f\\u205f\\u2060\\u2212\\u3000\\ufeff]";
/** The same in a text that is JSON, Python or a URL and was not read as such: this many backslashes at most. */
const ESCAPED_SEPARATOR =
  /\\{1,8}(?:u(?:00[aA][0dD]|1680|20(?:0[0-9a-dA-D]|1[0-5]|2[fF]|5[fF]|60)|2212|3000|[fF][eE][fF][fF])|x[aA][0dD])|%(?:20|[cC]2%[aA][0dD]|[eE]2%80%(?:8[0-9a-dA-D]|9[0-5]|[aA][fF])|[eE]2%88%92|[eE]3%80%80)/g;
/** Stands for each character of an escaped separator. */
const ESCAPE = "\ue000";
const ESCAPE_CHARS_MAX = 13;
const RUN = new RegExp(`\\d(?:(?:${SEPARATOR}|${ESCAPE}{1,${ESCAPE_CHARS_MAX}})?\\d){12,}`, "g");

export function findCards(original: string): Ranges {
  const text = /[\\%]/.test(original)
    ? original.replace(ESCAPED_SEPARATOR, ({ length }) => ESCAPE.repeat(length))
    : original;
  const found: number[] = [];
  for (const { index, 0: run } of text.matchAll(RUN)) {
    const isInWord = /[\p{L}\d_]/u.test(text[index - 1] ?? "") && !endsEscaped(text, index);
    if (isInWord || isFraction(text, index, run)) continue;
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

/** card-numbers.2. */
function isCard(digits: string): boolean {
  if (!ISSUERS.test(digits)) return false;
  let sum = 0;
  for (let at = digits.length - 1, double = false; at >= 0; at--, double = !double) {
    const digit = digits.charCodeAt(at) - 48;
    sum += double ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return sum % 10 === 0;
}

/** A character in its form in a URL ends here, such as `%3D`: no part of a word. */
export function endsEscaped(text: string, at: number): boolean {
  return /^%[\dA-Fa-f]{2}$/.test(text.slice(Math.max(0, at - 3), at));
}
