// Spool port: durable storage. A record is durable from the end of its append until its last mark.
import type { Decision } from "../assemble/assemble.ts";
import type { Body } from "../encode/batch-body.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { Signal } from "../otlp/decoded.ts";
import type { WireFormat } from "../otlp/status.ts";
import type { SpanOrigin, StoredRequest } from "../shared/span-origin.ts";
import type { ContentEncoding } from "../shared/content-encoding.ts";
import type { Tenant } from "../shared/tenants.ts";

/** A batch in the spool; some of its runs may have marks. */
export interface StoredBatch {
  readonly segment: number;
  readonly offset: number;
  readonly bytes: number;
  readonly tenant: Tenant;
  readonly createdMs: number;
  readonly runs: number;
  pending: number;
  /** One bit per run; null before the first mark. */
  done: Uint8Array | null;
}

export interface RequestRecord {
  readonly tenant: Tenant;
  readonly signal: Signal;
  readonly format: WireFormat;
  readonly encoding: ContentEncoding;
  readonly project: string;
  readonly receivedMs: number;
  /** Number of spans, or of log records. */
  readonly spans: number;
  readonly rejected: number;
  readonly wire: Buffer;
}

/** Places of runs, one line a run: trace id, span id, dotted order. */
export interface PlaceLines {
  readonly runs: number;
  readonly text: string;
}

export interface BatchRecord {
  readonly body: Body;
  readonly places: PlaceLines;
  readonly covers: readonly SpanOrigin[];
}

export interface Recovered {
  readonly requests: readonly StoredRequest[];
  readonly batches: readonly StoredBatch[];
  readonly decisions: Iterable<Decision>;
  /** Totals before the restart. The pending spans are in `requests` and `batches`. */
  readonly accounting: SpanAccounting;
  readonly badRecords: number;
}

export interface Spool {
  readonly recover: () => Promise<Recovered>;
  readonly appendRequest: (record: RequestRecord) => Promise<StoredRequest>;
  /** Marks the covered spans done. */
  readonly appendBatch: (record: BatchRecord) => Promise<StoredBatch>;
  readonly readRequest: (request: StoredRequest) => Promise<RequestRecord | null>;
  readonly readBatch: (batch: StoredBatch) => Promise<Body | null>;
  readonly requestDone: (request: StoredRequest, indexes: readonly number[]) => void;
  readonly batchDone: (batch: StoredBatch, first: number, runs: number) => void;
  readonly bytes: () => number;
  /** Bytes of records with pending parts, of one tenant or of all. */
  readonly liveBytes: (tenantId?: string) => number;
  /** null: writable. */
  readonly failure: () => string | null;
  /** Looks for segments that were deleted or replaced. */
  readonly checkSegments: () => Promise<void>;
  /**
   * Result of the last check. null: every segment with pending records is in its place. Otherwise the one that is not.
   */
  readonly missing: () => string | null;
  readonly close: () => Promise<void>;
}

export function isDone(stored: { readonly done: Uint8Array | null }, index: number): boolean {
  return stored.done !== null && ((stored.done[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}
