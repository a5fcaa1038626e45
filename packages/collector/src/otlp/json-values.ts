// Values of the JSON reader: whole numbers, times, enums, AnyValue, attribute lists, with the leniency that senders
// need.
// Invariants:
//   - A whole number is exact in every form it may have: digits in a string, a bare number, {low, high}, an exponent.
//   - null is absent; an unknown enum name is 0; a key never becomes a property name.
//   - What is no attribute, or no value, throws a MalformedItem: its item counts as rejected. A scalar of another type
//     than its name says is kept.
//   - A lone surrogate becomes U+FFFD, as in protobuf: half of a character would make the upload invalid.
import { ATTRIBUTES_MAX, MalformedItem } from "./decoded.ts";
import {
  type Attributes,
  type AttributeValue,
  NO_ATTRIBUTES,
  NO_TIME,
  type UnixNano,
  unixNanoOfDigits,
} from "./span.ts";

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member by its lowerCamelCase or its snake_case name. */
export function member(fields: Fields, camel: string, snake: string): unknown {
  return fields[camel] ?? fields[snake];
}

/** A list, or nothing. @throws {MalformedItem} */
export function readList(value: unknown, name: string): readonly unknown[] {
  if (value === undefined || value === null) return NO_ITEMS;
  if (Array.isArray(value)) return value;
  throw new MalformedItem(`malformed: its ${name} are no list`);
}

/** A list of objects, or nothing. @throws {MalformedItem} */
export function readObjects(value: unknown, name: string): readonly Fields[] {
  const list = readList(value, name);
  if (list.every(isFields)) return list;
  throw new MalformedItem(`malformed: one of its ${name} is no object`);
}

/** An object; null for nothing. @throws {MalformedItem} */
export function readObject(value: unknown, name: string): Fields | null {
  if (value === undefined || value === null) return null;
  if (isFields(value)) return value;
  throw new MalformedItem(`malformed: its ${name} is no object`);
}

const NO_ITEMS: readonly unknown[] = Object.freeze([]);

export function decodeText(value: unknown): string {
  return typeof value === "string" ? wellFormed(value) : "";
}

function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** null: not a whole number. */
function wholeNumber(value: unknown): bigint | null {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : null;
  if (typeof value === "string") {
    const text = value.trim();
    if (/^[+-]?\d{1,40}$/.test(text)) return BigInt(text);
    const number = /^[+-]?\d[\d.]*[eE][+-]?\d{1,3}$/.test(text) ? Number(text) : NaN;
    return Number.isInteger(number) ? BigInt(number) : null;
  }
  if (isFields(value) && typeof value["low"] === "number" && typeof value["high"] === "number")
    return BigInt.asIntN(
      64,
      (BigInt(Math.trunc(value["high"])) << 32n) | BigInt.asUintN(32, BigInt(Math.trunc(value["low"]))),
    );
  return null;
}

const INT64_MAX = 9_223_372_036_854_775_807n;

export function readTime(value: unknown): UnixNano {
  if (typeof value === "string" && /^\d{1,40}$/.test(value)) return unixNanoOfDigits(value.replace(/^0+(?=\d)/, ""));
  const whole = wholeNumber(value);
  return whole === null || whole < 0n ? NO_TIME : unixNanoOfDigits(whole.toString());
}

export function readCount(value: unknown): number {
  if (value === undefined || value === 0) return 0; // as most are
  const whole = wholeNumber(value);
  return whole === null || whole < 0n ? 0 : Number(whole > 4_294_967_295n ? 4_294_967_295n : whole);
}

export function readEnum(value: unknown, names: readonly string[]): number {
  const index = typeof value === "string" && !/^\d+$/.test(value) ? names.indexOf(value) : Number(value ?? 0);
  return Number.isInteger(index) && index >= 0 && index < names.length ? index : 0;
}

/** The list form; also an object `{key: value}`, as some senders write it. @throws {MalformedItem} */
export function readAttributes(value: unknown): { readonly attributes: Attributes; readonly dropped: number } {
  if (isFields(value)) return readAttributeMap(value);
  const items = readList(value, "attributes");
  if (items.length === 0) return { attributes: NO_ATTRIBUTES, dropped: 0 };
  const keys: string[] = [];
  const values: AttributeValue[] = [];
  for (const item of items) {
    if (keys.length === ATTRIBUTES_MAX) break;
    if (!isFields(item) || !isKey(item["key"])) throw new MalformedItem("malformed: one of its attributes has no key");
    keys.push(decodeText(item["key"]));
    values.push(readAnyValue(item["value"]));
  }
  return { attributes: { keys, values }, dropped: Math.max(0, items.length - ATTRIBUTES_MAX) };
}

/** The encoding leaves out an empty text. */
function isKey(key: unknown): boolean {
  return typeof key === "string" || key === undefined || key === null;
}

function readAttributeMap(map: Fields): { readonly attributes: Attributes; readonly dropped: number } {
  const all = Object.keys(map);
  const kept = all.slice(0, ATTRIBUTES_MAX);
  const values = kept.map((key) => {
    const value = map[key];
    return isFields(value) ? readAnyValue(value) : plainValue(value);
  });
  return { attributes: { keys: kept.map(wellFormed), values }, dropped: all.length - kept.length };
}

function plainValue(value: unknown): AttributeValue {
  if (typeof value === "string") return wellFormed(value);
  if (typeof value === "boolean" || typeof value === "number") return value;
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map(readAnyValue);
  throw new MalformedItem("malformed: the value of one of its attributes");
}

/** @throws {MalformedItem} */
export function readAnyValue(value: unknown): AttributeValue {
  if (!isFields(value)) return plainValue(value);
  const text = value["stringValue"] ?? value["string_value"];
  if (text !== undefined && text !== null) return plainValue(text);
  const whole = member(value, "intValue", "int_value");
  if (whole !== undefined && whole !== null) return readInt64(whole);
  const bool = member(value, "boolValue", "bool_value");
  if (bool !== undefined && bool !== null) return plainValue(bool);
  const double = member(value, "doubleValue", "double_value");
  if (double !== undefined && double !== null) return readDouble(double);
  const array = member(value, "arrayValue", "array_value");
  if (array !== undefined && array !== null)
    return readList(readObject(array, "list")?.["values"], "values").map(readAnyValue);
  const list = member(value, "kvlistValue", "kvlist_value");
  if (list !== undefined && list !== null) return readAttributes(readObject(list, "map")?.["values"]).attributes;
  const bytes = member(value, "bytesValue", "bytes_value");
  return typeof bytes === "string" ? Buffer.from(bytes, "base64") : plainValue(bytes);
}

/** Beyond 64 bits it is no integer of the protocol and stays text. */
function readInt64(value: unknown): AttributeValue {
  const whole = wholeNumber(value);
  if (whole === null) return plainValue(value);
  if (whole > INT64_MAX || whole < -INT64_MAX - 1n) return whole.toString();
  const short = Number(whole);
  return Number.isSafeInteger(short) ? short : whole;
}

/** `Number` reads "NaN", "Infinity" and "-Infinity" as the protocol writes them. */
function readDouble(value: unknown): AttributeValue {
  return typeof value === "string" ? Number(value) : plainValue(value);
}
