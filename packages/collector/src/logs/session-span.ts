// Session span: an event of a coding agent as a span of its own.
// Invariants:
//   - Events of one prompt share a trace; without a prompt id, those of one session. None names a parent: the first to
//     arrive becomes the root, the others its children.
//   - A record that names a span becomes a child of it.
//   - An event is written at its end: its duration lies before it.
import { plusSeconds } from "../shared/rfc3339.ts";
import type { LogRecord } from "../otlp/log-record.ts";
import type { Attributes, Span, UnixNano } from "../otlp/span.ts";
import { findFailure } from "./failed-record.ts";
import { extended, hashParts, fingerprintRecord, spanFor } from "./record-event.ts";
import { findFullName, findSession, readRecordText, findValue } from "./record-kinds.ts";
import { type AddedAttribute, listSeverity } from "./record-origin.ts";
import { findRule, type SessionRule } from "./session-rules.ts";

const ERROR = 2;
/** Longer than any run of an agent: a duration beyond is a mistake of its sender. */
const DURATION_MS_MAX = 7 * 86_400_000;

export function spanOfSession(record: LogRecord, tenantId: string): Span {
  const name = findFullName(record);
  const rule = findRule(name);
  const traceId = record.traceId === "" ? deriveTrace(record, name, tenantId) : record.traceId;
  const failure = findFailure(record);
  return spanFor(record, {
    traceId,
    spanId: hashParts([traceId, record.spanId, fingerprintRecord(record)], 16),
    parentSpanId: record.spanId,
    name: rule.span ?? name,
    start: findStart(record),
    end: record.time,
    attributes: buildAttributes(record, name, rule),
    statusCode: failure === null ? 0 : ERROR,
    statusMessage: failure ?? "",
    droppedAttributes: record.droppedAttributes,
  });
}

/** The sender is part of it: two agents may use the same ids. */
function deriveTrace(record: LogRecord, name: string, tenantId: string): string {
  const prompt = readRecordText(record, "prompt.id") || readRecordText(record, "prompt_id");
  return hashParts([tenantId, name.slice(0, name.indexOf(".")), findSession(record), prompt], 32);
}

function buildAttributes(record: LogRecord, name: string, rule: SessionRule): Attributes {
  const { attributes, body } = record;
  const keys = attributes.keys.map((key) => (Object.hasOwn(rule.renames, key) ? (rule.renames[key] ?? key) : key));
  const added: AddedAttribute[] = [];
  if (rule.operation !== undefined) added.push(["gen_ai.operation.name", rule.operation]);
  if (body !== null && body !== name && body !== record.name) added.push(["body", body]);
  added.push(...listSeverity(record));
  return extended({ keys, values: attributes.values }, added);
}

function findStart(record: LogRecord): UnixNano {
  const given = findValue(record, "duration_ms");
  const ms = typeof given === "number" || typeof given === "string" ? Number(given) : Number.NaN;
  if (!(ms > 0 && ms <= DURATION_MS_MAX) || ms / 1000 > record.time.sec) return record.time;
  const whole = Math.ceil(ms / 1000);
  return plusSeconds({ sec: record.time.sec - whole, nano: record.time.nano }, whole - ms / 1000);
}
