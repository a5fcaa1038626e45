// Emit records: log records as spans of their own, for runs without a span that they could join.
import type { LogRecord } from "../otlp/log-record.ts";
import type { Span } from "../otlp/span.ts";
import { NO_ORIGINS, type SpanOrigin } from "../shared/span-origin.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import type { HeldRecord } from "./join-table.ts";
import { spanOfRecords } from "./record-event.ts";
import { classifyRecord, type RecordKind } from "./record-kinds.ts";
import { spanOfSession } from "./session-span.ts";

/** An amended span, or records as a span of their own. */
export interface JoinedSpan {
  readonly span: Span;
  readonly context: RequestContext;
  readonly origins: readonly SpanOrigin[];
  readonly records: number;
  /** Fingerprints of the records in durable mode, for the tree log (past-records.ts). */
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
