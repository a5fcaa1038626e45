// Span accounting: the outcome of every received span and log record.
// Invariants:
//   - received + added + records received = delivered + pending + rejected + filtered + duplicates + records rejected +
//     joined + not stored + dropped, at every moment between two turns of the event loop. Pending is the difference, so
//     a span or a record leaves it only when another counter includes it.
//   - Records that become part of a run count as joined, but for the one that a run of its own, or an amended run,
//     stands for: that one has the outcome of its run.
//   - Every dropped span has a reason, and every reason is a counter.

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

/** Log records. */
export interface RecordAccounting {
  /** Decoded records, including the rejected ones. */
  received: number;
  rejected: number;
  joined: number;
  /** Not about generative AI, about an unnamed span, or dropped with its span or trace. */
  notStored: number;
}

export interface SpanAccounting {
  /** Decoded spans, including those without ids. Spans of refused requests do not count. */
  received: number;
  /** Runs without a span: roots that the collector adds. */
  added: number;
  rejected: number;
  delivered: number;
  filtered: number;
  duplicates: number;
  readonly records: RecordAccounting;
  /** Written to the dead letters, for `collector replay`. */
  readonly deadLettered: Record<DropReason, number>;
  /** Not recoverable. */
  readonly lost: Record<DropReason, number>;
}

export function createSpanAccounting(): SpanAccounting {
  const none = (): Record<DropReason, number> =>
    Object.fromEntries(DROP_REASONS.map((reason) => [reason, 0])) as Record<DropReason, number>;
  return {
    received: 0,
    added: 0,
    rejected: 0,
    delivered: 0,
    filtered: 0,
    duplicates: 0,
    records: { received: 0, rejected: 0, joined: 0, notStored: 0 },
    deadLettered: none(),
    lost: none(),
  };
}

export function sumCounts(reasons: Readonly<Record<DropReason, number>>): number {
  return Object.values(reasons).reduce((sum, count) => sum + count, 0);
}

export function countPending(accounting: SpanAccounting): number {
  const { delivered, deadLettered, lost } = accounting;
  return countStored(accounting) - delivered - sumCounts(deadLettered) - sumCounts(lost);
}

/** Spans and records that are runs, or become runs, and added runs. */
export function countStored({ received, added, rejected, filtered, duplicates, records }: SpanAccounting): number {
  const recordRuns = records.received - records.rejected - records.joined - records.notStored;
  return received + added - rejected - filtered - duplicates + recordRuns;
}
