// One LogRecord of the JSON reader. Invariants: those of json-values.ts and json-ids.ts; ids are optional.
import { MalformedItem } from "./decoded.ts";
import { readSpanId, readTraceId } from "./json-ids.ts";
import {
  type Fields,
  isFields,
  member,
  readAnyValue,
  readAttributes,
  readCount,
  readTime,
  decodeText,
} from "./json-values.ts";
import { type LogRecord, nameOfEvent, SEVERITY_MAX } from "./log-record.ts";
import type { Resource, Scope, UnixNano } from "./span.ts";

/** @throws {MalformedItem} */
export function readLogRecord({
  item: value,
  resource,
  scope,
}: {
  readonly item: unknown;
  readonly resource: Resource;
  readonly scope: Scope;
}): LogRecord {
  if (!isFields(value)) throw new MalformedItem("malformed: a log record is no object");
  const traceId = readTraceId(member(value, "traceId", "trace_id"));
  const spanId = readSpanId(member(value, "spanId", "span_id"));
  const hasIds = traceId !== "" && spanId !== "";
  const { attributes, dropped } = readAttributes(value["attributes"]);
  const severity = parseSeverity(member(value, "severityNumber", "severity_number"));
  return {
    traceId: hasIds ? traceId : "",
    spanId: hasIds ? spanId : "",
    name: nameOfEvent(decodeText(member(value, "eventName", "event_name")), attributes),
    time: chooseTime(value),
    severity,
    severityText: decodeText(member(value, "severityText", "severity_text")),
    body: readAnyValue(value["body"]),
    attributes,
    droppedAttributes: dropped + readCount(member(value, "droppedAttributesCount", "dropped_attributes_count")),
    resource,
    scope,
  };
}

function chooseTime(value: Fields): UnixNano {
  const time = readTime(member(value, "timeUnixNano", "time_unix_nano"));
  const isMissing = time.sec === 0 && time.nano === 0;
  return isMissing ? readTime(member(value, "observedTimeUnixNano", "observed_time_unix_nano")) : time;
}

const LEVELS = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

/** A number, or `SEVERITY_NUMBER_WARN2`: four numbers a level. */
function parseSeverity(value: unknown): number {
  const named = typeof value === "string" ? /^SEVERITY_NUMBER_([A-Z]+)([2-4])?$/.exec(value) : null;
  const level = LEVELS.indexOf(named?.[1] ?? "");
  const number = level < 0 ? Number(value ?? 0) : level * 4 + Number(named?.[2] ?? 1);
  return Number.isInteger(number) && number > 0 && number <= SEVERITY_MAX ? number : 0;
}
