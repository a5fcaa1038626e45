// Store item: an entry of the long-term memory.
import type { JsonObject } from "@holdpoint/base/json/json.ts";

/** Entry of the long-term memory: a JSON object under a namespace and key. */
export interface StoreItem {
  /** At least one label, outermost first. */
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonObject;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Milliseconds between the last write, or the last refreshing read, and the expiry; null disables expiry. */
  readonly ttlMs: number | null;
  readonly expiresAt: number | null;
}

/** Embedding of one text of an item, for semantic search. */
export interface StoreVector {
  /** Path of the text in the item. */
  readonly field: string;
  readonly vector: Float32Array;
}
