// Span reach: the spans that have arrived, and that later records may still complete.
// Invariants:
//   span-reach.1. Bounded by time (`spanTtlMs`), by bytes and by number. At a bound, spans with content leave before model
//        calls without content, whose content may still come as a record. A quarter of the bounds remains for spans with
//        content: an evaluation of them may come.
//   span-reach.2. A span with fresh records stays until they have joined it.
import type { Span, SpanEvent } from "../otlp/span.ts";
import type { RequestContext, RunContent } from "../shared/trace-run.ts";
import type { HeldRecord, JoinLimits } from "./join-table.ts";
import type { SeenRecords } from "./repeated-records.ts";

export interface ReachableSpan {
  readonly key: string;
  /** As received. */
  readonly span: Span;
  readonly context: RequestContext;
  /** A model call without content, which no record has joined. */
  isBare: boolean;
  /** The records that have joined it, before and after its arrival. */
  joined: readonly SpanEvent[];
  /** Records of the current slice, which join together. */
  readonly fresh: HeldRecord[];
  readonly seen: SeenRecords;
  readonly sinceMs: number;
  bytes: number;
}

export interface SpanReach {
  readonly find: (key: string) => ReachableSpan | undefined;
  /** The newest one from now on. Replaces the span with its key. */
  readonly add: (span: ReachableSpan) => void;
  readonly remove: (span: ReachableSpan) => void;
  /** Removes the spans that are over a bound. */
  readonly trim: (nowMs: number) => void;
  /** Spans with joined records. */
  readonly joinedSpans: () => number;
}

/** Oldest first. */
interface Pool {
  readonly spans: Map<string, ReachableSpan>;
  bytes: number;
}

const SHARE_WITH_CONTENT = 1 / 4;

type ReachLimits = Pick<JoinLimits, "keptBytesMax" | "spansMax" | "spanTtlMs">;

/**
 * A record with the content of this span can be expected: a call of a model, a tool or an agent that lacks its inputs
 * or its outputs.
 */
export function isBareCall({ inputs, outputs, runType, extra }: RunContent): boolean {
  if (outputs !== "" && inputs !== "{}") return false;
  return runType === "llm" || runType === "tool" || (runType === "chain" && AGENT.test(extra));
}

const AGENT = /"operation":"(?:invoke_agent|invoke_workflow)"/;

export function createSpanReach(limits: ReachLimits): SpanReach {
  const bare: Pool = { spans: new Map(), bytes: 0 };
  const complete: Pool = { spans: new Map(), bytes: 0 };
  let joinedSpans = 0;

  const find = (key: string): ReachableSpan | undefined => bare.spans.get(key) ?? complete.spans.get(key);

  function remove(span: ReachableSpan): void {
    const pool = bare.spans.get(span.key) === span ? bare : complete;
    if (!pool.spans.delete(span.key)) return;
    pool.bytes -= span.bytes;
    if (span.joined.length > 0) joinedSpans--;
  }

  return {
    find,
    remove,
    add(span) {
      const before = find(span.key);
      if (before !== undefined) remove(before);
      const pool = span.isBare ? bare : complete;
      pool.spans.set(span.key, span);
      pool.bytes += span.bytes;
      if (span.joined.length > 0) joinedSpans++;
    },
    trim(nowMs) {
      for (const pool of [complete, bare]) while (isExpired(pool, nowMs - limits.spanTtlMs)) removeOldest(pool, remove);
      while (isOver(limits, [bare, complete], 1)) {
        const isTooMany = isOver(limits, [complete], SHARE_WITH_CONTENT) || bare.spans.size === 0;
        if (!removeOldest(isTooMany ? complete : bare, remove)) break;
      }
    },
    joinedSpans: () => joinedSpans,
  };
}

function isOver({ keptBytesMax, spansMax }: ReachLimits, pools: readonly Pool[], share: number): boolean {
  let bytes = 0;
  let spans = 0;
  for (const pool of pools) {
    bytes += pool.bytes;
    spans += pool.spans.size;
  }
  return bytes > keptBytesMax * share || spans > spansMax * share;
}

function findOldest({ spans }: Pool): ReachableSpan | undefined {
  return spans.values().next().value;
}

function isExpired(pool: Pool, sinceMs: number): boolean {
  const oldest = findOldest(pool);
  return oldest !== undefined && oldest.fresh.length === 0 && oldest.sinceMs <= sinceMs;
}

function removeOldest(pool: Pool, remove: SpanReach["remove"]): boolean {
  const oldest = findOldest(pool);
  if (oldest === undefined || oldest.fresh.length > 0) return false; // span-reach.2
  remove(oldest);
  return true;
}
