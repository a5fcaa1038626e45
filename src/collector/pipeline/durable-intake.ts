// Durable intake: the intake of durable mode. Appends a request to the spool, acknowledges it, then feeds the pipeline.
// Invariants:
//   durable-intake.1. A request is "taken" only when it is on disk. A failed write is never "taken".
//   durable-intake.2. Requests enter the pipeline in the order of their acceptance.
//   durable-intake.3. The spool rejects a new request beyond its limit or beyond the share of the tenant
//        (fair-share.ts). It always admits writes that free space (batches, marks).
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { Intake } from "../receive/http-receiver.ts";
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
    async take({ head, context, wire, decoded }) {
      if (spool.failure() !== null) return "unwritable";
      if (!hasShare(context.tenant, wire.length)) return "no_room"; // durable-intake.3
      const { format, encoding } = head;
      const spans = decoded.spans.length;
      const { rejected } = decoded;
      let stored: StoredRequest;
      try {
        stored = await spool.appendRequest({ ...context, format, encoding, spans, rejected, wire });
      } catch {
        return "unwritable"; // durable-intake.1: the spool has logged the reason
      }
      accounting.received += spans + rejected;
      accounting.rejected += rejected;
      backlog.feedOrQueue(decoded.spans, context, stored);
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
