// Span times: start and end of a span, also where it has one of them or neither.
import type { Span, UnixNano } from "../otlp/span.ts";
import { isNoTime, unixNanoOfMs } from "../shared/rfc3339.ts";
import type { RequestContext } from "../shared/trace-run.ts";

export interface Times {
  readonly start: UnixNano;
  readonly end: UnixNano;
  readonly fromArrival: boolean;
}

/**
 * A missing end is the start and the other way round; with neither, the first event's time or the request's arrival.
 */
export function chooseTimes(span: Span, context: RequestContext): Times {
  const { start, end } = span;
  if (!isNoTime(start)) return { start, end: isNoTime(end) ? start : end, fromArrival: false };
  if (!isNoTime(end)) return { start: end, end, fromArrival: false };
  const event = span.events.find(({ time }) => !isNoTime(time));
  const time = event?.time ?? unixNanoOfMs(context.receivedMs);
  return { start: time, end: time, fromArrival: event === undefined };
}

/** Below 0 when the sender's clock was set back. */
export function readSeconds({ start, end }: Times): number {
  return end.sec - start.sec + (end.nano - start.nano) / 1e9;
}
