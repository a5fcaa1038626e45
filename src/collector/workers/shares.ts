// Shares: the work of one worker thread: decodes the shares of its requests, feeds its own pipeline, and posts sealed
// batches, marks, counts and held bytes to the receiving thread.
// Invariants:
//   shares.1. A share is fed only after the receiving thread says so: until then the request may be refused.
//   shares.2. Shares are fed in the order of these messages.
//   shares.3. Counts and marks of one turn are in one list: a crash loses both or none.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import type { Log, LogLevel } from "../../base/log/log.ts";
import type { Body } from "../encode/batch-body.ts";
import { DecodeError, type Decoded, itemsOf } from "../otlp/decoded.ts";
import type { Delivery } from "../pipeline/delivery.ts";
import { createPipeline, type Pipeline } from "../pipeline/pipeline.ts";
import { isNothingStored } from "../pipeline/processing.ts";
import { decode } from "../receive/decode-body.ts";
import { freeBuffer } from "../shared/free-buffer.ts";
import { createSpanAccounting } from "../shared/span-accounting.ts";
import type { SpanOrigin, StoredRequest } from "../shared/span-origin.ts";
import { createTenants, type Tenants } from "../shared/tenants.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import type { Spool } from "../spool/port.ts";
import { createTranslator } from "../translate/translate.ts";
import { changesSince } from "./count-changes.ts";
import { createInOrder } from "./in-order.ts";
import type { BodyMessage, FlatOrigins, FromWorker, ToWorker, WorkerSetup } from "./messages.ts";
import { createOutbox, memoryOf, type Outbox } from "./outbox.ts";

export interface SharesPorts {
  readonly clock: Clock;
  readonly ageClock: Clock;
  readonly post: (messages: readonly FromWorker[], moved: ArrayBuffer[]) => void;
}

export interface Shares {
  readonly take: (message: ToWorker) => void;
}

type ReadMessage = Extract<ToWorker, { kind: "read" }>;
type FeedMessage = Extract<ToWorker, { kind: "feed" }>;

/** A decoded share that waits for its feed (shares.1). */
interface WaitingShare {
  readonly decoded: Decoded;
  readonly context: RequestContext;
}

/** Stands for the stored request: the origins of its items name the share. */
interface SharedRequest extends StoredRequest {
  readonly share: number;
}

/** Held bytes change with timers too: they are reported at least this often while there are some. */
const REPORT_MS = 500;

export function createShares(setup: WorkerSetup, ports: SharesPorts): Shares {
  const tenants = createTenants();
  const accounting = createSpanAccounting();
  const changes = changesSince(accounting);
  const waiting = new Map<number, WaitingShare>();
  const touched = new Set<string>();
  let { limits } = setup;
  const feeds = createInOrder();
  let reportPlanned = false;
  const outbox: Outbox<FromWorker> = createOutbox({ post: ports.post, beforePost: report });
  const log = logTo(outbox);
  const pipeline: Pipeline = createPipeline(setup.pipeline, {
    clock: ports.ageClock,
    log,
    translate: createTranslator(setup.translate),
    accounting,
    backendLimits: () => limits,
    marks: setup.durable ? marksTo(outbox) : null,
    delivery: deliveryTo(outbox, touched),
  });

  /** Changes and held bytes, at the end of every list (shares.3). */
  function report(): void {
    const counted = changes();
    if (counted !== null) outbox.add({ kind: "counted", changes: counted });
    const byTenant = [...touched].map((id) => [id, pipeline.heldBytesOf(id)] as const);
    for (const [id, bytes] of byTenant) if (bytes === 0) touched.delete(id);
    outbox.add({ kind: "held", bytes: pipeline.heldBytes(), byTenant, stats: pipeline.stats() });
    if (touched.size === 0 || reportPlanned) return;
    reportPlanned = true;
    ports.clock.after(REPORT_MS, () => {
      reportPlanned = false;
      outbox.flush();
    });
  }

  function feed({ positions, request, share }: FeedMessage): void | Promise<void> {
    const one = waiting.get(share);
    waiting.delete(share);
    if (one === undefined) return;
    const { context, decoded } = one;
    touched.add(context.tenant.id);
    const stored = request === null ? null : storedOf(request, share, context);
    const fed = pipeline.feed(decoded, context, stored, { indexes: positions });
    const onEnd = (): void => outbox.add({ kind: "fed", share });
    if (fed === undefined) onEnd();
    else return fed.then(onEnd);
  }

  async function flush(): Promise<void> {
    await feeds.settled();
    await pipeline.flush();
    await nextTurn();
    outbox.add({ kind: "flushed" });
  }

  outbox.add({ kind: "ready" });
  return {
    take(message) {
      if (message.kind === "read")
        void decodeShare(message, tenants, (one) => waiting.set(message.share, one)).then((outcome) =>
          outbox.add(outcome),
        );
      else if (message.kind === "feed") feeds.run(() => feed(message)); // shares.2
      else if (message.kind === "discard") waiting.delete(message.share);
      else if (message.kind === "recall") message.decisions.forEach(pipeline.recall);
      else if (message.kind === "limits") ({ limits } = message);
      else void flush();
    },
  };
}

type ReadOutcome = Extract<FromWorker, { kind: "read" | "unreadable" }>;

/** Decodes the bytes of a share. Never rejects. */
async function decodeShare(
  { bytes, format, project, receivedMs, share, signal, tenant }: ReadMessage,
  tenants: Tenants,
  keep: (one: WaitingShare) => void,
): Promise<ReadOutcome> {
  try {
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const step = decode(body, format, signal);
    const decoded = step instanceof Promise ? await step : step;
    freeBuffer(body); // the items hold copies only
    keep({ decoded, context: { tenant: tenants.of(tenant.apiKey, tenant.tenantId), project, receivedMs } });
    const { reason, rejectedAt, repairedTexts } = decoded;
    const nothing = isNothingStored(decoded);
    const items = itemsOf(decoded);
    return { kind: "read", share, items, rejectedAt, reason, repairedTexts, isNothingStored: nothing };
  } catch (error) {
    const message = error instanceof Error ? error.message : "unknown";
    return { kind: "unreadable", share, message, isFault: !(error instanceof DecodeError) };
  }
}

function storedOf(
  { done, offset, segment, spans }: NonNullable<FeedMessage["request"]>,
  share: number,
  { tenant }: RequestContext,
): SharedRequest {
  return { segment, offset, bytes: 0, tenant, spans, pending: spans, done, share };
}

function shareOf(request: StoredRequest): number {
  return (request as SharedRequest).share;
}

function flat(origins: readonly SpanOrigin[]): FlatOrigins {
  const numbers: number[] = [];
  for (const { request, index } of origins) numbers.push(shareOf(request), index);
  return numbers;
}

function marksTo(outbox: Outbox<FromWorker>): Pick<Spool, "requestDone"> {
  return { requestDone: (request, indexes) => outbox.add({ kind: "done", share: shareOf(request), indexes }) };
}

function deliveryTo(outbox: Outbox<FromWorker>, touched: Set<string>): Delivery {
  return {
    deliver({ body, origins, places }) {
      touched.add(body.tenant.id);
      const memory = memoryOf(body.bytes);
      outbox.add({ kind: "batch", body: messageOf(body), places: places.text, origins: origins.map(flat) }, memory);
      return TAKEN;
    },
    reject({ body, origins, reason }) {
      outbox.add({ kind: "misplaced", body: messageOf(body), reason, origins: flat(origins) }, memoryOf(body.bytes));
      return TAKEN;
    },
  };
}

const TAKEN = Promise.resolve();

function messageOf({ boundary, bytes, createdMs, encoding, offsets, rawBytes, tenant }: Body): BodyMessage {
  const { apiKey, tenantId } = tenant;
  return { tenant: { apiKey, tenantId }, createdMs, boundary, encoding, bytes, rawBytes, offsets };
}

function logTo(outbox: Outbox<FromWorker>): Log {
  const at =
    (level: LogLevel) =>
    (event: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      outbox.add({ kind: "log", level, event, fields });
  return { debug: at("debug"), info: at("info"), warning: at("warning"), error: at("error") };
}
