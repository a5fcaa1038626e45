// Feed spans: translates the spans of one request and adds them to the assembler, in time slices.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log/log.ts";
import type { Assembler } from "../assemble/assemble.ts";
import type { Span } from "../otlp/span.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import { isDone, type Spool } from "../spool/port.ts";
import type { Translate } from "../translate/translate.ts";

export interface FeedPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly translate: Translate;
  readonly accounting: SpanAccounting;
  readonly assembler: Pick<Assembler, "add">;
  /** null in memory mode. */
  readonly spool: Pick<Spool, "requestDone"> | null;
}

/** The spans of one request. */
export interface SpanSource {
  readonly spans: readonly Span[];
  readonly context: RequestContext;
  /** null in memory mode. */
  readonly request: StoredRequest | null;
}

/** Resolves after the last span. Small requests finish before it returns. */
export type FeedSpans = (source: SpanSource) => void | Promise<void>;

const SPANS_A_TURN = 128;
const TURN_MS_MAX = 10;

export function createSpanFeed({ accounting, assembler, clock, log, spool, translate }: FeedPorts): FeedSpans {
  function feedOne(span: Span, index: number, { context, request }: SpanSource): void {
    const run = translate(span, context);
    if (request !== null) run.origins = [{ request, index }];
    const arrival = assembler.add(run);
    if (arrival === "duplicate" || arrival === "merged") accounting.duplicates++;
    else if (arrival === "filtered") accounting.filtered++;
    if (request !== null && (arrival === "duplicate" || arrival === "filtered")) spool?.requestDone(request, [index]); // pipeline.3
  }

  /** pipeline.4: a defect in one span costs that span only, now and after every restart. */
  function drop(error: unknown, request: StoredRequest | null, index: number): void {
    accounting.lost.untranslatable++;
    if (request !== null) spool?.requestDone(request, [index]);
    log.error("span_lost", { reason: error instanceof Error ? (error.stack ?? error.message) : "unknown" });
  }

  /** Feeds one slice and returns the index of the next span. */
  function feedSlice(source: SpanSource, from: number): number {
    const { spans, request } = source;
    const started = clock.monotonic();
    let at = from;
    for (; at < spans.length; at++) {
      if (at - from >= SPANS_A_TURN && at % 16 === 0 && clock.monotonic() - started >= TURN_MS_MAX) break; // pipeline.6
      const span = spans[at];
      if (span === undefined || (request !== null && isDone(request, at))) continue;
      try {
        feedOne(span, at, source);
      } catch (error) {
        drop(error, request, at);
      }
    }
    return at;
  }

  async function feedRest(source: SpanSource, from: number): Promise<void> {
    for (let at = from; at < source.spans.length;) {
      await nextTurn();
      at = feedSlice(source, at);
    }
  }

  return (source) => {
    const at = feedSlice(source, 0);
    return at < source.spans.length ? feedRest(source, at) : undefined;
  };
}
