// Seal batch: compresses a full batch and hands it to the delivery. Runs with an invalid place go there one by one.
import type { Clock } from "@holdpoint/base/clock.ts";
import { type Body, compress } from "../encode/batch-body.ts";
import { encodeRun } from "../encode/encode-run.ts";
import { BOUNDARY } from "../encode/multipart.ts";
import type { TraceRun } from "../shared/trace-run.ts";
import { placeLines } from "../spool/tree-log.ts";
import type { BackendLimits } from "../upload/backend/port.ts";
import type { OpenBatch } from "./batch.ts";
import type { Delivery } from "./delivery.ts";

export interface SealPorts {
  readonly clock: Clock;
  readonly backendLimits: () => BackendLimits;
  readonly delivery: Delivery;
}

export interface Sealer {
  readonly seal: (batch: OpenBatch) => void;
  /** Dead-letters one run whose place breaks the rule `fault` of dotted-order.ts. */
  readonly rejectRun: (run: TraceRun, fault: string) => void;
  /** Uncompressed bytes of batches during compression. */
  readonly heldBytes: () => number;
  /** Resolves when the delivery has taken every sealed batch. */
  readonly settled: () => Promise<void>;
}

export function createSealer({ backendLimits, clock, delivery }: SealPorts): Sealer {
  const sealing = new Set<Promise<void>>();
  let sealingBytes = 0;

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => sealing.delete(tracked));
    sealing.add(tracked);
  }

  async function hand(batch: OpenBatch, compressed: Body | Promise<Body>, rawBytes: number): Promise<void> {
    const body = compressed instanceof Promise ? await compressed : compressed;
    batch.writer.release();
    sealingBytes -= rawBytes;
    // Memory mode has no origins, and needs no places.
    const isStored = batch.origins.some((origins) => origins.length > 0);
    const places = isStored ? placeLines(batch.runs) : NO_PLACES;
    await delivery.deliver({ body, places, origins: batch.origins });
  }

  async function rejectRun(run: TraceRun, reason: string): Promise<void> {
    const body = await encodeRun(run, { createdMs: clock.now(), encoding: "identity" });
    await delivery.reject({ body, reason, origins: run.span.origins });
  }

  return {
    seal(batch) {
      const { tenant, createdMs, writer } = batch;
      const rawBytes = writer.bytes();
      const { offsets } = writer;
      const raw = { tenant, createdMs, boundary: BOUNDARY, bytes: writer.close(), rawBytes, offsets, first: 0 };
      const body = compress(raw, backendLimits().encoding);
      sealingBytes += rawBytes;
      track(hand(batch, body, rawBytes));
    },
    rejectRun: (run, fault) => track(rejectRun(run, `its place breaks ${fault}`)),
    heldBytes: () => sealingBytes,
    async settled() {
      while (sealing.size > 0) await Promise.all(sealing);
    },
  };
}

const NO_PLACES = { runs: 0, text: "" };
