// Durable intake: the intake of durable mode. Appends a request to the spool, acknowledges it, then feeds the pipeline.
// Invariants:
//   durable-intake.1. A request is "taken" only when it is on disk. A failed write is never "taken".
//   durable-intake.4. A request of log records of which none is stored needs no room in the spool.
//   durable-intake.2. Requests enter the pipeline in the order of their acceptance.
//   durable-intake.3. The spool rejects a new request beyond its limit or beyond the share of the tenant
//        (fair-share.ts). It always admits writes that free space (batches, marks).
import { kindOf } from "../logs/record-kinds.ts";
import { type Decoded, itemsOf, type Signal } from "../otlp/decoded.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { Intake } from "../receive/accept.ts";
import { fitsShare } from "../shared/fair-share.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import type { Tenant } from "../shared/tenants.ts";
import type { Recovered, Spool } from "../spool/port.ts";
import { type BacklogPorts, createBacklog } from "./backlog.ts";
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
  readonly pipeline: Pipeline;
  readonly accounting: SpanAccounting;
}

export function createDurableIntake(options: DurableOptions, ports: DurablePorts): DurableIntake {
  const { spool, pipeline, accounting } = ports;
  const backlog = createBacklog(options.feedBytesMax, ports);

  function hasShare(tenant: Tenant, bytes: number): boolean {
    const ownBytes = spool.liveBytes(tenant.id);
    const otherBytes = spool.liveBytes() - ownBytes;
    return fitsShare(bytes, { bytesMax: options.spoolBytesMax, takenBytes: spool.bytes(), ownBytes, otherBytes });
  }

  return {
    pump: backlog.pump,
    settled: backlog.settled,
    async take({ head, signal, context, wire, decoded }) {
      if (isNothingStored(decoded)) return takeNothing(accounting, decoded);
      if (spool.failure() !== null) return "unwritable";
      if (!hasShare(context.tenant, wire.length)) return "no_room"; // durable-intake.3
      const { format, encoding } = head;
      const spans = itemsOf(decoded);
      const { rejected } = decoded;
      let stored: StoredRequest;
      try {
        stored = await spool.appendRequest({ ...context, signal, format, encoding, spans, rejected, wire });
      } catch {
        return "unwritable"; // durable-intake.1: the spool has logged the reason
      }
      countReceived(accounting, signal, decoded);
      backlog.feedOrQueue(decoded, context, stored);
      return "taken";
    },
    resume(recovered) {
      Object.assign(accounting, recovered.accounting);
      for (const decision of recovered.decisions) pipeline.recall(decision);
      for (const batch of recovered.batches) pipeline.resend(batch);
      for (const request of recovered.requests) backlog.push(request);
      backlog.pump();
    },
  };
}

/** durable-intake.4. */
function isNothingStored({ records, spans }: Decoded): boolean {
  return spans.length === 0 && records.length > 0 && records.every((record) => kindOf(record) === "other");
}

function takeNothing(accounting: SpanAccounting, decoded: Decoded): "taken" {
  countReceived(accounting, "logs", decoded);
  accounting.records.notStored += decoded.records.length;
  return "taken";
}

export function countReceived(accounting: SpanAccounting, signal: Signal, decoded: Decoded): void {
  const counts = signal === "logs" ? accounting.records : accounting;
  counts.received += itemsOf(decoded) + decoded.rejected;
  counts.rejected += decoded.rejected;
}
