// Feed items: puts the spans or log records of one request into the trace trees, in time slices. Spans take the records
// along that wait for them; records go to the join.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { DroppedSpans } from "../logs/dropped-spans.ts";
import type { RecordJoin } from "../logs/join-records.ts";
import { classifyRecord } from "../logs/record-kinds.ts";
import type { Decoded } from "../otlp/decoded.ts";
import type { LogRecord } from "../otlp/log-record.ts";
import type { Span } from "../otlp/span.ts";
import type { TraceSampler } from "../sample/trace-sampler.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import { isDone, type Spool } from "../spool/port.ts";
import { createItemOffer } from "./offer-items.ts";
import { DROPPED, type PlaceSpan } from "./place-span.ts";

export interface FeedPorts {
  /** null: every trace is kept. */
  readonly sampler: Pick<TraceSampler, "offer" | "note"> | null;
  readonly clock: Clock;
  readonly accounting: SpanAccounting;
  /** Starts of the requests that are fed in slices, oldest first. */
  readonly feeds: Set<FeedStart>;
  readonly place: PlaceSpan;
  readonly dropped: DroppedSpans;
  readonly join: Pick<RecordJoin, "add" | "isExpected" | "keep" | "settle" | "take">;
  /** null in memory mode. */
  readonly marks: Pick<Spool, "requestDone"> | null;
}

/** Spans or log records, never both. */
export type Items = Pick<Decoded, "spans" | "records">;

/** The items of one request. */
export interface ItemSource {
  readonly items: Items;
  readonly context: RequestContext;
  /** null in memory mode. */
  readonly request: StoredRequest | null;
}

/** Monotonic ms. */
export interface FeedStart {
  readonly startMs: number;
}

/** Resolves after the last item. Small requests finish before it returns. */
export type FeedItems = (source: ItemSource) => void | Promise<void>;

const SPANS_A_TURN = 128;
const TURN_MS_MAX = 10;
const NO_ORIGIN = null;

export function createItemFeed({
  accounting,
  clock,
  dropped,
  feeds,
  join,
  marks,
  place,
  sampler,
}: FeedPorts): FeedItems {
  const countDuplicate = (index: number, request: StoredRequest | null): void => {
    accounting.duplicates++;
    if (request !== null) marks?.requestDone(request, [index]);
  };
  const passSpan = createSpanPass({ countDuplicate, dropped, join, place });
  const { note, offer } = createItemOffer({ accounting, marks, sampler });

  function feedSpan(span: Span, index: number, source: ItemSource): void {
    if (sampler === null) return passSpan(span, index, source);
    offer(span, index, source, () => passSpan(span, index, source));
  }

  function feedRecord(record: LogRecord, index: number, source: ItemSource): void {
    const { context, request } = source;
    const origin = request === null ? NO_ORIGIN : { request, index };
    offer(record, index, source, () => {
      if (dropped.has(context.tenant.id, record)) return countNotStored([index], request, { accounting, marks });
      if (join.add(record, context, origin) === "repeated") countRepeated(index, request, { accounting, marks });
      if (sampler !== null) join.settle(); // it may come later than its request
    });
  }

  /** Feeds one slice and returns the index of the next span. */
  function feedSpans(source: ItemSource, from: number): number {
    const { items, request } = source;
    const { spans } = items;
    const started = clock.monotonic();
    let at = from;
    for (; at < spans.length; at++) {
      if (at - from >= SPANS_A_TURN && at % 16 === 0 && clock.monotonic() - started >= TURN_MS_MAX) break; // pipeline.6
      const span = spans[at];
      if (span === undefined) continue;
      if (request !== null && isDone(request, at)) note(span, source.context);
      else feedSpan(span, at, source);
    }
    return at;
  }

  function feedRecords(source: ItemSource, from: number): number {
    const { items, request } = source;
    const { records } = items;
    const started = clock.monotonic();
    const notStored: number[] = [];
    let at = from;
    for (; at < records.length; at++) {
      if (at - from >= SPANS_A_TURN && at % 16 === 0 && clock.monotonic() - started >= TURN_MS_MAX) break; // pipeline.6
      const record = records[at];
      if (record === undefined) continue;
      const isOther = classifyRecord(record) === "other";
      if (request !== null && isDone(request, at)) {
        if (!isOther) note(record, source.context);
      } else if (isOther) notStored.push(at);
      else feedRecord(record, at, source);
    }
    countNotStored(notStored, request, { accounting, marks });
    join.settle();
    return at;
  }

  function feedSlice(source: ItemSource, from: number): number {
    return source.items.records.length > 0 ? feedRecords(source, from) : feedSpans(source, from);
  }

  return (source) => {
    const total = source.items.spans.length + source.items.records.length;
    return inSlices({ clock, feeds }, total, (from) => feedSlice(source, from));
  };
}

type PassSpan = (span: Span, index: number, source: ItemSource) => void;

/** The span takes the records along that wait for it, and stays in reach of later ones. */
function createSpanPass({
  countDuplicate,
  dropped,
  join,
  place,
}: Pick<FeedPorts, "dropped" | "join" | "place"> & {
  readonly countDuplicate: (index: number, request: StoredRequest | null) => void;
}): PassSpan {
  return (span, index, { context, request }) => {
    const claimed = join.take(span, context.tenant.id, request?.isReplay === true);
    if (claimed === "repeated") return countDuplicate(index, request);
    const whole = claimed === null ? span : { ...span, events: [...span.events, ...claimed.events] };
    const content = place(whole, context, request === null ? NO_ORIGIN : { request, index }, claimed);
    if (content === DROPPED) return dropped.add(context.tenant.id, span);
    if (content === null) return;
    if (claimed !== null || join.isExpected(context, content)) join.keep({ span, context, content, claimed });
  };
}

/** The record that it repeats has a mark of its own: this one need not wait for the run. */
function countRepeated(
  index: number,
  request: StoredRequest | null,
  { accounting, marks }: Pick<FeedPorts, "accounting" | "marks">,
): void {
  accounting.records.joined++;
  if (request !== null) marks?.requestDone(request, [index]);
}

function countNotStored(
  indexes: readonly number[],
  request: StoredRequest | null,
  { accounting, marks }: Pick<FeedPorts, "accounting" | "marks">,
): void {
  accounting.records.notStored += indexes.length;
  if (request !== null && indexes.length > 0) marks?.requestDone(request, indexes);
}

/** `feedSlice` returns the index of the next item. */
function inSlices(
  { clock, feeds }: Pick<FeedPorts, "clock" | "feeds">,
  total: number,
  feedSlice: (from: number) => number,
): void | Promise<void> {
  const start: FeedStart = { startMs: clock.monotonic() };
  const next = feedSlice(0);
  if (next === total) return;
  feeds.add(start);
  return feedRest(next).finally(() => feeds.delete(start));

  async function feedRest(from: number): Promise<void> {
    for (let at = from; at < total;) {
      await nextTurn();
      at = feedSlice(at);
    }
  }
}
