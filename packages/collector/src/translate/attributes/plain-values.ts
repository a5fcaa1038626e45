// Plain: attribute values and JSON-in-strings → plain JSON values, safely. The lowest step of translation.
// Invariants:
//   - Integers keep every digit: beyond ±(2^53 − 1) they are raw JSON, beyond int64 (which backends
//   refuse) text.
//   - No value is deeper than JSON_DEPTH_MAX; JSON in a string that is deeper stays a string.
//   - A key is only ever written as an own property by definition, never assigned: `__proto__` is a key like any other.
//   - NaN and infinities become text, lone surrogates U+FFFD: JSON.stringify accepts every result, and
//   strict parsers its output.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Attributes, AttributeValue } from "../../otlp/span.ts";
import { JSON_DEPTH_MAX } from "../../shared/trace-run.ts";

/**
 * An integer that no JavaScript number holds; `JSON.stringify` writes it digit by digit. Missing in TypeScript's
 * library.
 */
const rawJson = (JSON as unknown as { readonly rawJSON: (digits: string) => Json }).rawJSON;
const parseWithSource = JSON.parse as (
  text: string,
  reviver: (key: string, value: Json, context: { readonly source?: string }) => Json,
) => Json;

const INT64_MAX = 9_223_372_036_854_775_807n;
const INT64_MIN = -9_223_372_036_854_775_808n;

function toInteger(value: bigint): Json {
  return value > INT64_MAX || value < INT64_MIN ? String(value) : rawJson(String(value));
}

/** The digits of an integer in raw JSON; null for every other value. */
export function readDigits(value: unknown): string | null {
  return isRawInteger(value) ? (value as { readonly rawJSON: string }).rawJSON : null;
}

/** AttributeValue → JSON. Bytes become base64, as OTLP/JSON writes them. Deeper than the limit becomes null. */
export function plain(value: AttributeValue, levels = JSON_DEPTH_MAX): Json {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "bigint") return toInteger(value);
  if (typeof value === "boolean") return value;
  if (value === null || levels === 0) return null;
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  if (isList(value)) return value.map((item) => plain(item, levels - 1));
  return plainAttributes(value, levels - 1);
}

export function plainAttributes(attributes: Attributes, levels = JSON_DEPTH_MAX): JsonObject {
  const { keys, values } = attributes;
  return Object.fromEntries(keys.map((key, at) => [key.toWellFormed(), plain(values[at] ?? null, levels)]));
}

function isList(value: readonly AttributeValue[] | Attributes): value is readonly AttributeValue[] {
  return Array.isArray(value);
}

/** An object with members; excludes raw integers, which are objects to `typeof`. */
export function isObject(value: unknown): value is JsonObject {
  return isJsonObject(value) && !isRawInteger(value);
}

/** A JSON value, with its source text when the encoder may copy that text. */
export interface Parsed {
  readonly value: Json;
  readonly source: string | null;
}

/**
 * The value of a string attribute: JSON text of an object or array is that value; JSON text of a string is unwrapped
 * once, and once more when an object or array is inside; everything else is the text itself.
 */
export function unwrap(text: string): Parsed {
  const first = text.charCodeAt(leadingSpace(text));
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return parseJson(text) ?? toParsedText(text);
  if (first !== QUOTE) return toParsedText(text);
  const inner = parseJson(text);
  if (inner === null || typeof inner.value !== "string") return toParsedText(text);
  const again = inner.value.charCodeAt(leadingSpace(inner.value));
  if (again !== OPEN_BRACE && again !== OPEN_BRACKET) return { value: inner.value, source: null };
  return parseJson(inner.value) ?? { value: inner.value, source: null };
}

/** MLflow writes single words as JSON. */
export function worded(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

/** The same for any attribute value: structured values stay unchanged. */
export function unwrapValue(value: AttributeValue): Parsed {
  return typeof value === "string" ? unwrap(value) : { value: plain(value), source: null };
}

/** `unwrap` without the source. */
export function toJson(value: AttributeValue | undefined): Json {
  return value === undefined ? null : unwrapValue(value).value;
}

/** Like `toJson`, for values that are JSON already: parses only strings. */
export function jsonWithin(value: Json | undefined): Json {
  return typeof value === "string" ? unwrap(value).value : (value ?? null);
}

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;

function leadingSpace(text: string): number {
  let at = 0;
  for (let code = text.charCodeAt(at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;)
    code = text.charCodeAt(++at);
  return at;
}

function toParsedText(text: string): Parsed {
  return { value: text.isWellFormed() ? text : text.toWellFormed(), source: null };
}

/** Above this length a scan counts the nesting before the parse: a megabyte of "[" would block the loop for 0.2 s. */
const PARSE_BLINDLY_CHARS = 65_536;

/** Longer text stays text: reading it would hold up every other sender for too long. */
const PARSE_CHARS_MAX = 8 * 1024 * 1024;

function parseJson(text: string): Parsed | null {
  if (text.length > PARSE_CHARS_MAX) return null;
  if (text.length > PARSE_BLINDLY_CHARS && nestsDeeply(text)) return null;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return null;
  }
  const trouble = inspect(value, JSON_DEPTH_MAX);
  if (trouble === FINE) return { value, source: text };
  if ((trouble & DEEP) !== 0) return null;
  return { value: repaired(parseWithSource(text, exactNumbers)), source: null };
}

/**
 * Opening brackets in a row without a closing one between, strings included: a cheap bound, honest text stays far
 * below.
 */
function nestsDeeply(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > NESTING_MAX) return true;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return false;
}
const NESTING_MAX = 4096;

const FINE = 0;
const DEEP = 1;
const INEXACT = 2;
const ILL_FORMED = 4;

function inspect(value: Json, levels: number): number {
  if (typeof value === "string") return value.isWellFormed() ? FINE : ILL_FORMED;
  if (typeof value === "number") return Number.isSafeInteger(value) || isFraction(value) ? FINE : INEXACT;
  if (typeof value !== "object" || value === null) return FINE;
  if (levels === 0) return DEEP;
  let trouble = FINE;
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) trouble |= inspect(item, levels - 1);
    return trouble;
  }
  const object = value as JsonObject;
  for (const key in object)
    trouble |= inspect(object[key] ?? null, levels - 1) | (key.isWellFormed() ? FINE : ILL_FORMED);
  return trouble;
}

/** JSON.parse reads fractions as any other parser does; whole numbers and overflows need a second check. */
function isFraction(value: number): boolean {
  return Number.isFinite(value) && !Number.isInteger(value);
}

function exactNumbers(_key: string, value: Json, context: { readonly source?: string }): Json {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context.source ?? "";
  if (!Number.isFinite(value)) return source; // 1e999: some parsers refuse it, and the whole batch with it
  return /^-?\d+$/.test(source) ? toInteger(BigInt(source)) : value;
}

function repaired(value: Json): Json {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null || isRawInteger(value)) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(repaired);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), repaired(item)]));
}

const isRawInteger = (JSON as unknown as { readonly isRawJSON: (value: unknown) => boolean }).isRawJSON;
