// Join table: the records that wait for their span, bounded by number and by bytes (rules: join-records.ts).
// The spans that records may still complete are in span-reach.ts.
import type { LogRecord } from "../otlp/log-record.ts";
import type { AttributeValue } from "../otlp/span.ts";
import type { SpanOrigin } from "../shared/span-origin.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import type { SeenRecords } from "./repeated-records.ts";

export interface JoinLimits {
  /** SPAN_TTL: the longest wait of a record, and the time that a span stays in reach of its records. */
  readonly spanTtlMs: number;
  /** The longest wait of a session's event, whose sender may have no spans. */
  readonly orphanTimeoutMs: number;
  readonly waitingBytesMax: number;
  readonly keptBytesMax: number;
  /** Spans with waiting records, and spans in reach. */
  readonly spansMax: number;
  /** Records of one span. */
  readonly recordsMax: number;
}

const MIB = 1024 * 1024;

export const JOIN_LIMITS: JoinLimits = {
  spanTtlMs: 300_000,
  orphanTimeoutMs: 10_000,
  waitingBytesMax: 16 * MIB,
  keptBytesMax: 8 * MIB,
  spansMax: 20_000,
  recordsMax: 4_096,
};

/** One record and its place in the spool; null in memory mode. */
export interface HeldRecord {
  readonly record: LogRecord;
  readonly origin: SpanOrigin | null;
  readonly print: string;
}

/** The records of one span that has not arrived. */
export interface WaitingRecords {
  readonly key: string;
  readonly context: RequestContext;
  readonly held: HeldRecord[];
  readonly seen: SeenRecords;
  readonly deadlineMs: number;
  bytes: number;
}

export interface JoinTable {
  readonly waiting: Map<string, WaitingRecords>;
  readonly countWaitingBytes: Map<string, number>;
  waitingBytes: number;
  waitingRecords: number;
}

export function createJoinTable(): JoinTable {
  return {
    waiting: new Map(),
    countWaitingBytes: new Map(),
    waitingBytes: 0,
    waitingRecords: 0,
  };
}

export function buildJoinKey(tenantId: string, traceId: string, spanId: string): string {
  return traceId + spanId + tenantId;
}

export function addWaiting(table: JoinTable, waiting: WaitingRecords, held: HeldRecord): void {
  const bytes = sizeOfRecord(held.record);
  waiting.held.push(held);
  waiting.bytes += bytes;
  table.waitingRecords++;
  hold(table, waiting.context.tenant.id, bytes);
}

export function removeWaiting(table: JoinTable, waiting: WaitingRecords): void {
  table.waiting.delete(waiting.key);
  table.waitingRecords -= waiting.held.length;
  hold(table, waiting.context.tenant.id, -waiting.bytes);
}

function hold(table: JoinTable, tenantId: string, bytes: number): void {
  table.waitingBytes += bytes;
  const left = (table.countWaitingBytes.get(tenantId) ?? 0) + bytes;
  if (left === 0) table.countWaitingBytes.delete(tenantId);
  else table.countWaitingBytes.set(tenantId, left);
}

/** Memory of a record besides its text. */
const RECORD_BYTES = 512;
const VALUE_BYTES = 32;
const BYTES_A_CHARACTER = 2;

export function sizeOfRecord({ body, attributes }: LogRecord): number {
  return RECORD_BYTES + sizeOfValue(body) + sizeOfValue(attributes);
}

function sizeOfValue(value: AttributeValue): number {
  if (typeof value === "string") return VALUE_BYTES + BYTES_A_CHARACTER * value.length;
  if (value instanceof Uint8Array) return VALUE_BYTES + value.length;
  if (typeof value !== "object" || value === null) return VALUE_BYTES;
  if (isList(value)) return sizeOfAll(value);
  return sizeOfAll(value.values) + sizeOfAll(value.keys);
}

function sizeOfAll(values: readonly AttributeValue[]): number {
  return values.reduce<number>((sum, value) => sum + sizeOfValue(value), VALUE_BYTES);
}

function isList(value: object): value is readonly AttributeValue[] {
  return Array.isArray(value);
}
