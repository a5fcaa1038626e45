// Span origin: the position of a span, or of a log record, in a spooled request. The origin travels with the span
// through translation, assembly and batching; its mark is set when the span's run is safe elsewhere.
import type { Tenant } from "./tenants.ts";

/** A request in the spool. Some of its spans may be done; of a request of logs, its records. */
export interface StoredRequest {
  readonly segment: number;
  readonly offset: number;
  readonly bytes: number;
  readonly tenant: Tenant;
  readonly spans: number;
  /** Number of spans without a mark. */
  pending: number;
  /** One bit per span; null before the first mark. */
  done: Uint8Array | null;
  /** Request of an earlier process: its items are no repeats of themselves. */
  isReplay?: true;
}

export interface SpanOrigin {
  readonly request: StoredRequest;
  readonly index: number;
}

export const NO_ORIGINS: readonly SpanOrigin[] = Object.freeze([]);
