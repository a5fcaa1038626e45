// Rules of the split: its result and its parameters.
import type { Signal } from "../decoded.ts";

export interface Share {
  readonly worker: number;
  /** Owns its memory, so that another thread can take it. */
  readonly bytes: Buffer;
  /** Positions of its items in the request. */
  readonly indexes: Uint32Array<ArrayBuffer>;
}

export interface SplitRules {
  readonly signal: Signal;
  readonly workers: number;
  /** The worker of log records without a trace. */
  readonly tenantOwner: number;
}
