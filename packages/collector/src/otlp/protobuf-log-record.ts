// One LogRecord message of the protobuf reader. Invariants:
//   - Lists have maxima, and each record spends a value (decoded.ts).
//   - A record without usable ids has "" for both: ids are optional.
import { isZeroId } from "./decoded.ts";
import { type LogRecord, nameOfEvent, SEVERITY_MAX } from "./log-record.ts";
import {
  type Cursor,
  fieldEnd,
  fieldNumbers,
  fixed64,
  hexId,
  skip,
  spendValue,
  text,
  truncated,
  varint,
} from "./protobuf-reader.ts";
import { anyValue, attribute, newList } from "./protobuf-values.ts";
import { type AttributeValue, NO_TIME, type Resource, type Scope } from "./span.ts";

/** The end of a span: a fixed64 in field 8, which no log record has. */
const SPAN_END = 65;
/** Without the flags, which are not read. */
const RECORD_FIELDS = fieldNumbers(1, 2, 3, 5, 6, 7, 9, 10, 11, 12);

/** null: the bytes are a span. */
export function readLogRecord(c: Cursor, end: number, resource: Resource, scope: Scope): LogRecord | null {
  const attributes = newList();
  let traceId = "";
  let spanId = "";
  let name = "";
  let time = NO_TIME;
  let observed = NO_TIME;
  let severity = 0;
  let severityText = "";
  let body: AttributeValue = null;
  let droppedAttributes = 0;
  let isSpan = false;
  spendValue(c);
  while (c.pos < end) {
    const tag = varint(c);
    if (tag === 50) droppedAttributes += attribute(c, end, attributes);
    else if (tag === 9) time = fixed64(c, end);
    else if (tag === 16) severity = varint(c);
    else if (tag === 26) severityText = text(c, end);
    else if (tag === 42 && !isSpan) body = anyValue(c, fieldEnd(c, end), 1);
    else if (tag === 56) droppedAttributes += varint(c);
    else if (tag === 74) traceId = hexId(c, end);
    else if (tag === 82) spanId = hexId(c, end);
    else if (tag === 89) observed = fixed64(c, end);
    else if (tag === 98) name = text(c, end);
    else {
      // A span begins with its trace id in field 1, before the name that would be read as a body.
      if (tag === 10 || tag === SPAN_END) isSpan = true;
      skip(c, tag, end, RECORD_FIELDS);
    }
  }
  if (c.pos !== end) throw truncated();
  if (isSpan) return null;
  const hasIds = traceId.length === 32 && spanId.length === 16 && !isZeroId(traceId) && !isZeroId(spanId);
  return {
    traceId: hasIds ? traceId : "",
    spanId: hasIds ? spanId : "",
    name: nameOfEvent(name, attributes),
    time: time.sec === 0 && time.nano === 0 ? observed : time,
    severity: severity > SEVERITY_MAX ? 0 : severity,
    severityText,
    body,
    attributes,
    droppedAttributes: Math.min(droppedAttributes, 4_294_967_295),
    resource,
    scope,
  };
}
