// Offer items: passes spans and log records through the sampler, and counts those of traces that are not kept.
import { traceIdOfRecord } from "../logs/emit-records.ts";
import type { LogRecord } from "../otlp/log-record.ts";
import type { Span } from "../otlp/span.ts";
import type { TraceSampler } from "../sample/trace-sampler.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import type { Spool } from "../spool/port.ts";

export interface OfferPorts {
  readonly accounting: SpanAccounting;
  /** null: every trace is kept. */
  readonly sampler: Pick<TraceSampler, "offer"> | null;
  /** null in memory mode. */
  readonly marks: Pick<Spool, "requestDone"> | null;
}

/** The request of an item. */
interface OfferSource {
  readonly context: RequestContext;
  /** null in memory mode. */
  readonly request: StoredRequest | null;
}

/** Calls `pass` now, later, or never. */
export type OfferItem = (item: Span | LogRecord, index: number, source: OfferSource, pass: () => void) => void;

export function createItemOffer({ accounting, marks, sampler }: OfferPorts): OfferItem {
  return (item, index, { context, request }, pass) => {
    if (sampler === null) return pass();
    const { project, tenant } = context;
    sampler.offer({
      item,
      traceId: "severity" in item ? traceIdOfRecord(item, tenant.id) : item.traceId,
      project,
      tenant,
      pass,
      discard() {
        if ("severity" in item) accounting.records.notStored++;
        else accounting.filtered++;
        if (request !== null) marks?.requestDone(request, [index]);
      },
    });
  };
}
