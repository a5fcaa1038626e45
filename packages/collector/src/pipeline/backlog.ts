// Backlog: feeds spooled requests into the pipeline, from memory while there is room, from the spool otherwise.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { createQueue } from "@holdpoint/base/queue.ts";
import { decode, decompress } from "../receive/decode-body.ts";
import type { Decoded } from "../otlp/decoded.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import { aborted } from "../shared/time-limit.ts";
import type { Spool } from "../spool/port.ts";
import type { Pipeline } from "./pipeline.ts";

export interface BacklogPorts {
  readonly spool: Pick<Spool, "readRequest" | "requestDone">;
  readonly pipeline: Pick<Pipeline, "feed">;
  readonly accounting: SpanAccounting;
  readonly log: Log;
  readonly clock: Clock;
  readonly heldBytes: () => number;
}

export interface Backlog {
  /**
   * Feeds the items at once when memory is free and no older request is queued; otherwise queues the stored request.
   */
  readonly feedOrQueue: (items: Decoded, context: RequestContext, stored: StoredRequest) => void;
  readonly push: (stored: StoredRequest) => void;
  /** Feeds queued requests while there is room. */
  readonly pump: () => void;
  /** Resolves after the last queued request, or at the signal. */
  readonly settled: (signal: AbortSignal) => Promise<void>;
}

const POLL_MS = 50;

export function createBacklog(feedBytesMax: number, ports: BacklogPorts): Backlog {
  /** On disk only, oldest first. */
  const queue = createQueue<StoredRequest>();
  let feeding: Promise<void> | null = null;
  let pollPlanned = false;

  const hasRoom = (): boolean => ports.heldBytes() < feedBytesMax;

  async function feedQueue(): Promise<void> {
    while (hasRoom()) {
      const request = queue.shift();
      if (request === undefined) return;
      await feedStored(request, ports);
    }
    if (pollPlanned) return;
    pollPlanned = true;
    ports.clock.after(POLL_MS, () => {
      pollPlanned = false;
      pump();
    });
  }

  function pump(): void {
    if (feeding !== null || queue.length === 0) return;
    feeding = feedQueue().finally(() => {
      feeding = null;
      if (queue.length > 0 && hasRoom()) pump();
    });
  }

  return {
    pump,
    push: (stored) => queue.push(stored),
    feedOrQueue(items, context, stored) {
      if (queue.length > 0 || feeding !== null || !hasRoom()) {
        queue.push(stored);
        return pump();
      }
      const fed = ports.pipeline.feed(items, context, stored);
      if (fed === undefined) return;
      feeding = fed.finally(() => {
        feeding = null;
        pump();
      });
    },
    async settled(signal) {
      const over = aborted(signal); // the feed of a large request may outlast it
      while (!signal.aborted && (feeding !== null || queue.length > 0)) {
        pump();
        const next = feeding ?? new Promise<void>((resolve) => ports.clock.after(POLL_MS, resolve));
        await Promise.race([next, over]);
      }
    },
  };
}

function loseStored(request: StoredRequest, reason: string, { accounting, log, spool }: BacklogPorts): void {
  accounting.lost.unreadable += request.pending;
  log.error("request_unreadable", { spans: request.pending, reason });
  spool.requestDone(request, listIndexes(request));
}

/** Reads a request back from the spool and feeds it. A request that is no longer readable counts as lost. */
async function feedStored(request: StoredRequest, ports: BacklogPorts): Promise<void> {
  const record = await ports.spool.readRequest(request);
  if (record === null) return loseStored(request, "damaged", ports);
  try {
    const limits = { bytesMax: Infinity, grow: () => true }; // the receiver has checked the limits
    const body = await decompress(record.wire, record.encoding, limits);
    const { format, signal, tenant, project, receivedMs } = record;
    const items = await decode(body, format, signal);
    await ports.pipeline.feed(items, { tenant, project, receivedMs }, request);
  } catch (error) {
    loseStored(request, error instanceof Error ? error.message : "unknown", ports); // possible after an upgrade of the decoder
  }
}

function listIndexes(request: StoredRequest): number[] {
  return Array.from({ length: request.spans }, (_, index) => index);
}
