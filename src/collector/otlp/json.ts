// JSON reader: request text → spans or log records. Takes the protocol's form (hex ids, numbered enums, nanoseconds in
// strings) and the protobuf-JSON form (base64 ids, enum names, bare numbers), and distinguishes them field by field.
// Invariants:
//   json.1. The same trace in either form, or in protobuf, gives the same spans (span.1–3).
//   json.2. The reader is a generator: between two slices the caller may yield to other requests.
//   json.3. The reader ignores unknown fields; the last of several equal keys counts.
import { isUtf8 } from "node:buffer";
import {
  DecodeError,
  type Decoded,
  EVENTS_MAX,
  LINKS_MAX,
  LOGS_HINT,
  METRICS_HINT,
  NO_RECORDS,
  NO_SPANS,
  type Signal,
  SPANS_HINT,
} from "./decoded.ts";
import { parseAtOnce } from "./json-at-once.ts";
import { isNoParent, readSpanId, readTraceId } from "./json-ids.ts";
import { readLogRecord } from "./json-log-record.ts";
import { type ByteRange, groupOfMark, type JsonScan, scanJson } from "./json-scan.ts";
import {
  type Fields,
  isFields,
  listOf,
  member,
  readAttributes,
  readCount,
  readEnum,
  readTime,
  textOf,
} from "./json-values.ts";
import type { LogRecord } from "./log-record.ts";
import { NO_RESOURCE, NO_SCOPE, type Resource, type Scope, type Span, type SpanEvent, type SpanLink } from "./span.ts";

export const NOT_UTF8 = "the JSON is not valid UTF-8";
const SLICE_BYTES = 128 * 1024;
const KINDS = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"].map(
  (name) => `SPAN_KIND_${name}`,
);
const STATUS_CODES = ["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"];

/** Yields between slices (json.2). @throws {DecodeError} */
export function* readJson(given: Buffer, signal: Signal = "traces"): Generator<undefined, Decoded> {
  const body = skipMark(given);
  if (!isUtf8(body)) throw new DecodeError(NOT_UTF8);
  const whole = parseAtOnce(body);
  const scan = whole === undefined ? yield* scanJson(body, signal) : null;
  const root = rootOf(scan === null ? whole : parse(scan.skeleton), signal);
  const spans: Span[] = [];
  const records: LogRecord[] = [];
  let rejected = 0;
  let sliceBytes = 0;
  for (const { item, resource, scope, bytes } of eachItem(root, scan, NAMES[signal])) {
    const span = signal === "traces" ? readSpan(item, resource, scope) : null;
    const record = signal === "logs" ? readLogRecord(item, resource, scope) : null;
    if (span !== null) spans.push(span);
    else if (record !== null) records.push(record);
    else rejected++;
    sliceBytes += bytes;
    if (sliceBytes < SLICE_BYTES) continue;
    sliceBytes = 0;
    yield;
  }
  const reason = rejected === 0 ? "" : signal === "traces" ? BAD_IDS : "a log record is not an object";
  return signal === "traces"
    ? { spans, records: NO_RECORDS, rejected, reason, repairedTexts: 0 }
    : { spans: NO_SPANS, records, rejected, reason, repairedTexts: 0 };
}

const BAD_IDS =
  "a trace or span id is missing, all zero, or neither hex nor base64 of 16 and 8 bytes, or a list of them is malformed";

/** Of UTF-8, which some editors and .NET write in front. */
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

function skipMark(body: Buffer): Buffer {
  return body.subarray(0, 3).equals(BYTE_ORDER_MARK) ? body.subarray(3) : body;
}

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
  if (firstOf(root, NAMES[signal].resources) !== undefined) return;
  for (const [other, names, hint] of OTHER_SIGNALS)
    if (other !== signal && firstOf(root, names) !== undefined) throw new DecodeError(hint); // decoded.2
}

function firstOf(fields: Fields, names: Names): unknown {
  for (const [camel, snake] of names) {
    const found = member(fields, camel, snake);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

function rootOf(root: unknown, signal: Signal): Fields {
  if (!isFields(root)) throw new DecodeError("the JSON must be an object with resourceSpans or resourceLogs");
  refuseOtherSignals(root, signal);
  return root;
}

interface FoundItem {
  readonly item: unknown;
  readonly resource: Resource;
  readonly scope: Scope;
  readonly bytes: number;
}

/** Counts as one rejected item: nobody knows how many it held. */
const MISFIT: FoundItem = { item: null, resource: NO_RESOURCE, scope: NO_SCOPE, bytes: 0 };

/** What should be a list and is none is one misfit. */
function groupsOf(value: unknown): readonly unknown[] {
  return value === undefined || Array.isArray(value) ? listOf(value) : [null];
}

/** `scan` null: the root holds the items themselves. */
function* eachItem(root: Fields, scan: JsonScan | null, names: EnvelopeNames): Generator<FoundItem> {
  for (const ofResource of groupsOf(firstOf(root, names.resources))) {
    if (!isFields(ofResource)) {
      yield MISFIT;
      continue;
    }
    const resource = readResource(ofResource["resource"]);
    for (const ofScope of groupsOf(firstOf(ofResource, names.scopes))) {
      if (!isFields(ofScope)) {
        yield MISFIT;
        continue;
      }
      const scope = readScope(ofScope["scope"] ?? member(ofScope, "instrumentationLibrary", "instrumentation_library"));
      for (const item of groupsOf(firstOf(ofScope, names.items))) {
        if (scan === null) {
          yield { item, resource, scope, bytes: 0 };
          continue;
        }
        // The scan left the mark of the group. A whole item here means that the scan did not recognise its position.
        const ranges: readonly ByteRange[] = scan.groups[groupOfMark(item) ?? -1] ?? [];
        for (const range of ranges)
          yield { item: parse(scan.textOf(range)), resource, scope, bytes: range.end - range.start };
        if (isFields(item)) yield { item, resource, scope, bytes: 0 };
      }
    }
  }
}

function readResource(value: unknown): Resource {
  return isFields(value) ? { attributes: readAttributes(value["attributes"]).attributes } : NO_RESOURCE;
}

function readScope(value: unknown): Scope {
  if (!isFields(value)) return NO_SCOPE;
  const { attributes } = readAttributes(value["attributes"]);
  return { name: textOf(value["name"]), version: textOf(value["version"]), attributes };
}

function readSpan(value: unknown, resource: Resource, scope: Scope): Span | null {
  if (!isFields(value)) return null;
  const traceId = readTraceId(member(value, "traceId", "trace_id"));
  const spanId = readSpanId(member(value, "spanId", "span_id"));
  if (traceId === "" || spanId === "" || !isAttributes(value["attributes"])) return null; // decoded.1
  const parent = member(value, "parentSpanId", "parent_span_id");
  const { attributes, dropped } = readAttributes(value["attributes"]);
  const events = listOf(value["events"]);
  const links = listOf(value["links"]);
  const status = isFields(value["status"]) ? value["status"] : {};
  return {
    traceId,
    spanId,
    parentSpanId: isNoParent(parent) ? "" : readSpanId(parent),
    traceState: textOf(member(value, "traceState", "trace_state")),
    flags: readCount(value["flags"]),
    name: textOf(value["name"]),
    kind: readEnum(value["kind"], KINDS),
    start: readTime(member(value, "startTimeUnixNano", "start_time_unix_nano")),
    end: readTime(member(value, "endTimeUnixNano", "end_time_unix_nano")),
    attributes,
    events: events.slice(0, EVENTS_MAX).filter(isFields).map(readEvent),
    links: links.slice(0, LINKS_MAX).filter(isFields).map(readLink),
    statusCode: readEnum(status["code"], STATUS_CODES),
    statusMessage: textOf(status["message"]),
    droppedAttributes: dropped + readCount(member(value, "droppedAttributesCount", "dropped_attributes_count")),
    droppedEvents:
      Math.max(0, events.length - EVENTS_MAX) + readCount(member(value, "droppedEventsCount", "dropped_events_count")),
    droppedLinks:
      Math.max(0, links.length - LINKS_MAX) + readCount(member(value, "droppedLinksCount", "dropped_links_count")),
    resource,
    scope,
  };
}

/** A list, the object that some write, or nothing. */
function isAttributes(value: unknown): boolean {
  return value === undefined || value === null || Array.isArray(value) || isFields(value);
}

function readEvent(value: Fields): SpanEvent {
  const { attributes, dropped } = readAttributes(value["attributes"]);
  return {
    time: readTime(member(value, "timeUnixNano", "time_unix_nano")),
    name: textOf(value["name"]),
    attributes,
    droppedAttributes: dropped + readCount(member(value, "droppedAttributesCount", "dropped_attributes_count")),
  };
}

function readLink(value: Fields): SpanLink {
  const { attributes, dropped } = readAttributes(value["attributes"]);
  return {
    traceId: readTraceId(member(value, "traceId", "trace_id")),
    spanId: readSpanId(member(value, "spanId", "span_id")),
    traceState: textOf(member(value, "traceState", "trace_state")),
    flags: readCount(value["flags"]),
    attributes,
    droppedAttributes: dropped + readCount(member(value, "droppedAttributesCount", "dropped_attributes_count")),
  };
}
