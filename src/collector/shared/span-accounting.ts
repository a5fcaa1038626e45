// Span accounting: the outcome of every received span.
// Invariants:
//   span-accounting.1. received = delivered + pending + rejected + filtered + duplicates + dropped, at every moment
//        between two turns of the event loop. Pending is the difference, so a span leaves it only when another counter
//        includes it.
//   span-accounting.2. Every dropped span has a reason, and every reason is a counter.

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
  /** Decoded spans, including those without ids. Spans of refused requests do not count. */
  received: number;
  rejected: number;
  delivered: number;
  filtered: number;
  duplicates: number;
  /** Written to the dead letters, for `collector replay`. */
  readonly deadLettered: Record<DropReason, number>;
  /** Not recoverable. */
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
  return received - rejected - delivered - filtered - duplicates - sumOf(deadLettered) - sumOf(lost); // span-accounting.1
}
