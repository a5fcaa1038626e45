// Decoded: the result and the errors of both readers (protobuf, JSON). Invariants:
//   decoded.1. A span without usable ids counts as `rejected`; the others stay.
//   decoded.2. Unreadable bytes, logs and metrics throw a DecodeError: the whole request is refused.
//   decoded.3. The length of a body bounds its memory: lists have fixed maxima (the rest counts as dropped), and more
//        nested values than `valuesMax(bytes)` refuse the request.
import type { Span } from "./span.ts";

export interface Decoded {
  readonly spans: Span[];
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

export const LOGS_HINT = "these look like log records: this endpoint accepts only traces";
export const METRICS_HINT = "these look like metrics: this endpoint accepts only traces";

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
