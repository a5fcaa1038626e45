// Session span: an event of a coding agent as a span of its own.
// Invariants:
//   session-span.1. Events of one prompt share a trace; without a prompt id, those of one session. None names a parent:
//        the first to arrive becomes the root, the others its children (trace-tree.3).
//   session-span.2. A record that names a span becomes a child of it.
//   session-span.3. An event is written at its end: its duration lies before it.
import { plusSeconds } from "../shared/rfc3339.ts";
import type { LogRecord } from "../otlp/log-record.ts";
import type { Attributes, Span, UnixNano } from "../otlp/span.ts";
import { failureOf } from "./failed-record.ts";
import { extended, hashOf, printOf, spanFor } from "./record-event.ts";
import { fullNameOf, sessionOf, textOf, valueOf } from "./record-kinds.ts";
import { type AddedAttribute, severityOf } from "./record-origin.ts";
import { ruleOf, type SessionRule } from "./session-rules.ts";

const ERROR = 2;
/** Longer than any run of an agent: a duration beyond is a mistake of its sender. */
const DURATION_MS_MAX = 7 * 86_400_000;

export function spanOfSession(record: LogRecord, tenantId: string): Span {
  const name = fullNameOf(record);
  const rule = ruleOf(name);
  const traceId = record.traceId === "" ? traceOf(record, name, tenantId) : record.traceId;
  const failure = failureOf(record);
  return spanFor(record, {
    traceId,
    spanId: hashOf([traceId, record.spanId, printOf(record)], 16),
    parentSpanId: record.spanId, // session-span.2
    name: rule.span ?? name,
    start: startOf(record),
    end: record.time,
    attributes: attributesOf(record, name, rule),
    statusCode: failure === null ? 0 : ERROR,
    statusMessage: failure ?? "",
    droppedAttributes: record.droppedAttributes,
  });
}

/** session-span.1. The sender is part of it: two agents may use the same ids. */
function traceOf(record: LogRecord, name: string, tenantId: string): string {
  const prompt = textOf(record, "prompt.id") || textOf(record, "prompt_id");
  return hashOf([tenantId, name.slice(0, name.indexOf(".")), sessionOf(record), prompt], 32);
}

function attributesOf(record: LogRecord, name: string, rule: SessionRule): Attributes {
  const { attributes, body } = record;
  const keys = attributes.keys.map((key) => (Object.hasOwn(rule.renames, key) ? (rule.renames[key] ?? key) : key));
  const added: AddedAttribute[] = [];
  if (rule.operation !== undefined) added.push(["gen_ai.operation.name", rule.operation]);
  if (body !== null && body !== name && body !== record.name) added.push(["body", body]);
  added.push(...severityOf(record));
  return extended({ keys, values: attributes.values }, added);
}

/** session-span.3. */
function startOf(record: LogRecord): UnixNano {
  const given = valueOf(record, "duration_ms");
  const ms = typeof given === "number" || typeof given === "string" ? Number(given) : Number.NaN;
  if (!(ms > 0 && ms <= DURATION_MS_MAX) || ms / 1000 > record.time.sec) return record.time;
  const whole = Math.ceil(ms / 1000);
  return plusSeconds({ sec: record.time.sec - whole, nano: record.time.nano }, whole - ms / 1000);
}
