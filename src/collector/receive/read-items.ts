// Read items: the port between the receiver and the steps after it. A body is read first, so that its sender learns of
// every fault; its items go on only after the request is on disk (durable mode).
import type { Signal } from "../otlp/decoded.ts";
import type { WireFormat } from "../otlp/status.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import type { RequestContext } from "../shared/trace-run.ts";

/** Where a body comes from, and how to read it. */
export interface BodyOf {
  readonly format: WireFormat;
  readonly signal: Signal;
  readonly context: RequestContext;
}

/** The items of one body, ready to go on. Either feed() or discard() ends it, once. */
export interface ReadItems {
  readonly signal: Signal;
  /** Number of items that the spool counts and marks. */
  readonly items: number;
  readonly rejected: number;
  /** Reason of the first rejection; "" for none. */
  readonly reason: string;
  /** Texts with invalid UTF-8, now with replacement characters. */
  readonly repairedTexts: number;
  /** Log records of which none is stored. */
  readonly isNothingStored: boolean;
  /**
   * Resolves when all spans are in their trees, all log records in the join. Small requests finish before it returns.
   * `request` is null in memory mode.
   */
  readonly feed: (request: StoredRequest | null) => void | Promise<void>;
  readonly discard: () => void;
}

/** The worker thread of an item ended: the request may be read again. */
export class WorkerCrashedError extends Error {
  constructor(worker: number) {
    super(`worker ${worker} crashed`);
    this.name = "WorkerCrashedError";
  }
}

/** The body may be reused when this returns or resolves. @throws {DecodeError} */
export type ReadItemsOf = (body: Buffer, of: BodyOf) => ReadItems | Promise<ReadItems>;
