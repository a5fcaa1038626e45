// Place span: translates one span and adds it to its trace, and counts the outcome of the span and of its records.
import type { Log } from "../../base/log/log.ts";
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
  readonly spool: Pick<Spool, "requestDone"> | null;
}

/** Log records in a span. */
interface CarriedRecords {
  readonly origins: readonly SpanOrigin[];
  readonly records: number;
}

/** The received items of a span. */
export interface Carried {
  /** null in memory mode; absent when only records caused this span. */
  readonly span?: SpanOrigin | null;
  readonly records: CarriedRecords | null;
}

/** Returns the content of a run that is in its trace now; null without one. */
export type PlaceSpan = (span: Span, context: RequestContext, carried: Carried) => RunContent | null;

export function createPlacing({ accounting, assembler, log, spool, translate }: PlacePorts): PlaceSpan {
  function done(origins: readonly SpanOrigin[]): void {
    for (const { request, index } of origins) spool?.requestDone(request, [index]); // pipeline.3
  }

  /** pipeline.4: a defect in one span costs that span only, now and after every restart. */
  function drop(error: unknown, carried: Carried): null {
    accounting.lost.untranslatable++;
    countJoined(carried, true);
    done(originsOf(carried));
    log.error("span_lost", { reason: error instanceof Error ? (error.stack ?? error.message) : "unknown" });
    return null;
  }

  /** `isRun`: one of the items stands for the run (span-accounting.3). */
  function countJoined({ span, records }: Carried, isRun: boolean): void {
    if (records !== null) accounting.records.joined += records.records - (span === undefined && isRun ? 1 : 0);
  }

  return (span, context, carried) => {
    try {
      const run = translate(span, context);
      run.origins = originsOf(carried);
      const arrival = assembler.add(run);
      const isRun = arrival !== "duplicate" && arrival !== "merged" && arrival !== "filtered";
      countJoined(carried, isRun);
      if (isRun) return run.content;
      if (carried.span !== undefined) {
        if (arrival === "filtered") accounting.filtered++;
        else accounting.duplicates++;
      }
      if (arrival !== "merged") done(run.origins);
      return arrival === "merged" ? run.content : null;
    } catch (error) {
      return drop(error, carried);
    }
  };
}

function originsOf({ span, records }: Carried): readonly SpanOrigin[] {
  if (span === undefined || span === null) return records?.origins ?? NO_ORIGINS;
  return records === null || records.origins.length === 0 ? [span] : [span, ...records.origins];
}
