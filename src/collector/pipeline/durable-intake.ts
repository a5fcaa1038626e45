// Durable intake: what the door does in durable mode. Spool first, acknowledge, then feed the pipeline, from memory while
// there is room, from the spool otherwise.
// Invariants:
//   DU1. "taken" is said only when the request is on disk; a failed write is never "taken".
//   DU2. Requests are fed in the order in which they were taken.
//   DU3. The spool never takes a new request beyond its limit, nor beyond its key's share (share.ts); what makes room
//        (batches, marks) always may be written.
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { createQueue } from "../../base/queue.ts";
import type { Books } from "../shared/span-accounting.ts";
import { decode, decompress } from "../receive/decode-body.ts";
import type { Pipeline } from "./pipeline.ts";
import type { Intake } from "../receive/http-receiver.ts";
import { fitsShare } from "../shared/fair-share.ts";
import type { Recovered, Spool, StoredRequest } from "../spool/port.ts";
import type { Tenant } from "../shared/trace-run.ts";

export interface DurableIntake {
  readonly take: Intake;
  readonly resume: (recovered: Recovered) => void;
  /** There may be room: feeds what waits. */
  readonly pump: () => void;
  /** Resolves when all that was taken is fed, or at the signal. */
  readonly settle: (signal: AbortSignal) => Promise<void>;
}

export interface DurableOptions {
  readonly spoolBytesMax: number;
  /** Above this nothing more is fed. */
  readonly feedBytesMax: number;
  readonly bodyBytesMax: number;
}

export interface DurablePorts {
  readonly spool: Spool;
  readonly pipeline: Pipeline;
  readonly books: Books;
  readonly log: Log;
  readonly clock: Clock;
  readonly heldBytes: () => number;
}

const LOOK_AGAIN_MS = 50;

export function createDurableIntake(options: DurableOptions, ports: DurablePorts): DurableIntake {
  const { spool, pipeline, books } = ports;
  /** On disk only, oldest first. */
  const backlog = createQueue<StoredRequest>();
  let feeding: Promise<void> | null = null;
  let lookAgain = false;

  const hasRoom = (): boolean => ports.heldBytes() < options.feedBytesMax;

  function hasShare(tenant: Tenant, bytes: number): boolean {
    const ownBytes = spool.liveBytes(tenant.id);
    const otherBytes = spool.liveBytes() - ownBytes;
    return fitsShare(bytes, { bytesMax: options.spoolBytesMax, takenBytes: spool.bytes(), ownBytes, otherBytes });
  }

  function lose(request: StoredRequest, reason: string): void {
    books.lost.unreadable += request.pending;
    ports.log.error("request_unreadable", { spans: request.pending, reason });
    spool.requestDone(request, allOf(request));
  }

  async function feedStored(request: StoredRequest): Promise<void> {
    const record = await spool.readRequest(request);
    if (record === null) return lose(request, "damaged");
    try {
      const limits = { bytesMax: Infinity, grow: () => true }; // it was within the limits when it was taken
      const { spans } = await decode(await decompress(record.wire, record.encoding, limits), record.format);
      const { tenant, project, receivedMs } = record;
      await pipeline.feed(spans, { tenant, project, receivedMs }, request);
    } catch (error) {
      lose(request, error instanceof Error ? error.message : "unknown"); // it could be read once: a newer reader may differ
    }
  }

  async function feedBacklog(): Promise<void> {
    while (hasRoom()) {
      const request = backlog.shift(); // DU2
      if (request === undefined) return;
      await feedStored(request);
    }
    if (lookAgain) return;
    lookAgain = true;
    ports.clock.after(LOOK_AGAIN_MS, () => {
      lookAgain = false;
      pump();
    });
  }

  function pump(): void {
    if (feeding !== null || backlog.length === 0) return;
    feeding = feedBacklog().finally(() => {
      feeding = null;
      if (backlog.length > 0 && hasRoom()) pump();
    });
  }

  return {
    pump,
    async take({ head, context, wire, decoded }) {
      if (spool.failure() !== null) return "unwritable";
      if (!hasShare(context.tenant, wire.length)) return "no_room"; // DU3
      let stored: StoredRequest;
      try {
        stored = await spool.appendRequest({
          ...context,
          format: head.format,
          encoding: head.encoding,
          spans: decoded.spans.length,
          rejected: decoded.rejected,
          wire,
        });
      } catch {
        return "unwritable"; // DU1: the log tells why
      }
      books.received += decoded.spans.length + decoded.rejected;
      books.rejected += decoded.rejected;
      if (backlog.length === 0 && feeding === null && hasRoom()) {
        const fed = pipeline.feed(decoded.spans, context, stored);
        if (fed !== undefined)
          feeding = fed.finally(() => {
            feeding = null;
            pump();
          });
      } else {
        backlog.push(stored);
        pump();
      }
      return "taken";
    },
    resume(recovered) {
      Object.assign(books, recovered.books);
      for (const decision of recovered.decisions) pipeline.recall(decision);
      for (const batch of recovered.batches) pipeline.resend(batch);
      for (const request of recovered.requests) backlog.push(request);
      pump();
    },
    async settle(signal) {
      while (!signal.aborted && (feeding !== null || backlog.length > 0)) {
        pump();
        if (feeding !== null) await feeding;
        else await new Promise<void>((resolve) => ports.clock.after(LOOK_AGAIN_MS, resolve));
      }
    },
  };
}

function allOf(request: StoredRequest): number[] {
  return Array.from({ length: request.spans }, (_, index) => index);
}
