// Place span: translates one span and adds it to its trace, and counts the outcome of the span and of its records.
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Assembler } from "../assemble/assemble.ts";
import type { Span } from "../otlp/span.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import { NO_ORIGINS, type SpanOrigin } from "../shared/span-origin.ts";
import type { RequestContext, RunContent } from "../shared/trace-run.ts";
import type { Spool } from "../spool/port.ts";
import type { Translate } from "../translate/translate.ts";

export interface PlacePorts {
  readonly log: Log;
  readonly translate: Translate;
  readonly accounting: SpanAccounting;
  readonly assembler: Pick<Assembler, "add">;
  /** null in memory mode. */
  readonly marks: Pick<Spool, "requestDone"> | null;
}

/** Log records in a span. */
interface CarriedRecords {
  readonly origins: readonly SpanOrigin[];
  readonly records: number;
  readonly prints: readonly string[];
}

/** The place of the span itself when only log records caused it. */
export const ONLY_RECORDS = "only_records";

/** Origin of a received span: its origin, null in memory mode. */
export type OwnOrigin = SpanOrigin | null | typeof ONLY_RECORDS;

/** A drop rule removed the span, with the log records in it. */
export const DROPPED = "dropped";

/** Returns the content of a run that is in its trace now; null without one. */
export type PlaceSpan = (
  span: Span,
  context: RequestContext,
  own: OwnOrigin,
  records: CarriedRecords | null,
) => RunContent | typeof DROPPED | null;

export function createPlacing({ accounting, assembler, log, marks, translate }: PlacePorts): PlaceSpan {
  function done(origins: readonly SpanOrigin[]): void {
    for (const { request, index } of origins) marks?.requestDone(request, [index]); // pipeline.3
  }

  /** A defect in one span costs that span only, now and after every restart. */
  function drop(error: unknown, own: OwnOrigin, records: CarriedRecords | null): null {
    accounting.lost.untranslatable++;
    countJoined(own, records, "run");
    done(joinOrigins(own, records));
    log.error("span_lost", { reason: error instanceof Error ? (error.stack ?? error.message) : "unknown" });
    return null;
  }

  /** `run`: one of the items stands for the run. */
  function countJoined(
    own: OwnOrigin,
    records: CarriedRecords | null,
    outcome: "run" | "joined" | typeof DROPPED,
  ): void {
    if (records === null) return;
    if (outcome === DROPPED) accounting.records.notStored += records.records;
    else accounting.records.joined += records.records - (own === ONLY_RECORDS && outcome === "run" ? 1 : 0);
  }

  return (span, context, own, records) => {
    try {
      const run = translate(span, context);
      run.origins = joinOrigins(own, records);
      if (records !== null) run.prints = records.prints;
      const arrival = assembler.add(run);
      const isRun = arrival !== "duplicate" && arrival !== "merged" && arrival !== "filtered";
      const isDropped = run.isDropped === true;
      countJoined(own, records, isDropped ? DROPPED : isRun ? "run" : "joined");
      if (isRun) return run.content;
      if (own !== ONLY_RECORDS) {
        if (arrival === "filtered") accounting.filtered++;
        else accounting.duplicates++;
      }
      if (arrival !== "merged") done(run.origins);
      if (isDropped) return DROPPED;
      return arrival === "merged" ? run.content : null;
    } catch (error) {
      return drop(error, own, records);
    }
  };
}

function joinOrigins(own: OwnOrigin, records: CarriedRecords | null): readonly SpanOrigin[] {
  if (own === null || own === ONLY_RECORDS) return records?.origins ?? NO_ORIGINS;
  return records === null || records.origins.length === 0 ? [own] : [own, ...records.origins];
}
