// Dotted order: the backend's sort key of a run in its trace, and the ids in it. Pure functions for assembly.
// `20240919T171648521691Z0e01bf50-474d-4536-810f-67d3ee7ea3e7` is one segment: start in microseconds, then the run id;
// a run's key is its ancestors' segments and its own, joined by ".".
// Invariants (the backend refuses a whole batch for one run that breaks one of them):
//   dotted-order.1. The last segment's id is the run's id.
//   dotted-order.2. The first segment's id is the trace's id.
//   dotted-order.3. A run without parent has exactly one segment, hence its id is the trace's id.
//   dotted-order.4. A run with a parent has at least two segments.
//   dotted-order.5. The last segment but one has the parent's id.
import type { UnixNano } from "../otlp/span.ts";
import { formatClock } from "../shared/rfc3339.ts";
import type { TraceRun } from "../shared/trace-run.ts";

/** Length of `20240919T171648521691Z`. The rest of a segment is the id. */
export const SEGMENT_TIME_CHARS = 22;

const SEGMENT = /^\d{8}T\d{12}Z[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** 32 hex digits → UUID text. */
export function uuidOfTrace(traceId: string): string {
  return `${traceId.slice(0, 8)}-${traceId.slice(8, 12)}-${traceId.slice(12, 16)}-${traceId.slice(16, 20)}-${traceId.slice(20)}`;
}

/** 16 hex digits → UUID text, padded with zeros on the left, like other collectors of this backend. */
export function uuidOfSpan(spanId: string): string {
  return `00000000-0000-0000-${spanId.slice(0, 4)}-${spanId.slice(4)}`;
}

let secondAt = -1;
let secondText = "";

/** Start time in the form of a segment. Truncates to six digits of microseconds, because the keys sort as text. */
export function segmentTime(time: UnixNano): string {
  if (time.sec !== secondAt) {
    secondAt = time.sec; // spans of one request mostly share a second
    const { date, time: clock } = formatClock(time.sec);
    secondText = `${date.replaceAll("-", "")}T${clock.replaceAll(":", "")}`;
  }
  return `${secondText}${String(1_000_000 + Math.floor(time.nano / 1000)).slice(1)}Z`;
}

export function idOfSegment(segment: string): string {
  return segment.slice(SEGMENT_TIME_CHARS);
}

/** `null` when `text` is not a dotted order or has more than `segmentsMax` segments. */
export function readDottedOrder(text: string, segmentsMax: number): readonly string[] | null {
  const segmentChars = SEGMENT_TIME_CHARS + 37;
  if (text.length === 0 || text.length > segmentsMax * segmentChars) return null;
  const segments = text.split(".");
  return segments.every((segment) => SEGMENT.test(segment)) ? segments : null;
}

/** Length of one segment, and of one with the dot before the next. */
const SEGMENT_CHARS = SEGMENT_TIME_CHARS + 36;
const STEP = SEGMENT_CHARS + 1;

/** @returns the first rule that the place of a run breaks, `malformed` if its order cannot be read; null without a fault */
export function dottedOrderFault(
  run: Pick<TraceRun, "id" | "traceId" | "parentRunId" | "dottedOrder">,
): "dotted-order.1" | "dotted-order.2" | "dotted-order.3" | "dotted-order.4" | "dotted-order.5" | "malformed" | null {
  const { dottedOrder: order, id, traceId, parentRunId } = run;
  const last = order.length - SEGMENT_CHARS;
  if (last < 0 || last % STEP !== 0 || id.length !== 36 || traceId.length !== 36) return "malformed";
  if (!order.startsWith(id, last + SEGMENT_TIME_CHARS)) return "dotted-order.1";
  if (!order.startsWith(traceId, SEGMENT_TIME_CHARS)) return "dotted-order.2";
  if (parentRunId === "") return last === 0 ? null : "dotted-order.3";
  if (last === 0) return "dotted-order.4";
  return order.startsWith(parentRunId, last - STEP + SEGMENT_TIME_CHARS) && parentRunId.length === 36
    ? null
    : "dotted-order.5";
}
