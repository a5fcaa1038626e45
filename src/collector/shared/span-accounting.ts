// Books: where every span that came in has gone.
// Invariants:
//   BK1. received = delivered + pending + rejected + filtered + duplicates + dropped, at every moment between two turns of
//        the event loop. Pending is what is left over, so a span can leave the equation only by being booked.
//   BK2. Nothing is dropped without a reason, and every reason is a counter.

export const DROP_REASONS = [
  "refused_by_backend",
  "too_large",
  "too_old",
  "shut_down",
  "unreadable",
  "untranslatable",
  "misplaced",
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

export interface SpanAccounting {
  /** Spans that could be read, and those without ids. Spans of refused requests are not received. */
  received: number;
  rejected: number;
  delivered: number;
  filtered: number;
  duplicates: number;
  /** Written to the dead letters: still there to be sent again. */
  readonly deadLettered: Record<DropReason, number>;
  /** Gone. */
  readonly lost: Record<DropReason, number>;
}

export function createSpanAccounting(): SpanAccounting {
  const none = (): Record<DropReason, number> => ({
    refused_by_backend: 0,
    too_large: 0,
    too_old: 0,
    shut_down: 0,
    unreadable: 0,
    untranslatable: 0,
    misplaced: 0,
  });
  return { received: 0, rejected: 0, delivered: 0, filtered: 0, duplicates: 0, deadLettered: none(), lost: none() };
}

export function sumOf(reasons: Readonly<Record<DropReason, number>>): number {
  return Object.values(reasons).reduce((sum, count) => sum + count, 0);
}

export function pendingOf(accounting: SpanAccounting): number {
  const { received, rejected, delivered, filtered, duplicates, deadLettered, lost } = accounting;
  return received - rejected - delivered - filtered - duplicates - sumOf(deadLettered) - sumOf(lost); // BK1
}
