// JSON reader: request text → spans or log records. Takes the protocol's form (hex ids, numbered enums, nanoseconds in
// strings) and the protobuf-JSON form (base64 ids, enum names, bare numbers), and distinguishes them field by field.
// Invariants:
//   - The same trace in either form, or in protobuf, gives the same spans (span.ts).
//   - The reader is a generator: between two slices the caller may yield to other requests.
//   - The reader ignores unknown fields; the last of several equal keys counts.
import { isUtf8 } from "node:buffer";
import {
  DecodeError,
  type Decoded,
  EVENTS_MAX,
  LINKS_MAX,
  LOGS_HINT,
  MalformedItem,
  METRICS_HINT,
  NO_RECORDS,
  NO_SPANS,
  type Signal,
  SPANS_HINT,
} from "./decoded.ts";
import { parseAtOnce } from "./json-at-once.ts";
import { skipMark } from "./byte-order-mark.ts";
import { isNoParent, readSpanId, readTraceId } from "./json-ids.ts";
import { readLogRecord } from "./json-log-record.ts";
import { type ByteRange, groupOfMark, type JsonScan, scanJson } from "./json-scan.ts";
import {
  type Fields,
  isFields,
  member,
  readAttributes,
  readCount,
  readEnum,
  readObject,
  readObjects,
  readTime,
  decodeText,
} from "./json-values.ts";
import type { LogRecord } from "./log-record.ts";
import { NO_RESOURCE, NO_SCOPE, type Resource, type Scope, type Span, type SpanEvent, type SpanLink } from "./span.ts";

export const NOT_UTF8 = "the JSON is not valid UTF-8";
const SLICE_BYTES = 128 * 1024;
const KINDS = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"].map(
  (name) => `SPAN_KIND_${name}`,
);
const STATUS_CODES = ["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"];

/** Yields between slices. @throws {DecodeError} */
export function* readJson(given: Buffer, signal: Signal = "traces"): Generator<undefined, Decoded> {
  const body = skipMark(given);
  if (!isUtf8(body)) throw new DecodeError(NOT_UTF8);
  const whole = parseAtOnce(body);
  const scan = whole === undefined ? yield* scanJson(body, signal) : null;
  const root = readRoot(scan === null ? whole : parse(scan.skeleton), signal);
  const spans: Span[] = [];
  const records: LogRecord[] = [];
  let rejected = 0;
  let reason = "";
  let sliceBytes = 0;
  for (const found of eachItem(root, scan, NAMES[signal])) {
    try {
      if (found.fault !== "") throw new MalformedItem(found.fault);
      if (signal === "traces") spans.push(readSpan(found));
      else records.push(readLogRecord(found));
    } catch (error) {
      if (!(error instanceof MalformedItem)) throw error;
      rejected++;
      reason ||= error.message;
    }
    sliceBytes += found.bytes;
    if (sliceBytes < SLICE_BYTES) continue;
    sliceBytes = 0;
    yield;
  }
  return signal === "traces"
    ? { spans, records: NO_RECORDS, rejected, reason, repairedTexts: 0 }
    : { spans: NO_SPANS, records, rejected, reason, repairedTexts: 0 };
}

const BAD_IDS = "a trace or span id is missing, all zero, or neither hex nor base64 of 16 and 8 bytes";

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new DecodeError("the JSON is malformed");
  }
}

/** The spellings of a member, in camel case and in snake case. */
type Names = readonly (readonly [camel: string, snake: string])[];

interface EnvelopeNames {
  readonly resources: Names;
  readonly scopes: Names;
  readonly items: Names;
}

const NAMES: Readonly<Record<Signal, EnvelopeNames>> = {
  traces: {
    resources: [["resourceSpans", "resource_spans"]],
    scopes: [
      ["scopeSpans", "scope_spans"],
      ["instrumentationLibrarySpans", "instrumentation_library_spans"],
    ],
    items: [["spans", "spans"]],
  },
  logs: {
    resources: [["resourceLogs", "resource_logs"]],
    scopes: [
      ["scopeLogs", "scope_logs"],
      ["instrumentationLibraryLogs", "instrumentation_library_logs"],
    ],
    items: [["logRecords", "log_records"]],
  },
};

const OTHER_SIGNALS: readonly (readonly [signal: string, names: Names, hint: string])[] = [
  ["traces", NAMES.traces.resources, SPANS_HINT],
  ["logs", NAMES.logs.resources, LOGS_HINT],
  ["metrics", [["resourceMetrics", "resource_metrics"]], METRICS_HINT],
];

function refuseOtherSignals(root: Fields, signal: Signal): void {
  if (findFirst(root, NAMES[signal].resources) !== undefined) return;
  for (const [other, names, hint] of OTHER_SIGNALS)
    if (other !== signal && findFirst(root, names) !== undefined) throw new DecodeError(hint);
}

function findFirst(fields: Fields, names: Names): unknown {
  for (const [camel, snake] of names) {
    const found = member(fields, camel, snake);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

function readRoot(root: unknown, signal: Signal): Fields {
  if (!isFields(root)) throw new DecodeError("the JSON must be an object with resourceSpans or resourceLogs");
  refuseOtherSignals(root, signal);
  return root;
}

export interface FoundItem {
  readonly item: unknown;
  readonly resource: Resource;
  readonly scope: Scope;
  /** Why the place of the item is malformed; "" when it is not. */
  readonly fault: string;
  readonly bytes: number;
}

/** What should be a list and is none is one malformed item: nobody knows how many it held. */
function toGroups(value: unknown): readonly unknown[] {
  return value === undefined || value === null ? [] : Array.isArray(value) ? (value as readonly unknown[]) : [value];
}

function malformed(what: string): FoundItem {
  return { item: null, resource: NO_RESOURCE, scope: NO_SCOPE, fault: `malformed: ${what} is no object`, bytes: 0 };
}

/** The value, or the reason why it is malformed. */
function attempt<T>(read: () => T, instead: T, where: string): readonly [value: T, fault: string] {
  try {
    return [read(), ""];
  } catch (error) {
    if (error instanceof MalformedItem) return [instead, `${where} of an item: ${error.message}`];
    throw error;
  }
}

/** `scan` null: the root holds the items themselves. */
function* eachItem(root: Fields, scan: JsonScan | null, names: EnvelopeNames): Generator<FoundItem> {
  for (const ofResource of toGroups(findFirst(root, names.resources))) {
    if (!isFields(ofResource) || !Array.isArray(findFirst(root, names.resources))) {
      yield malformed(names.resources[0]?.[0] ?? "");
      continue;
    }
    const [resource, badResource] = attempt(() => readResource(ofResource["resource"]), NO_RESOURCE, "the resource");
    const scopes = findFirst(ofResource, names.scopes);
    for (const ofScope of toGroups(scopes)) {
      if (!isFields(ofScope) || !Array.isArray(scopes)) {
        yield malformed(names.scopes[0]?.[0] ?? "");
        continue;
      }
      const given = ofScope["scope"] ?? member(ofScope, "instrumentationLibrary", "instrumentation_library");
      const [scope, badScope] = attempt(() => readScope(given), NO_SCOPE, "the scope");
      const fault = badResource || badScope;
      const items = findFirst(ofScope, names.items);
      for (const item of toGroups(items)) {
        if (scan === null || !Array.isArray(items)) {
          yield { item: Array.isArray(items) ? item : null, resource, scope, fault, bytes: 0 };
          continue;
        }
        // The scan left the mark of the group. A whole item here means that the scan did not recognise its position.
        const ranges: readonly ByteRange[] = scan.groups[groupOfMark(item) ?? -1] ?? [];
        for (const range of ranges)
          yield { item: parse(scan.decodeText(range)), resource, scope, fault, bytes: range.end - range.start };
        if (groupOfMark(item) === null) yield { item, resource, scope, fault, bytes: 0 };
      }
    }
  }
}

function readResource(given: unknown): Resource {
  const value = readObject(given, "resource");
  return value === null ? NO_RESOURCE : { attributes: readAttributes(value["attributes"]).attributes };
}

function readScope(given: unknown): Scope {
  const value = readObject(given, "scope");
  if (value === null) return NO_SCOPE;
  const { attributes } = readAttributes(value["attributes"]);
  return { name: decodeText(value["name"]), version: decodeText(value["version"]), attributes };
}

/** @throws {MalformedItem} */
function readSpan({ item: value, resource, scope }: FoundItem): Span {
  if (!isFields(value)) throw new MalformedItem("malformed: a span is no object");
  const traceId = readTraceId(member(value, "traceId", "trace_id"));
  const spanId = readSpanId(member(value, "spanId", "span_id"));
  if (traceId === "" || spanId === "") throw new MalformedItem(BAD_IDS);
  const parent = member(value, "parentSpanId", "parent_span_id");
  const { attributes, dropped } = readAttributes(value["attributes"]);
  const events = readObjects(value["events"], "events");
  const links = readObjects(value["links"], "links");
  const status = readObject(value["status"], "status") ?? {};
  return {
    traceId,
    spanId,
    parentSpanId: isNoParent(parent) ? "" : readSpanId(parent),
    traceState: decodeText(member(value, "traceState", "trace_state")),
    flags: readCount(value["flags"]),
    name: decodeText(value["name"]),
    kind: readEnum(value["kind"], KINDS),
    start: readTime(member(value, "startTimeUnixNano", "start_time_unix_nano")),
    end: readTime(member(value, "endTimeUnixNano", "end_time_unix_nano")),
    attributes,
    events: events.slice(0, EVENTS_MAX).map(readEvent),
    links: links.slice(0, LINKS_MAX).map(readLink),
    statusCode: readEnum(status["code"], STATUS_CODES),
    statusMessage: decodeText(status["message"]),
    droppedAttributes: dropped + readCount(member(value, "droppedAttributesCount", "dropped_attributes_count")),
    droppedEvents:
      Math.max(0, events.length - EVENTS_MAX) + readCount(member(value, "droppedEventsCount", "dropped_events_count")),
    droppedLinks:
      Math.max(0, links.length - LINKS_MAX) + readCount(member(value, "droppedLinksCount", "dropped_links_count")),
    resource,
    scope,
  };
}

function readEvent(value: Fields): SpanEvent {
  const { attributes, dropped } = readAttributes(value["attributes"]);
  return {
    time: readTime(member(value, "timeUnixNano", "time_unix_nano")),
    name: decodeText(value["name"]),
    attributes,
    droppedAttributes: dropped + readCount(member(value, "droppedAttributesCount", "dropped_attributes_count")),
  };
}

function readLink(value: Fields): SpanLink {
  const { attributes, dropped } = readAttributes(value["attributes"]);
  return {
    traceId: readTraceId(member(value, "traceId", "trace_id")),
    spanId: readSpanId(member(value, "spanId", "span_id")),
    traceState: decodeText(member(value, "traceState", "trace_state")),
    flags: readCount(value["flags"]),
    attributes,
    droppedAttributes: dropped + readCount(member(value, "droppedAttributesCount", "dropped_attributes_count")),
  };
}
