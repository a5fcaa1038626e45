// Emit records: log records as spans of their own, for runs without a span that they could join.
// Invariants:
//   - Events of one prompt share a trace; without a prompt id, those of one session. None names a parent: the first to
//     arrive becomes the root, the others its children.
//   - A record that names a span becomes a child of it.
//   - An event is written at its end: its duration lies before it.
import type { LogRecord } from "../otlp/log-record.ts";
import type { Attributes, Span, UnixNano } from "../otlp/span.ts";
import { NO_ORIGINS, type SpanOrigin } from "../shared/span-origin.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import type { HeldRecord } from "./join-table.ts";
import { extended, fingerprintRecord, hashParts, spanFor, spanOfRecords } from "./record-event.ts";
import {
  type RecordKind,
  classifyRecord,
  findFullName,
  findSession,
  findValue,
  readRecordText,
} from "./record-kinds.ts";
import { plusSeconds } from "../shared/rfc3339.ts";
import { findFailure } from "./failed-record.ts";
import { type AddedAttribute, listSeverity } from "./record-origin.ts";
import { type SessionRule, findRule } from "./session-rules.ts";

/** An amended span, or records as a span of their own. */
export interface JoinedSpan {
  readonly span: Span;
  readonly context: RequestContext;
  readonly origins: readonly SpanOrigin[];
  readonly records: number;
  /** Fingerprints of the records in durable mode, for the tree log (join-records.ts). */
  readonly prints: readonly string[];
}

/** Trace id of the run that the record becomes when it joins no span; "" if it becomes none. */
export function traceIdOfRecord(record: LogRecord, tenantId: string): string {
  if (record.traceId !== "") return record.traceId;
  const kind = classifyRecord(record);
  if (kind === "session") return spanOfSession(record, tenantId).traceId;
  return kind === "operation" ? spanOfRecords([record], tenantId).traceId : "";
}

type EmitJoined = (joined: JoinedSpan) => void;

/** The events of a session each become a child of their span, the others one child together. */
export function emitChild(emit: EmitJoined, all: readonly HeldRecord[], context: RequestContext): void {
  const rest: HeldRecord[] = [];
  for (const held of all) {
    if (classifyRecord(held.record) === "session") emitAlone(emit, "session", [held], context);
    else rest.push(held);
  }
  if (rest.length > 0) emitAlone(emit, "event", rest, context);
}

export function emitAlone(
  emit: EmitJoined,
  kind: RecordKind,
  all: readonly HeldRecord[],
  context: RequestContext,
): void {
  const [first, ...others] = all.map(({ record }) => record);
  if (first === undefined) return;
  const tenantId = context.tenant.id;
  const span = kind === "session" ? spanOfSession(first, tenantId) : spanOfRecords([first, ...others], tenantId);
  emit({ span, context, origins: listOrigins(all), records: all.length, prints: listPrints(all, CHILD) });
}

/** Records of the span's own run, and of a child of it. */
export const JOINED = "#";
export const CHILD = "~";

/** Where the tree log has the place of a run. */
export function isRecordMark(text: string): boolean {
  return text.startsWith(JOINED) || text.startsWith(CHILD);
}

/** Without origins nothing outlives the process. */
export function listPrints(all: readonly HeldRecord[], mark: typeof JOINED | typeof CHILD): readonly string[] {
  return all.flatMap(({ origin, print, record }) => (origin === null ? [] : [`${record.spanId} ${mark}${print}`]));
}

export function listOrigins(all: readonly HeldRecord[]): readonly SpanOrigin[] {
  const origins = all.flatMap(({ origin }) => (origin === null ? [] : [origin]));
  return origins.length === 0 ? NO_ORIGINS : origins;
}

// An event of a coding agent as a span of its own.

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
