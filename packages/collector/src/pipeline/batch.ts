// Batch: collects runs of one tenant and seals the batch (… → assemble → batch → encode → upload). Invariants:
//   - A batch holds runs of one tenant only.
//   - A batch seals at `runsMax` runs, at `bytesMax` bytes, or `flushIntervalMs` after its first run. Each batch starts
//     its own counts.
//   - A batch never holds a run together with an amendment of that run: the backend could not order them.
import type { Clock } from "@holdpoint/base/clock.ts";
import { createRunWriter, type RunWriter } from "../encode/multipart.ts";
import type { SpanOrigin } from "../shared/span-origin.ts";
import type { TraceRun, TraceRunPlace } from "../shared/trace-run.ts";
import type { Tenant } from "../shared/tenants.ts";

export interface BatchLimits {
  readonly flushIntervalMs: number;
  /** Read for each run, because the backend's own limits can arrive at any time. */
  readonly runsMax: () => number;
  readonly bytesMax: () => number;
}

export interface OpenBatch {
  readonly tenant: Tenant;
  readonly createdMs: number;
  readonly writer: RunWriter;
  readonly runs: TraceRunPlace[];
  /** `origins[i]`: the spooled spans of run i; none in memory mode, and of an added run. */
  readonly origins: (readonly SpanOrigin[])[];
  readonly cancelTimer: () => void;
}

export interface Batcher {
  readonly add: (run: TraceRun) => void;
  /** Seals all open batches. */
  readonly flush: () => void;
  /** Memory that open batches occupy. */
  readonly heldBytes: () => number;
  readonly countHeldBytes: (tenantId: string) => number;
}

/** `seal` receives each batch once and releases its writer. */
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
      cancelTimer: ports.clock.after(limits.flushIntervalMs, () => close(batch)),
    };
    open.set(tenant.id, batch);
    heldBytes += batch.writer.heldBytes();
    return batch;
  }

  return {
    add(run) {
      let batch = openFor(run.tenant);
      if (run.amends && batch.runs.some((other) => other.id === run.id)) {
        close(batch);
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
        fingerprint: run.fingerprint,
        counts: run.counts,
        prints: run.span.prints,
      });
      batch.origins.push(run.span.origins);
      if (batch.runs.length >= limits.runsMax() || batch.writer.bytes() >= limits.bytesMax()) close(batch);
    },
    flush() {
      for (const batch of open.values()) close(batch);
    },
    heldBytes: () => heldBytes,
    countHeldBytes: (tenantId) => open.get(tenantId)?.writer.heldBytes() ?? 0,
  };
}
