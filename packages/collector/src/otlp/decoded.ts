// Decoded: the result and the errors of both readers (protobuf, JSON). Invariants:
//   - An item that is malformed, and a span without usable ids, count as `rejected`; the others stay. What should hold
//     items and is malformed counts as one, and each item under a malformed resource or scope by itself.
//   - Unreadable bytes, and another signal than that of the path, throw a DecodeError: the whole request is refused.
//   - The length of a body bounds its memory: lists have fixed maxima (the rest counts as dropped), and more nested
//     values than `valuesMax(bytes)` refuse the request.
import type { LogRecord } from "./log-record.ts";
import type { Span } from "./span.ts";

/** The signals that the collector decodes. */
export type Signal = "traces" | "logs";

/** The items of one request: spans or log records, never both. */
export interface Decoded {
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
  readonly rejected: number;
  /** Reason of the first rejection; "" for none. */
  readonly reason: string;
  /** Texts with invalid UTF-8, now with replacement characters. */
  readonly repairedTexts: number;
}

/** The caller's fault: becomes 400 with this message. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DecodeError";
  }
}

/** One item is malformed, for this reason: it counts as rejected. */
export class MalformedItem extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MalformedItem";
  }
}

export const NO_SPANS: readonly Span[] = Object.freeze([]);
export const NO_RECORDS: readonly LogRecord[] = Object.freeze([]);

/** Number of items that the spool counts and marks. */
export function countItems({ spans, records }: Decoded): number {
  return spans.length + records.length;
}

export const SPANS_HINT = "these look like spans: send them to /v1/traces";
export const LOGS_HINT = "these look like log records: send them to /v1/logs";
export const METRICS_HINT = "these look like metrics: send them to /v1/metrics";

export const ATTRIBUTES_MAX = 16_384;
export const EVENTS_MAX = 4_096;
export const LINKS_MAX = 4_096;
export const DEPTH_MAX = 128;

/** The shortest legitimate attribute in JSON holds two containers in 37 bytes, in protobuf one value in about 10. */
export function valuesMax(bytes: number): number {
  return 100_000 + Math.floor(bytes / 10);
}

export function isZeroId(hex: string): boolean {
  return /^0*$/.test(hex);
}
