// Open share: a share of a request as the receiving thread remembers it, until its worker has handed over every item.
import type { Signal } from "../otlp/decoded.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import { isDone } from "../spool/port.ts";
import type { ShareRead } from "./messages.ts";

export interface OpenShare {
  readonly id: number;
  readonly signal: Signal;
  readonly tenantId: string;
  /** Bytes in memory until the worker has fed it. */
  readonly bytes: number;
  /** Positions of its items in the request, as the split numbers them; empty: it is the whole request. */
  readonly indexes: Uint32Array<ArrayBuffer>;
  state: "queued" | "sent" | "read" | "feeding" | "fed" | "crashed";
  /** Resolves or rejects the wait for the current step: the read, then the feed. */
  readonly reading: PromiseWithResolvers<ShareRead>;
  readonly feeding: PromiseWithResolvers<void>;
  /** null before the feed, and in memory mode. */
  stored: StoredRequest | null;
  /** Positions as the spool counts them, without rejected items. */
  positions: Uint32Array<ArrayBuffer>;
  /** Positions that the worker has handed over: their marks follow. */
  readonly handed: Set<number>;
  /** Rises with each crash while the share is open (worker-link.2). */
  blame: number;
}

export function newShare(
  id: number,
  of: Pick<OpenShare, "signal" | "tenantId" | "bytes" | "indexes">,
  earlier: OpenShare | null,
): OpenShare {
  return {
    id,
    ...of,
    state: "queued",
    reading: Promise.withResolvers(),
    feeding: Promise.withResolvers(),
    stored: earlier?.stored ?? null,
    positions: earlier?.positions ?? NO_POSITIONS,
    handed: earlier?.handed ?? new Set(),
    blame: earlier?.blame ?? 0,
  };
}

const NO_POSITIONS = new Uint32Array(0);

/** The items of a stored share that are neither done nor handed over. */
export function pendingIn({ handed, positions, stored }: OpenShare): number[] {
  if (stored === null) return [];
  return [...positions].filter((position) => !handed.has(position) && !isDone(stored, position));
}

/** Bits of the items that the worker must not feed; null for none. */
export function doneBits({ handed, stored }: OpenShare): Uint8Array | null {
  if (stored === null || (handed.size === 0 && stored.done === null)) return null;
  const bits = new Uint8Array((stored.spans + 7) >> 3);
  if (stored.done !== null) bits.set(stored.done);
  for (const position of handed) bits[position >> 3] = (bits[position >> 3] ?? 0) | (1 << (position & 7));
  return bits;
}

/**
 * Positions as the spool counts them: without the rejected items of all shares. `own` are the places of the rejected
 * items in this share.
 */
export function positionsOf(
  indexes: Uint32Array<ArrayBuffer>,
  read: ShareRead,
  rejectedAt: readonly number[],
): Uint32Array<ArrayBuffer> {
  if (indexes.length === 0) return Uint32Array.from({ length: read.items }, (_, at) => at);
  if (rejectedAt.length === 0) return indexes;
  const own = new Set(read.rejectedAt);
  const kept = indexes.filter((_, at) => !own.has(at));
  return kept.map((position) => position - rejectedAt.filter((one) => one < position).length);
}
