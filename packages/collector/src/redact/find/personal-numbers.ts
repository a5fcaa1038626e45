// Personal numbers: phone numbers, IBANs and US social security numbers in a text.
// Invariants:
//   - Linear in the text: every pattern has a bounded length.
//   - An IBAN has the length of its country and a correct checksum (mod 97).
//   - Digits alone are no phone number and no social security number: a plus, a prefix, groups or a word before them
//     tell.
import type { Ranges } from "./ranges.ts";
import { isInWord, ONE_SEPARATOR, replaceEscapes } from "./separators.ts";

const GAP = `(?:${ONE_SEPARATOR}|[./])`;
/** Between the groups of an international number; around an area code also a parenthesis. */
const WIDE_GAP = `(?:${ONE_SEPARATOR}?\\(?${GAP}?|\\)${GAP}?)`;

/** `+49 (0)30 123456`, `%2B1-415-555-2671`, `tel:…`, `0049 30 …`: 8 to 15 digits. */
const INTERNATIONAL = `(?:(?:tel:)?(?:\\+|%2[bB])|tel:|(?<!\\d)00(?=[1-9]\\d{0,2}${GAP}))${GAP}?\\(?[1-9](?:${WIDE_GAP}?\\d){7,14}`;
/** `(415) 555-2671`, `1-415-555-2671`: digits of the North American plan. */
const NORTH_AMERICAN = `(?:1${GAP})?(?:\\([2-9]\\d{2}\\)${GAP}?|[2-9]\\d{2}${GAP})[2-9]\\d{2}${GAP}\\d{4}`;
const AREA = "(?:\\(0[1-9]\\d{1,3}\\)|0[1-9]\\d{1,3})";
/** With a trunk prefix: `06 12 34 56 78`, `020 7946 0958`, `0171/1234567`, `(030) 123456`. */
const NATIONAL = [
  `0[1-9](?:${GAP}\\d{2}){4}`,
  `${AREA}${ONE_SEPARATOR}\\d{3,4}${ONE_SEPARATOR}\\d{3,4}`,
  `${AREA}${GAP}\\d{5,8}`,
].join("|");
const PHONE = new RegExp(`(?:${INTERNATIONAL}|${NORTH_AMERICAN}|${NATIONAL})(?![\\w])`, "g");
const NATIONAL_DIGITS_MIN = 8;
const PHONE_DIGITS_MAX = 15;

export function findPhones(original: string): Ranges {
  const text = replaceEscapes(original);
  const found: number[] = [];
  let ibans: Ranges | null = null;
  PHONE.lastIndex = 0;
  for (let one = PHONE.exec(text); one !== null; one = PHONE.exec(text)) {
    const { index: start } = one;
    const end = PHONE.lastIndex;
    const digits = one[0].replaceAll(/%2[bB]|\D/g, "").length;
    const isPhone = digits >= NATIONAL_DIGITS_MIN && digits <= PHONE_DIGITS_MAX && !isInNumber(text, start, end);
    if (isPhone && !isInside((ibans ??= findIbans(original)), start, end)) found.push(start, end);
    else PHONE.lastIndex = start + 1;
  }
  return found;
}

/** Part of one of the ranges, which are in ascending order. */
function isInside(ranges: Ranges, start: number, end: number): boolean {
  let low = 0;
  let high = ranges.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle * 2 + 1] ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  return (ranges[low * 2] ?? end) < end;
}

/** A part of a longer number, a date, a version or a word. */
function isInNumber(text: string, start: number, end: number): boolean {
  if (isInWord(text, start) || /[\d.,:/-]/.test(text[start - 1] ?? ""))
    return !/tel:$|^:$/i.test(text.slice(start - 4, start));
  return /^(?:[-./:,]?\d|[-/]\w)/.test(text.slice(end, end + 2));
}

const SSN = new RegExp(`\\d{3}(${ONE_SEPARATOR})\\d{2}\\1\\d{4}(?!\\w)`, "g");
/** Without separators, a word before it tells. */
const NAMED_SSN =
  /(?:\bssn|social[ _-]?security(?:[ _-]?(?:number|no\.?))?)["'\\\s:=#]{1,12}(?:is )?["'\\]{0,8}(\d{9})(?!\w)/gi;

export function findSocialSecurityNumbers(original: string): Ranges {
  const text = replaceEscapes(original);
  const found: number[] = [];
  for (const { index, 0: number } of text.matchAll(SSN)) {
    const end = index + number.length;
    const isPart =
      isInWord(text, index) || /[-.,/]/.test(text[index - 1] ?? "") || /^[-./]\w/.test(text.slice(end, end + 2));
    if (!isPart && isIssued(number.replaceAll(/\D/g, ""))) found.push(index, end);
  }
  for (const { index, 0: all, 1: number = "" } of text.matchAll(NAMED_SSN))
    if (isIssued(number)) found.push(index + all.length - number.length, index + all.length);
  return found;
}

/** Area 000, 666 and 900 to 999, group 00 and serial 0000 are never issued. */
function isIssued(digits: string): boolean {
  return /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(digits);
}

/** Lengths of IBANs by country. */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 " +
    "ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 " +
    "LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 " +
    "PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
  )
    .split(" ")
    .map((one) => [one.slice(0, 2), Number(one.slice(2))]),
);
const IBAN_START = /[A-Za-z]{2}\d{2}/g;
const IBAN_PART = new RegExp(`${ONE_SEPARATOR}?[A-Za-z\\d]`, "y");

export function findIbans(original: string): Ranges {
  const text = replaceEscapes(original);
  const found: number[] = [];
  IBAN_START.lastIndex = 0;
  for (let start = IBAN_START.exec(text); start !== null; start = IBAN_START.exec(text)) {
    const length = IBAN_LENGTHS.get(start[0].slice(0, 2).toUpperCase());
    const end = length === undefined || isInWord(text, start.index) ? 0 : readIban(text, start.index, length);
    if (end > 0) found.push(start.index, end);
    IBAN_START.lastIndex = end > 0 ? end : start.index + 1;
  }
  return found;
}

/** The end of the IBAN that begins here; 0 for none. */
function readIban(text: string, start: number, length: number): number {
  let iban = "";
  IBAN_PART.lastIndex = start;
  while (iban.length < length) {
    const part = IBAN_PART.exec(text);
    if (part === null) return 0;
    iban += part[0].at(-1) ?? "";
    if (iban.length === length) break;
  }
  const end = IBAN_PART.lastIndex;
  return /[\p{L}\d]/u.test(text[end] ?? "") || !isIban(iban) ? 0 : end;
}

/** Letters count as 10 to 35, the first four characters come last. */
function isIban(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
