// Record event: a log record as an event of a span, and several records as a span of their own.
// Invariants:
//   - Nothing of a record is lost: body, severity, and what its span lacks of its scope and its resource stay beside
//     its attributes (record-origin.ts).
//   - Ids come from a hash of the content: a repeated record is a duplicate, on every machine.
import { hash } from "node:crypto";
import { isJsonObject, type Json, parseJson } from "@holdpoint/base/json/json.ts";
import type { LogRecord } from "../otlp/log-record.ts";
import type { Attributes, AttributeValue, Span, SpanEvent } from "../otlp/span.ts";
import { EMPTY_SPAN } from "../otlp/span.ts";
import { plain, plainAttributes } from "../translate/attributes/plain-values.ts";
import { findFullName, isExchange } from "./record-kinds.ts";
import { type AddedAttribute, listOriginAttributes, listSeverity } from "./record-origin.ts";

/** Attribute in which event spans carry a whole body; the translator reads it (span-events.ts). */
const BODY = "gen_ai.event.content";
/** Its attributes complete those of the span. */
const DETAILS = "gen_ai.client.inference.operation.details";

/** `span` is the one that the event is part of. */
export function toSpanEvent(record: LogRecord, span: Pick<Span, "resource" | "scope">): SpanEvent {
  if (isExchange(record)) return writeExchange(record, span);
  const { body, attributes, time, droppedAttributes } = record;
  const name = findFullName(record);
  const added: AddedAttribute[] = [];
  if (body !== null && body !== name)
    added.push(name.startsWith("gen_ai.") ? [BODY, formatContent(body)] : ["body", body]);
  added.push(...listSeverity(record), ...listOriginAttributes(record, span));
  const all = added.length === 0 ? attributes : extended(attributes, added);
  return { time, name, attributes: all, droppedAttributes };
}

/** {input, output} are the messages of the operation. */
function writeExchange(record: LogRecord, span: Pick<Span, "resource" | "scope">): SpanEvent {
  const { body, attributes, time, droppedAttributes } = record;
  const { keys, values } = body as Attributes;
  const messages = keys.map((key, at): AddedAttribute => [
    `gen_ai.${key}.messages`,
    openState(formatContent(values[at] ?? null)),
  ]);
  const all = extended(attributes, [...messages, ...listSeverity(record), ...listOriginAttributes(record, span)]);
  return { time, name: DETAILS, attributes: all, droppedAttributes };
}

/** A message whose text is the state of a graph or its change: LangGraph has the messages in there. */
function openState(text: AttributeValue): AttributeValue {
  const [message, ...more] = readList(typeof text === "string" ? parseJson(text) : undefined);
  const content = isJsonObject(message) && more.length === 0 ? message["content"] : null;
  return typeof content === "string" && STATE.test(content) && isJsonObject(parseJson(content)) ? content : text;
}

const STATE = /^\{\s*"(?:inputs|outputs|messages)"/;

function readList(value: Json | undefined): readonly Json[] {
  const list = isJsonObject(value) ? value["messages"] : value;
  return Array.isArray(list) ? (list as readonly Json[]) : [];
}

/** A text stays as it is; everything else becomes JSON. */
function formatContent(body: AttributeValue): AttributeValue {
  return typeof body === "string" ? body : JSON.stringify(plain(body));
}

export function extended({ keys, values }: Attributes, added: readonly AddedAttribute[]): Attributes {
  return {
    keys: [...keys, ...added.map(([key]) => key)],
    values: [...values, ...added.map(([, value]) => value)],
  };
}

/** Fields of a span that stands for records. */
export type OwnFields = Pick<Span, "traceId" | "spanId" | "parentSpanId" | "name" | "start" | "end"> &
  Partial<Pick<Span, "attributes" | "events" | "statusCode" | "statusMessage" | "droppedAttributes">>;

export function spanFor({ resource, scope }: LogRecord, own: OwnFields): Span {
  return {
    ...EMPTY_SPAN,
    resource,
    scope,
    ...own,
  };
}

/**
 * The records of a span that is out of reach, as one child of it. Without ids (an operation whose sender has no spans)
 * it is a trace of its own.
 */
export function spanOfRecords(records: readonly [LogRecord, ...LogRecord[]], tenantId: string): Span {
  const [first] = records;
  const print = hashParts([tenantId, first.traceId, first.spanId, ...records.map(fingerprintRecord)], 32);
  const events = records.map((record) => toSpanEvent(record, first));
  const named = records.find((record) => record.name === DETAILS) ?? first;
  return spanFor(first, {
    traceId: first.traceId === "" ? print : first.traceId,
    spanId: print.slice(0, 16),
    parentSpanId: first.spanId,
    name: findFullName(named),
    start: first.time,
    end: records.at(-1)?.time ?? first.time,
    events,
  });
}

export function hashParts(parts: readonly string[], hexDigits: number): string {
  return hash("sha256", parts.join("\u0000"), "hex").slice(0, hexDigits);
}

export function fingerprintRecord({ name, time, body, attributes }: LogRecord): string {
  return `${name} ${time.sec}.${time.nano} ${JSON.stringify([plain(body), plainAttributes(attributes)])}`;
}
