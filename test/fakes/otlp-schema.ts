// A second protobuf reader of OTLP, generated from the schema by @bufbuild/protobuf, as a reference for ours; and a
// judge that decides for altered bytes whether the two readers must agree.
import assert from "node:assert/strict";
import { isUtf8 } from "node:buffer";
import { create, createFileRegistry, type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import type { Attributes, AttributeValue, Span } from "@holdpoint/collector/otlp/span.ts";

type FieldRow = readonly [name: string, number: number, type: string, repeated?: boolean];
const MESSAGES: Readonly<Record<string, readonly FieldRow[]>> = {
  Request: [["resource_spans", 1, ".t.ResourceSpans", true]],
  ResourceSpans: [
    ["resource", 1, ".t.Resource"],
    ["scope_spans", 2, ".t.ScopeSpans", true],
  ],
  Resource: [["attributes", 1, ".t.KeyValue", true]],
  ScopeSpans: [
    ["scope", 1, ".t.Scope"],
    ["spans", 2, ".t.Span", true],
  ],
  Scope: [
    ["name", 1, "STRING"],
    ["version", 2, "STRING"],
    ["attributes", 3, ".t.KeyValue", true],
  ],
  Span: [
    ["trace_id", 1, "BYTES"],
    ["span_id", 2, "BYTES"],
    ["trace_state", 3, "STRING"],
    ["parent_span_id", 4, "BYTES"],
    ["name", 5, "STRING"],
    ["kind", 6, "INT32"],
    ["start", 7, "FIXED64"],
    ["end", 8, "FIXED64"],
    ["attributes", 9, ".t.KeyValue", true],
    ["dropped_attributes", 10, "UINT32"],
    ["events", 11, ".t.Event", true],
    ["dropped_events", 12, "UINT32"],
    ["links", 13, ".t.Link", true],
    ["dropped_links", 14, "UINT32"],
    ["status", 15, ".t.Status"],
    ["flags", 16, "FIXED32"],
  ],
  Event: [
    ["time", 1, "FIXED64"],
    ["name", 2, "STRING"],
    ["attributes", 3, ".t.KeyValue", true],
    ["dropped_attributes", 4, "UINT32"],
  ],
  Link: [
    ["trace_id", 1, "BYTES"],
    ["span_id", 2, "BYTES"],
    ["trace_state", 3, "STRING"],
    ["attributes", 4, ".t.KeyValue", true],
    ["dropped_attributes", 5, "UINT32"],
    ["flags", 6, "FIXED32"],
  ],
  Status: [
    ["message", 2, "STRING"],
    ["code", 3, "INT32"],
  ],
  KeyValue: [
    ["key", 1, "STRING"],
    ["value", 2, ".t.AnyValue"],
  ],
  AnyValue: [
    ["string_value", 1, "STRING"],
    ["bool_value", 2, "BOOL"],
    ["int_value", 3, "INT64"],
    ["double_value", 4, "DOUBLE"],
    ["array_value", 5, ".t.ArrayValue"],
    ["kvlist_value", 6, ".t.KeyValueList"],
    ["bytes_value", 7, "BYTES"],
  ],
  ArrayValue: [["values", 1, ".t.AnyValue", true]],
  KeyValueList: [["values", 1, ".t.KeyValue", true]],
};

function schema(): DescMessage {
  const messageType = Object.entries(MESSAGES).map(([name, fields]) => ({
    name,
    field: fields.map(([fieldName, number, type, repeated]) => ({
      name: fieldName,
      number,
      label: repeated === true ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL,
      ...(type.startsWith(".")
        ? { type: FieldDescriptorProto_Type.MESSAGE, typeName: type }
        : { type: FieldDescriptorProto_Type[type as keyof typeof FieldDescriptorProto_Type] }),
      ...(name === "AnyValue" ? { oneofIndex: 0 } : {}),
    })),
    oneofDecl: name === "AnyValue" ? [{ name: "value" }] : [],
  }));
  const file = create(FileDescriptorProtoSchema, { name: "t.proto", package: "t", syntax: "proto3", messageType });
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [file] })).getMessage("t.Request") ?? assert.fail();
}

const REQUEST = schema();

/** The spans of a request in a comparable form. @throws the error of the reference reader */
export function readBySchema(body: Uint8Array): unknown {
  return normal(listSpans(fromBinary(REQUEST, body)));
}

/** Ours, in the same form. */
export function comparable(spans: readonly Span[]): unknown {
  return normal(spans.map(comparableSpan));
}

type Loose = Record<string, unknown> & { readonly value?: { readonly case?: string; readonly value?: unknown } };

/** The other reader's message → our shape. */
function listSpans(request: Message): unknown[] {
  const spans: unknown[] = [];
  for (const resourceSpans of readList(request, "resourceSpans"))
    for (const scopeSpans of readList(resourceSpans, "scopeSpans"))
      for (const span of readList(scopeSpans, "spans")) {
        const traceId = hex(span["traceId"]);
        const spanId = hex(span["spanId"]);
        if (traceId.length !== 32 || spanId.length !== 16 || /^0+$/.test(traceId) || /^0+$/.test(spanId)) continue;
        spans.push({
          traceId,
          spanId,
          parentSpanId: parseId(span["parentSpanId"], 16),
          traceState: span["traceState"],
          kind: readEnum(span["kind"], 5),
          flags: span["flags"],
          start: splitNanos(span["start"]),
          end: splitNanos(span["end"]),
          dropped: [span["droppedAttributes"], span["droppedEvents"], span["droppedLinks"]],
          code: readEnum((span["status"] as Loose | undefined)?.["code"] ?? 0, 2),
          name: span["name"],
          attributes: readAttributes(span),
          events: readList(span, "events").map((event) => ({
            name: event["name"],
            time: splitNanos(event["time"]),
            dropped: event["droppedAttributes"],
            attributes: readAttributes(event),
          })),
          links: readList(span, "links").map((link) => ({
            traceId: longestId(link["traceId"]),
            spanId: longestId(link["spanId"]),
            traceState: link["traceState"],
            flags: link["flags"],
            dropped: link["droppedAttributes"],
            attributes: readAttributes(link),
          })),
          resource: readAttributes((resourceSpans["resource"] ?? {}) as Loose),
          scope: (scopeSpans["scope"] as Loose | undefined)?.["name"] ?? "",
          message: (span["status"] as Loose | undefined)?.["message"] ?? "",
        });
      }
  return spans;
}

function readList(message: object, name: string): Loose[] {
  return ((message as Loose)[name] ?? []) as Loose[];
}

function hex(value: unknown): string {
  return Buffer.from(value as Uint8Array).toString("hex");
}

function parseId(value: unknown, digits: number): string {
  const id = hex(value);
  return id.length === digits && !/^0+$/.test(id) ? id : "";
}

/** More bytes than an id has are no id. */
function longestId(value: unknown): string {
  const id = hex(value);
  return id.length > 32 ? "" : id;
}

/** An enum of a newer protocol is unknown: 0. */
function readEnum(value: unknown, max: number): number {
  return (value as number) >= 0 && (value as number) <= max ? (value as number) : 0;
}

function splitNanos(value: unknown): { sec: number; nano: number } {
  const nanos = value as bigint;
  if (nanos >= 2n ** 63n) return { sec: 0, nano: 0 };
  return { sec: Number(nanos / 1_000_000_000n), nano: Number(nanos % 1_000_000_000n) };
}

function readAttributes(message: Loose): unknown {
  return readList(message, "attributes").map((one) => [one["key"], readValue(one["value"] as Loose | undefined)]);
}

function readValue(any: Loose | undefined): unknown {
  const chosen = any?.value;
  if (chosen?.case === undefined) return null;
  if (chosen.case === "arrayValue") return readList(chosen.value as object, "values").map(readValue);
  if (chosen.case === "kvlistValue")
    return {
      list: readList(chosen.value as object, "values").map((one) => [one["key"], readValue(one["value"] as Loose)]),
    };
  if (chosen.case === "bytesValue") return `bytes ${hex(chosen.value)}`;
  return chosen.value;
}

/** Our spans in the shape of `listSpans`. */
function comparableSpan(span: Span): unknown {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    traceState: span.traceState,
    kind: span.kind,
    flags: span.flags,
    start: span.start,
    end: span.end,
    dropped: [span.droppedAttributes, span.droppedEvents, span.droppedLinks],
    code: span.statusCode,
    name: span.name,
    attributes: ownAttributes(span.attributes),
    events: span.events.map((event) => ({
      name: event.name,
      time: event.time,
      dropped: event.droppedAttributes,
      attributes: ownAttributes(event.attributes),
    })),
    links: span.links.map((link) => ({
      traceId: link.traceId,
      spanId: link.spanId,
      traceState: link.traceState,
      flags: link.flags,
      dropped: link.droppedAttributes,
      attributes: ownAttributes(link.attributes),
    })),
    resource: ownAttributes(span.resource.attributes),
    scope: span.scope.name,
    message: span.statusMessage,
  };
}

function ownAttributes(attributes: Attributes): unknown {
  return attributes.keys.map((key, index) => [key, ownValue(attributes.values[index] ?? null)]);
}

function ownValue(value: AttributeValue): unknown {
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return (value as readonly AttributeValue[]).map(ownValue);
  if (typeof value === "object" && value !== null) return { list: ownAttributes(value as Attributes) };
  return value;
}

/** int64 as a number where it is exact, as in ours. */
function normal(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, one: unknown) =>
      typeof one === "bigint"
        ? `${one}`
        : Number.isInteger(one)
          ? String(one)
          : Object.is(one, -0)
            ? "0"
            : typeof one === "number" && !Number.isFinite(one)
              ? String(one)
              : one,
    ),
  );
}

// ---- the judge ----
/**
 * `sound`: every reader must read this, and the same. `broken`: none may. `open`: the protocol leaves it to the reader
 * (a known field of another type, a group, invalid UTF-8, a repeated singular field). The first such position in the
 * bytes decides: a reader that stops there never sees the rest.
 */
export type Verdict = "sound" | "broken" | "open";

const WIRE_TYPES: Readonly<Record<string, number>> = {
  STRING: 2,
  BYTES: 2,
  INT32: 0,
  INT64: 0,
  UINT32: 0,
  BOOL: 0,
  FIXED64: 1,
  DOUBLE: 1,
  FIXED32: 5,
};

export function judge(bytes: Uint8Array): Verdict {
  return judgeMessage(Buffer.from(bytes), "Request");
}

function judgeMessage(bytes: Buffer, message: string): Verdict {
  const seen = new Set<number>();
  for (let at = 0; at < bytes.length;) {
    const tag = varintAt(bytes, at);
    if (tag === null || tag.value >> 3n === 0n || tag.value > 0xffff_ffffn) return "broken";
    const wire = Number(tag.value & 7n);
    if (wire === 3 || wire === 4) return "open";
    const length = wire === 2 ? varintAt(bytes, tag.end) : null;
    const start = length === null ? tag.end : length.end;
    const end = findFieldEnd(bytes, wire, start, length?.value ?? null);
    if (end === null || end > bytes.length) return "broken";
    const row = MESSAGES[message]?.find(([, number]) => BigInt(number) === tag.value >> 3n);
    if (row !== undefined) {
      const [, number, type, repeated] = row;
      if (wire !== (WIRE_TYPES[type] ?? 2) || (repeated !== true && seen.has(number))) return "open";
      if (type === "STRING" && !isUtf8(bytes.subarray(start, end))) return "open";
      if (type.endsWith("INT32") && (varintAt(bytes, start)?.value ?? 0n) > 0xffff_ffffn) return "open";
      const inner = type.startsWith(".") ? judgeMessage(bytes.subarray(start, end), type.slice(3)) : "sound";
      if (inner !== "sound") return inner;
      seen.add(number);
    }
    at = end;
  }
  return "sound";
}

function findFieldEnd(bytes: Buffer, wire: number, start: number, length: bigint | null): number | null {
  if (wire === 0) return varintAt(bytes, start)?.end ?? null;
  if (wire === 1) return start + 8;
  if (wire === 5) return start + 4;
  return wire === 2 && length !== null && length <= BigInt(bytes.length) ? start + Number(length) : null;
}

function varintAt(bytes: Buffer, start: number): { readonly value: bigint; readonly end: number } | null {
  let value = 0n;
  for (let at = start; at < start + 10; at++) {
    const byte = bytes[at];
    if (byte === undefined) return null;
    value |= BigInt(byte & 127) << BigInt(7 * (at - start));
    if (byte < 128) return { value, end: at + 1 };
  }
  return null;
}
