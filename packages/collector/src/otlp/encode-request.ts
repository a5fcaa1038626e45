// Encode request: spans or log records → the bytes of an export request in protobuf, for receivers that get another
// selection of items, or other attributes, than the collector received.
// The readers of this folder read the same items from the bytes. A double without a fraction becomes an integer: the
// readers keep no difference.
import type { LogRecord } from "./log-record.ts";
import type { Attributes, AttributeValue, Resource, Scope, Span, SpanEvent, SpanLink, UnixNano } from "./span.ts";
import { varintBytes } from "./varint.ts";

export function encodeSpans(spans: readonly Span[]): Buffer {
  return encodeItems(spans, encodeSpan);
}

export function encodeRecords(records: readonly LogRecord[]): Buffer {
  return encodeItems(records, encodeRecord);
}

type Placed = { readonly resource: Resource; readonly scope: Scope };

function encodeItems<T extends Placed>(items: readonly T[], encode: (item: T) => Buffer): Buffer {
  const resources = Map.groupBy(items, ({ resource }) => resource);
  return Buffer.concat(
    [...resources].map(([resource, ofResource]) => {
      const scopes = Map.groupBy(ofResource, ({ scope }) => scope);
      const parts = [...scopes].map(([scope, ofScope]) =>
        bytes(2, Buffer.concat([bytes(1, encodeScope(scope)), ...ofScope.map((item) => bytes(2, encode(item)))])),
      );
      return bytes(1, Buffer.concat([bytes(1, Buffer.concat(encodeAttributes(1, resource.attributes))), ...parts]));
    }),
  );
}

function encodeScope({ attributes, name, version }: Scope): Buffer {
  return Buffer.concat([...text(1, name), ...text(2, version), ...encodeAttributes(3, attributes)]);
}

function encodeSpan(span: Span): Buffer {
  return Buffer.concat([
    bytes(1, Buffer.from(span.traceId, "hex")),
    bytes(2, Buffer.from(span.spanId, "hex")),
    ...text(3, span.traceState),
    ...id(4, span.parentSpanId),
    ...text(5, span.name),
    ...count(6, span.kind),
    time(7, span.start),
    time(8, span.end),
    ...encodeAttributes(9, span.attributes),
    ...count(10, span.droppedAttributes),
    ...span.events.map((event) => bytes(11, encodeEvent(event))),
    ...count(12, span.droppedEvents),
    ...span.links.map((link) => bytes(13, encodeLink(link))),
    ...count(14, span.droppedLinks),
    bytes(15, Buffer.concat([...text(2, span.statusMessage), ...count(3, span.statusCode)])),
    ...fixed32(16, span.flags),
  ]);
}

function encodeEvent({ attributes, droppedAttributes, name, time: at }: SpanEvent): Buffer {
  return Buffer.concat([
    time(1, at),
    ...text(2, name),
    ...encodeAttributes(3, attributes),
    ...count(4, droppedAttributes),
  ]);
}

function encodeLink(link: SpanLink): Buffer {
  return Buffer.concat([
    ...id(1, link.traceId),
    ...id(2, link.spanId),
    ...text(3, link.traceState),
    ...encodeAttributes(4, link.attributes),
    ...count(5, link.droppedAttributes),
    ...fixed32(6, link.flags),
  ]);
}

function encodeRecord(record: LogRecord): Buffer {
  return Buffer.concat([
    time(1, record.time),
    ...count(2, record.severity),
    ...text(3, record.severityText),
    bytes(5, encodeValue(record.body)),
    ...encodeAttributes(6, record.attributes),
    ...count(7, record.droppedAttributes),
    ...id(9, record.traceId),
    ...id(10, record.spanId),
    ...text(12, record.name),
  ]);
}

function encodeAttributes(number: number, { keys, values }: Attributes): Buffer[] {
  return keys.map((key, at) =>
    bytes(number, Buffer.concat([...text(1, key), bytes(2, encodeValue(values[at] ?? null))])),
  );
}

function encodeValue(value: AttributeValue): Buffer {
  if (value === null) return NOTHING;
  if (typeof value === "string") return bytes(1, Buffer.from(value));
  if (typeof value === "boolean") return Buffer.from([0x10, value ? 1 : 0]);
  if (typeof value === "bigint") return Buffer.concat([Buffer.from([0x18]), int64(value)]);
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return Buffer.concat([Buffer.from([0x18]), int64(BigInt(value))]);
    const double = Buffer.alloc(9, 0x21);
    double.writeDoubleLE(value, 1);
    return double;
  }
  if (value instanceof Uint8Array) return bytes(7, value);
  if ("keys" in value && Array.isArray(value.keys))
    return bytes(6, Buffer.concat(encodeAttributes(1, value as Attributes)));
  const items = value as readonly AttributeValue[];
  return bytes(5, Buffer.concat(items.map((item) => bytes(1, encodeValue(item)))));
}

const NOTHING = Buffer.alloc(0);

// A field of protobuf, by its number; a field with its default value is left out.

function bytes(number: number, content: Uint8Array): Buffer {
  return Buffer.concat([varintBytes(number * 8 + 2), varintBytes(content.length), content]);
}

function text(number: number, value: string): Buffer[] {
  return value === "" ? [] : [bytes(number, Buffer.from(value))];
}

function id(number: number, hex: string): Buffer[] {
  return hex === "" ? [] : [bytes(number, Buffer.from(hex, "hex"))];
}

function count(number: number, value: number): Buffer[] {
  return value === 0 ? [] : [varintBytes(number * 8), varintBytes(value)];
}

function fixed32(number: number, value: number): Buffer[] {
  if (value === 0) return [];
  const four = Buffer.alloc(4);
  four.writeUInt32LE(value);
  return [varintBytes(number * 8 + 5), four];
}

function time(number: number, { nano, sec }: UnixNano): Buffer {
  const nine = Buffer.alloc(9, number * 8 + 1);
  nine.writeBigUInt64LE(BigInt(sec) * 1_000_000_000n + BigInt(nano), 1);
  return nine;
}

/** Two's complement in ten bytes for negative numbers. */
function int64(value: bigint): Buffer {
  const list: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) list.push(Number(rest & 127n) | 128);
  list.push(Number(rest));
  return Buffer.from(list);
}
