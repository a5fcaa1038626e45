// One Span message of the protobuf reader, with its events, links and status. Invariants: a span without ids
// counts as rejected; lists have maxima, and the rest counts as dropped (decoded.ts).
import { EVENTS_MAX, isZeroId, LINKS_MAX } from "./decoded.ts";
import { attribute, newList } from "./protobuf-values.ts";
import { NO_TIME, type Resource, type Scope, type Span, type SpanEvent, type SpanLink } from "./span.ts";
import {
  type Cursor,
  fieldEnd,
  fieldNumbers,
  fixed32,
  fixed64,
  hexId,
  skip,
  spendValue,
  text,
  truncated,
  varint,
} from "./protobuf-reader.ts";

/** Guesses the kind of a message without usable span ids. */
export type Misfit = "no_ids" | "log" | "metric";

const NO_EVENTS: readonly SpanEvent[] = Object.freeze([]);
const NO_LINKS: readonly SpanLink[] = Object.freeze([]);
const COUNT_MAX = 4_294_967_295;
const SPAN_FIELDS = fieldNumbers(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
const EVENT_FIELDS = fieldNumbers(1, 2, 3, 4);
const LINK_FIELDS = fieldNumbers(1, 2, 3, 4, 5, 6);
const STATUS_FIELDS = fieldNumbers(2, 3);

export function readSpan(c: Cursor, end: number, resource: Resource, scope: Scope): Span | Misfit {
  const attributes = newList();
  let events: SpanEvent[] | null = null;
  let links: SpanLink[] | null = null;
  let traceId = "";
  let spanId = "";
  let parentSpanId = "";
  let traceState = "";
  let flags = 0;
  let name = "";
  let kind = 0;
  let start = NO_TIME;
  let finish = NO_TIME;
  let status = UNSET;
  let droppedAttributes = 0;
  let droppedEvents = 0;
  let droppedLinks = 0;
  let misfit: Misfit = "no_ids";
  while (c.pos < end) {
    const tag = varint(c);
    // Most fields of a span are its attributes.
    if (tag === 74) droppedAttributes += attribute(c, end, attributes);
    else if (tag === 10) traceId = hexId(c, end);
    else if (tag === 18) spanId = hexId(c, end);
    else if (tag === 26) traceState = text(c, end);
    else if (tag === 34) parentSpanId = hexId(c, end);
    else if (tag === 42) name = text(c, end);
    else if (tag === 48) kind = varint(c);
    else if (tag === 57) start = fixed64(c, end);
    else if (tag === 65) finish = fixed64(c, end);
    else if (tag === 80) droppedAttributes += varint(c);
    else if (tag === 90) droppedEvents += readItem(c, fieldEnd(c, end), (events ??= []), EVENTS);
    else if (tag === 96) droppedEvents += varint(c);
    else if (tag === 106) droppedLinks += readItem(c, fieldEnd(c, end), (links ??= []), LINKS);
    else if (tag === 112) droppedLinks += varint(c);
    else if (tag === 122) status = readStatus(c, fieldEnd(c, end));
    else if (tag === 133) flags = fixed32(c, end);
    else {
      misfit = chooseMisfit(tag, misfit);
      skip(c, tag, end, SPAN_FIELDS);
    }
  }
  if (c.pos !== end) throw truncated();
  if (traceId.length !== 32 || spanId.length !== 16 || isZeroId(traceId) || isZeroId(spanId)) {
    const nothingOfASpan = traceId === "" && spanId === "" && name !== "" && attributes.keys.length === 0;
    return misfit === "no_ids" && nothingOfASpan ? "metric" : misfit;
  }
  return {
    traceId,
    spanId,
    parentSpanId: parentSpanId.length !== 16 || isZeroId(parentSpanId) ? "" : parentSpanId,
    traceState,
    flags,
    name,
    kind: kind > 5 ? 0 : kind,
    start,
    end: finish,
    attributes,
    events: events ?? NO_EVENTS,
    links: links ?? NO_LINKS,
    statusCode: status.code > 2 ? 0 : status.code,
    statusMessage: status.message,
    droppedAttributes: Math.min(droppedAttributes, COUNT_MAX),
    droppedEvents: Math.min(droppedEvents, COUNT_MAX),
    droppedLinks: Math.min(droppedLinks, COUNT_MAX),
    resource,
    scope,
  };
}

/** A LogRecord has fixed64 times in fields 1 and 11; a Metric has its sum as a message in field 7. */
function chooseMisfit(tag: number, before: Misfit): Misfit {
  if (tag === 9 || tag === 89) return "log";
  return tag === 58 ? "metric" : before;
}

/** A repeated message field. */
interface Items<T> {
  readonly max: number;
  readonly read: (c: Cursor, end: number) => T;
}

const EVENTS: Items<SpanEvent> = { max: EVENTS_MAX, read: readEvent };
const LINKS: Items<SpanLink> = { max: LINKS_MAX, read: readLink };

/** Reads one more item into `list`, or skips it when the list is full. Returns the number of dropped items. */
function readItem<T>(c: Cursor, end: number, list: T[], { max, read }: Items<T>): number {
  if (list.length < max) {
    spendValue(c);
    list.push(read(c, end));
    if (c.pos !== end) throw truncated();
    return 0;
  }
  c.pos = end;
  return 1;
}

function readEvent(c: Cursor, end: number): SpanEvent {
  const attributes = newList();
  let time = NO_TIME;
  let name = "";
  let dropped = 0;
  while (c.pos < end) {
    const tag = varint(c);
    if (tag === 9) time = fixed64(c, end);
    else if (tag === 18) name = text(c, end);
    else if (tag === 26) dropped += attribute(c, end, attributes);
    else if (tag === 32) dropped += varint(c);
    else skip(c, tag, end, EVENT_FIELDS);
  }
  return { time, name, attributes, droppedAttributes: Math.min(dropped, COUNT_MAX) };
}

function readLink(c: Cursor, end: number): SpanLink {
  const attributes = newList();
  let traceId = "";
  let spanId = "";
  let traceState = "";
  let flags = 0;
  let dropped = 0;
  while (c.pos < end) {
    const tag = varint(c);
    if (tag === 10) traceId = hexId(c, end);
    else if (tag === 18) spanId = hexId(c, end);
    else if (tag === 26) traceState = text(c, end);
    else if (tag === 34) dropped += attribute(c, end, attributes);
    else if (tag === 40) dropped += varint(c);
    else if (tag === 53) flags = fixed32(c, end);
    else skip(c, tag, end, LINK_FIELDS);
  }
  return { traceId, spanId, traceState, flags, attributes, droppedAttributes: Math.min(dropped, COUNT_MAX) };
}

const UNSET: { readonly code: number; readonly message: string } = Object.freeze({ code: 0, message: "" });
const OK: typeof UNSET = Object.freeze({ code: 1, message: "" });

function readStatus(c: Cursor, end: number): typeof UNSET {
  let code = 0;
  let message = "";
  while (c.pos < end) {
    const tag = varint(c);
    if (tag === 18) message = text(c, end);
    else if (tag === 24) code = varint(c);
    else skip(c, tag, end, STATUS_FIELDS);
  }
  if (c.pos !== end) throw truncated();
  if (message === "" && code <= 1) return code === 1 ? OK : UNSET;
  return { code, message };
}
