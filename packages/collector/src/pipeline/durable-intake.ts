// Durable intake: the intake of durable mode. Appends a request to the spool, acknowledges it, then feeds the pipeline.
// Invariants:
//   - A request is "taken" only when it is on disk. A failed write is never "taken".
//   - A request of log records of which none is stored needs no room in the spool.
//   - Requests enter the pipeline in the order of their acceptance.
//   - The spool rejects a new request beyond its limit or beyond the share of the tenant (fair-share.ts). It always
//     admits writes that free space (batches, marks).
import { classifyRecord } from "../logs/record-kinds.ts";
import { type Decoded, countItems, type Signal } from "../otlp/decoded.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { Intake, ReceivedRequest } from "../receive/accept.ts";
import type { RequestHead } from "../receive/request-head.ts";
import { fitsShare } from "../shared/fair-share.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import type { Tenant } from "../shared/tenants.ts";
import type { Recovered, Spool } from "../spool/port.ts";
import { type BacklogPorts, createBacklog } from "./backlog.ts";
import type { DeliveryStep } from "./delivery.ts";
import type { Pipeline } from "./pipeline.ts";

export interface DurableIntake {
  readonly take: Intake;
  readonly resume: (recovered: Recovered) => void;
  /** Feeds queued requests when there is room. */
  readonly pump: () => void;
  /** Resolves after the last request, or at the signal. */
  readonly settled: (signal: AbortSignal) => Promise<void>;
}

export interface DurableOptions {
  readonly spoolBytesMax: number;
  /** Bytes in memory above which feeding pauses. */
  readonly feedBytesMax: number;
}

export interface DurablePorts extends BacklogPorts {
  readonly spool: Spool;
  readonly pipeline: Pick<Pipeline, "feed" | "recall">;
  readonly delivery: Pick<DeliveryStep, "resend">;
  readonly accounting: SpanAccounting;
}

export function createDurableIntake(options: DurableOptions, ports: DurablePorts): DurableIntake {
  const { spool, pipeline, delivery, accounting } = ports;
  const backlog = createBacklog(options.feedBytesMax, ports);

  function hasShare(tenant: Tenant, bytes: number): boolean {
    const ownBytes = spool.liveBytes(tenant.id);
    const otherBytes = spool.liveBytes() - ownBytes;
    return fitsShare(bytes, { bytesMax: options.spoolBytesMax, usedBytes: spool.bytes(), ownBytes, otherBytes });
  }

  async function store(
    { encoding, format }: RequestHead,
    { context, items, signal, wire }: Omit<ReceivedRequest, "head">,
  ): Promise<"taken" | "no_room" | "unwritable"> {
    if (isNothingStored(items)) return takeNothing(accounting, items);
    if (spool.failure() !== null) return "unwritable";
    if (!hasShare(context.tenant, wire.length)) return "no_room";
    let stored: StoredRequest;
    try {
      stored = await spool.appendRequest({
        ...context,
        signal,
        format,
        encoding,
        spans: countItems(items),
        rejected: items.rejected,
        wire,
      });
    } catch {
      return "unwritable"; // the spool has logged the reason
    }
    countReceived(accounting, items, signal);
    backlog.feedOrQueue(items, context, stored);
    return "taken";
  }

  return {
    pump: backlog.pump,
    settled: backlog.settled,
    take: ({ head, ...request }) => store(head, request),
    resume(recovered) {
      Object.assign(accounting, recovered.accounting);
      for (const decision of recovered.decisions) pipeline.recall(decision);
      for (const batch of recovered.batches) delivery.resend(batch);
      for (const request of recovered.requests) {
        request.isReplay = true;
        backlog.push(request);
      }
      backlog.pump();
    },
  };
}

function takeNothing(accounting: SpanAccounting, items: Decoded): "taken" {
  countReceived(accounting, items, "logs");
  accounting.records.notStored += items.records.length;
  return "taken";
}

/** Log records of which none is about generative AI. */
function isNothingStored({ records }: Decoded): boolean {
  return records.length > 0 && records.every((record) => classifyRecord(record) === "other");
}

export function countReceived(accounting: SpanAccounting, items: Decoded, signal: Signal): void {
  const counts = signal === "logs" ? accounting.records : accounting;
  counts.received += countItems(items) + items.rejected;
  counts.rejected += items.rejected;
}
