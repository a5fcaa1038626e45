// Offer items: passes spans and log records through the sampler, and counts those of traces that are not kept.
import { traceIdOfRecord } from "../logs/emit-records.ts";
import type { LogRecord } from "../otlp/log-record.ts";
import type { Span } from "../otlp/span.ts";
import type { OfferedItem } from "../sample/rule-match.ts";
import type { TraceSampler } from "../sample/trace-sampler.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import type { Spool } from "../spool/port.ts";

export interface OfferPorts {
  readonly accounting: SpanAccounting;
  /** null: every trace is kept. */
  readonly sampler: Pick<TraceSampler, "offer" | "note"> | null;
  /** null in memory mode. */
  readonly marks: Pick<Spool, "requestDone"> | null;
}

/** The request of an item. */
interface OfferSource {
  readonly context: RequestContext;
  /** null in memory mode. */
  readonly request: StoredRequest | null;
}

export interface ItemOffer {
  /** Calls `pass` now, later, or never. */
  readonly offer: (item: Span | LogRecord, index: number, source: OfferSource, pass: () => void) => void;
  /** For an item that is done: it only counts for the decision about its trace (trace-sampler.5). */
  readonly note: (item: Span | LogRecord, context: RequestContext) => void;
}

export function createItemOffer({ accounting, marks, sampler }: OfferPorts): ItemOffer {
  return {
    offer(item, index, { context, request }, pass) {
      if (sampler === null) return pass();
      sampler.offer({
        ...offerItem(item, context),
        pass,
        discard() {
          if ("severity" in item) accounting.records.notStored++;
          else accounting.filtered++;
          if (request !== null) marks?.requestDone(request, [index]);
        },
      });
    },
    note: (item, context) => sampler?.note(offerItem(item, context)),
  };
}

function offerItem(item: Span | LogRecord, { project, tenant }: RequestContext): OfferedItem {
  const traceId = "severity" in item ? traceIdOfRecord(item, tenant.id) : item.traceId;
  return { item, traceId, project, tenant };
}
