// Span: the result of both decoders (protobuf, JSON) and the input of translation, independent of the encoding.
// Invariants:
//   - Ids are lower-case hex of their full length (32 and 16 digits); `parentSpanId` is "" when absent or all zero.
//   - Times and int64 values are exact. Nothing passes through a float that cannot hold it.
//   - Attribute keys are data: they are array elements, never property names of an object.

/** Nanoseconds since 1970 as two exact numbers: 0 ≤ `nano` < 1e9. Cheaper than a bigint to make, compare and print. */
export interface UnixNano {
  readonly sec: number;
  readonly nano: number;
}

/**
 * One OTLP AnyValue: text, bool, double or int64, bytes, array, key/value list; `null` when all members are absent. An
 * int64 is a number while that is exact and a bigint beyond ±(2^53 − 1). Doubles may be NaN or infinite.
 */
export type AttributeValue =
  | string
  | boolean
  | number
  | bigint
  | null
  | Uint8Array
  | readonly AttributeValue[]
  | Attributes;

/** Parallel arrays in wire order: `keys[i]` has `values[i]`. A key may repeat; the last one counts. */
export interface Attributes {
  readonly keys: readonly string[];
  readonly values: readonly AttributeValue[];
}

/**
 * All spans of one ResourceSpans / ScopeSpans envelope share the object, so that translation reads it once.
 */
export interface Resource {
  readonly attributes: Attributes;
}

export interface Scope {
  readonly name: string;
  readonly version: string;
  readonly attributes: Attributes;
}

export interface SpanEvent {
  readonly time: UnixNano;
  readonly name: string;
  readonly attributes: Attributes;
  readonly droppedAttributes: number;
}

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  readonly flags: number;
  readonly attributes: Attributes;
  readonly droppedAttributes: number;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** "" for none. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly flags: number;
  readonly name: string;
  /** 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer; unknown values are 0. */
  readonly kind: number;
  /** `NO_TIME` when missing or not before 2^63 nanoseconds. */
  readonly start: UnixNano;
  readonly end: UnixNano;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanLink[];
  /** 0 unset, 1 ok, 2 error. */
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly droppedAttributes: number;
  readonly droppedEvents: number;
  readonly droppedLinks: number;
  readonly resource: Resource;
  readonly scope: Scope;
}

export const NO_TIME: UnixNano = Object.freeze({ sec: 0, nano: 0 });
export const NO_ATTRIBUTES: Attributes = Object.freeze({ keys: Object.freeze([]), values: Object.freeze([]) });
export const NO_SCOPE: Scope = Object.freeze({ name: "", version: "", attributes: NO_ATTRIBUTES });
export const NO_RESOURCE: Resource = Object.freeze({ attributes: NO_ATTRIBUTES });

/** What stands for records has no more than they say. */
export const EMPTY_SPAN: Span = {
  traceId: "0".repeat(32),
  spanId: "0".repeat(16),
  parentSpanId: "",
  traceState: "",
  flags: 0,
  name: "",
  kind: 0,
  start: NO_TIME,
  end: NO_TIME,
  attributes: NO_ATTRIBUTES,
  events: [],
  links: [],
  statusCode: 0,
  statusMessage: "",
  droppedAttributes: 0,
  droppedEvents: 0,
  droppedLinks: 0,
  resource: NO_RESOURCE,
  scope: NO_SCOPE,
};

const HALF = 4_294_967_296;

/** The two 32-bit halves of a protobuf fixed64 (unsigned) → time. At and beyond 2^63 there is no time. */
export function unixNanoOfHalves(high: number, low: number): UnixNano {
  if (high >= 0x8000_0000) return NO_TIME;
  // Long division by 1e6, each step below 2^53: high = quotient · 1e6 + rest, so every digit stays.
  const upper = Math.floor(high / 1_000_000);
  const middle = (high - upper * 1_000_000) * HALF + low;
  const lower = Math.floor(middle / 1_000_000);
  const millis = upper * HALF + lower;
  const sec = Math.floor(millis / 1000);
  return { sec, nano: (millis - sec * 1000) * 1_000_000 + (middle - lower * 1_000_000) };
}

/** Decimal digits (no sign, no exponent) → time. At and beyond 2^63 there is no time. */
export function unixNanoOfDigits(digits: string): UnixNano {
  if (digits.length <= 9) return { sec: 0, nano: Number(digits) };
  if (digits.length > 19 || (digits.length === 19 && digits > "9223372036854775807")) return NO_TIME;
  return { sec: Number(digits.slice(0, -9)), nano: Number(digits.slice(-9)) };
}
