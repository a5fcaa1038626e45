// OTLP messages: which fields of a request hold texts of the sender, by their numbers in protobuf and their names in JSON.
// Fields that are not listed are unknown: in protobuf they go when a rule finds something in their bytes, in JSON their texts
// are searched like all others.
import type { Part } from "./parts.ts";

export type MessageField =
  /** An id, or numbers. */
  | { readonly kind: "keep"; readonly isId: boolean }
  | { readonly kind: "text"; readonly part: Part; readonly path: readonly string[] }
  /** Repeated KeyValue. */
  | { readonly kind: "attributes"; readonly part: Part }
  /** AnyValue. */
  | { readonly kind: "value"; readonly part: Part; readonly path: readonly string[] }
  | { readonly kind: "message"; readonly message: Message };

export interface Message {
  readonly byNumber: ReadonlyMap<number, MessageField>;
  readonly byName: ReadonlyMap<string, MessageField>;
}

const keep = (name: string): MessageField => ({ kind: "keep", isId: name.endsWith("Id") });
const attributes = (part: Part): MessageField => ({ kind: "attributes", part });
const text = (part: Part, path: string): MessageField => ({ kind: "text", part, path: [path] });
const of = (message: Message): MessageField => ({ kind: "message", message });

type Fields = readonly (readonly [number: number, name: string, field: MessageField])[];

/** `kept` are fields without texts: ids, times, numbers. */
function message(fields: Fields, kept: Readonly<Record<string, number>> = {}): Message {
  const all: Fields = [...fields, ...Object.entries(kept).map(([name, number]) => [number, name, keep(name)] as const)];
  return {
    byNumber: new Map(all.map(([number, , field]) => [number, field])),
    byName: new Map(all.map(([, name, field]) => [name, field])),
  };
}

const RESOURCE = message([[1, "attributes", attributes("resource")]], { droppedAttributesCount: 2 });
const SCOPE = message(
  [
    [1, "name", text("names", "scope.name")],
    [2, "version", text("names", "scope.version")],
    [3, "attributes", attributes("scope")],
  ],
  { droppedAttributesCount: 4 },
);
const SCHEMA_URL = text("other", "schema_url");
const TRACE_STATE = text("other", "trace_state");

/** Resource… and Scope… around the items of a signal. */
function request(signal: string, item: readonly [name: string, field: MessageField], old: string): Message {
  const scoped = message([
    [1, "scope", of(SCOPE)],
    [1001, "instrumentationLibrary", of(SCOPE)],
    [2, ...item],
    [3, "schemaUrl", SCHEMA_URL],
  ]);
  const ofResource = message([
    [1, "resource", of(RESOURCE)],
    [2, `scope${signal}`, of(scoped)],
    [1000, old, of(scoped)],
    [3, "schemaUrl", SCHEMA_URL],
  ]);
  return message([[1, `resource${signal}`, of(ofResource)]]);
}

const EVENT = message(
  [
    [2, "name", text("names", "event.name")],
    [3, "attributes", attributes("events")],
  ],
  { timeUnixNano: 1, droppedAttributesCount: 4 },
);
const LINK = message(
  [
    [3, "traceState", TRACE_STATE],
    [4, "attributes", attributes("links")],
  ],
  { traceId: 1, spanId: 2, droppedAttributesCount: 5, flags: 6 },
);
const STATUS = message([[2, "message", text("status", "status.message")]], { code: 3 });
const SPAN = message(
  [
    [3, "traceState", TRACE_STATE],
    [5, "name", text("names", "span.name")],
    [9, "attributes", attributes("attributes")],
    [11, "events", of(EVENT)],
    [13, "links", of(LINK)],
    [15, "status", of(STATUS)],
  ],
  {
    traceId: 1,
    spanId: 2,
    parentSpanId: 4,
    kind: 6,
    startTimeUnixNano: 7,
    endTimeUnixNano: 8,
    droppedAttributesCount: 10,
    droppedEventsCount: 12,
    droppedLinksCount: 14,
    flags: 16,
  },
);
const LOG_RECORD = message(
  [
    [3, "severityText", text("names", "severity_text")],
    [5, "body", { kind: "value", part: "body", path: ["body"] }],
    [6, "attributes", attributes("attributes")],
    [12, "eventName", text("names", "event_name")],
  ],
  {
    timeUnixNano: 1,
    severityNumber: 2,
    droppedAttributesCount: 7,
    flags: 8,
    traceId: 9,
    spanId: 10,
    observedTimeUnixNano: 11,
  },
);

const EXEMPLAR = message([[7, "filteredAttributes", attributes("attributes")]], {
  timeUnixNano: 2,
  asDouble: 3,
  spanId: 4,
  traceId: 5,
  asInt: 6,
});
const exemplarsAt = (number: number): Fields[number] => [number, "exemplars", of(EXEMPLAR)];

/** Points differ in the numbers of their attributes and exemplars only; all other known fields are numbers. */
function points(attributesAt: number, inner: Fields, kept: Readonly<Record<string, number>>): MessageField {
  const point = message([[attributesAt, "attributes", attributes("attributes")], ...inner], {
    startTimeUnixNano: 2,
    timeUnixNano: 3,
    ...kept,
  });
  return of(message([[1, "dataPoints", of(point)]], { aggregationTemporality: 2, isMonotonic: 3 }));
}

const BUCKETS = of(message([], { offset: 1, bucketCounts: 2 }));
const QUANTILES = of(message([], { quantile: 1, value: 2 }));
const NUMBERS = points(7, [exemplarsAt(5)], { asDouble: 4, asInt: 6, flags: 8 });
const METRIC = message([
  [1, "name", text("names", "metric.name")],
  [2, "description", text("names", "metric.description")],
  [3, "unit", text("names", "metric.unit")],
  [5, "gauge", NUMBERS],
  [7, "sum", NUMBERS],
  [
    9,
    "histogram",
    points(9, [exemplarsAt(8)], { count: 4, sum: 5, bucketCounts: 6, explicitBounds: 7, flags: 10, min: 11, max: 12 }),
  ],
  [
    10,
    "exponentialHistogram",
    points(1, [exemplarsAt(11), [8, "positive", BUCKETS], [9, "negative", BUCKETS]], {
      count: 4,
      sum: 5,
      scale: 6,
      zeroCount: 7,
      flags: 10,
      min: 12,
      max: 13,
      zeroThreshold: 14,
    }),
  ],
  [11, "summary", points(7, [[6, "quantileValues", QUANTILES]], { count: 4, sum: 5, flags: 8 })],
  [12, "metadata", attributes("attributes")],
]);

export const REQUESTS: Readonly<Record<"traces" | "logs" | "metrics", Message>> = {
  traces: request("Spans", ["spans", of(SPAN)], "instrumentationLibrarySpans"),
  logs: request("Logs", ["logRecords", of(LOG_RECORD)], "instrumentationLibraryLogs"),
  metrics: request("Metrics", ["metrics", of(METRIC)], "instrumentationLibraryMetrics"),
};
