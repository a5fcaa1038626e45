// The storage's part in the change of encryption keys.
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

/** A place in the order of all rows: a table, and the key of the last row. */
export interface RowCursor {
  readonly table: string;
  readonly after: readonly (string | number)[] | null;
}

export interface ResealedPage {
  /** Null at the end. */
  readonly next: RowCursor | null;
  /** Rows that were rewritten. */
  readonly rows: number;
  /** Keys of values that are not sealed with the newest one and could not be rewritten. */
  readonly left: readonly string[];
}

/** Encryption at rest, as the rewrite of stored values uses it. */
export interface SealingTx {
  /** Ids of the keys that stored values may need, and whether all are known to have the newest. */
  sealingState(): Awaitable<{
    /** Keys of the process, newest first; empty without encryption. */
    readonly given: readonly string[];
    readonly inUse: readonly string[];
    readonly isComplete: boolean;
    /** Where the last rewrite stopped. */
    readonly place: RowCursor | null;
  }>;
  /** Seals the values of the next rows with the newest key. @param place null at the start */
  resealPage(place: RowCursor | null, rows: number): Awaitable<ResealedPage>;
  /** All values have the newest key, but for those that need one of `left`. */
  resealed(left: readonly string[]): Awaitable<void>;
}
