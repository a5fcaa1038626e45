// Batch: runs of one tenant wait here for company (… → assemble → batch → encode → upload).
// Invariants:
//   BA1. A batch holds runs of one tenant only.
//   BA2. It is sealed when it has `runsMax` runs, when its bytes reach `bytesMax`, or `flushIntervalMs` after its first run;
//        both counts begin anew with each batch.
//   BA3. A run that amends another is never in one batch with it: the backend would have to guess their order.
import type { Clock } from "../../base/clock.ts";
import { createRunWriter, type RunWriter } from "../encode/multipart.ts";
import type { StoredRequest } from "../spool/port.ts";
import type { Tenant, TraceRun, TraceRunPlace } from "../shared/trace-run.ts";

export interface BatchLimits {
  readonly flushIntervalMs: number;
  /** Asked for each run: the backend's own limits may become known at any time. */
  readonly runsMax: () => number;
  readonly bytesMax: () => number;
}

/** One span of a spooled request: what must not be forgotten before its run is safe elsewhere. */
export interface Origin {
  readonly request: StoredRequest;
  readonly index: number;
}

export interface OpenBatch {
  readonly tenant: Tenant;
  readonly createdMs: number;
  readonly writer: RunWriter;
  readonly runs: TraceRunPlace[];
  /** `origins[i]`: the spooled spans that run i is made from. Empty in memory mode. */
  readonly origins: (readonly Origin[])[];
  readonly cancelTimer: () => void;
}

export interface Batcher {
  readonly add: (run: TraceRun, origins: readonly Origin[]) => void;
  /** Seals everything that is open. */
  readonly flush: () => void;
  /** What open batches take in memory. */
  readonly heldBytes: () => number;
  readonly heldBytesOf: (tenantId: string) => number;
}

/** `seal` gets each batch once, and releases its writer. */
export function createBatcher(
  limits: BatchLimits,
  ports: { readonly clock: Clock; readonly seal: (batch: OpenBatch) => void },
): Batcher {
  const open = new Map<string, OpenBatch>();
  let heldBytes = 0;

  function close(batch: OpenBatch): void {
    open.delete(batch.tenant.id);
    batch.cancelTimer();
    heldBytes -= batch.writer.heldBytes();
    ports.seal(batch);
  }

  function openFor(tenant: Tenant): OpenBatch {
    const known = open.get(tenant.id);
    if (known !== undefined) return known;
    const batch: OpenBatch = {
      tenant,
      createdMs: ports.clock.now(),
      writer: createRunWriter(),
      runs: [],
      origins: [],
      cancelTimer: ports.clock.after(limits.flushIntervalMs, () => close(batch)), // BA2
    };
    open.set(tenant.id, batch);
    heldBytes += batch.writer.heldBytes();
    return batch;
  }

  return {
    add(run, origins) {
      let batch = openFor(run.tenant); // BA1
      if (run.amends && batch.runs.some((other) => other.id === run.id)) {
        close(batch); // BA3
        batch = openFor(run.tenant);
      }
      heldBytes -= batch.writer.heldBytes();
      batch.writer.write(run);
      heldBytes += batch.writer.heldBytes();
      batch.runs.push({
        id: run.id,
        traceId: run.span.traceId,
        spanId: run.span.spanId,
        dottedOrder: run.dottedOrder,
      });
      if (origins.length > 0) batch.origins.push(origins);
      if (batch.runs.length >= limits.runsMax() || batch.writer.bytes() >= limits.bytesMax()) close(batch); // BA2
    },
    flush() {
      for (const batch of open.values()) close(batch);
    },
    heldBytes: () => heldBytes,
    heldBytesOf: (tenantId) => open.get(tenantId)?.writer.heldBytes() ?? 0,
  };
}
