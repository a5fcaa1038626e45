// Decoded: what both readers (protobuf, JSON) return, and how they refuse.
// Invariants:
//   decoded.1. A span without usable ids is counted in `rejected`; its neighbours stay.
//   decoded.2. Bytes that cannot be read at all, and logs or metrics, throw a DecodeError: nothing of the request is
//        taken.
//   decoded.3. What a body can become in memory is bounded by its length: lists are cut at fixed counts (the rest is
//        counted as dropped), and nested values beyond `valuesMax(bytes)` refuse the request.
import type { Span } from "./span.ts";

export interface Decoded {
  readonly spans: Span[];
  readonly rejected: number;
  /** Why, for the first one rejected; "" for none. */
  readonly reason: string;
  /** Texts whose bytes were no UTF-8 and now hold replacement characters. */
  readonly mendedTexts: number;
}

/** The caller's fault: becomes 400 with this message. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DecodeError";
  }
}

export const LOGS_HINT = "these look like log records: this address takes traces only";
export const METRICS_HINT = "these look like metrics: this address takes traces only";

export const ATTRIBUTES_MAX = 16_384;
export const EVENTS_MAX = 4_096;
export const LINKS_MAX = 4_096;
export const DEPTH_MAX = 128;

/** The shortest honest attribute in JSON holds two containers in 37 bytes, in protobuf one value in about 10. */
export function valuesMax(bytes: number): number {
  return 100_000 + Math.floor(bytes / 10);
}

export function isZeroId(hex: string): boolean {
  return /^0*$/.test(hex);
}
