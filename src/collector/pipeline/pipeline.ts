// Pipeline: the steps in their order, for both modes: translate → assemble → batch → encode → (spool) → upload.
// Invariants:
//   PI1. Every span given to feed() is booked: as a run that is delivered or given up, filtered, or a duplicate.
//   PI2. A run is offered to its lane only after its batch is in the spool, when there is one; when the spool cannot take
//        the batch it is uploaded from memory, because delivering is what makes room again.
//   PI3. What of a spooled request became no run (filtered, duplicate) is marked done with; a duplicate of a span that is
//        still waiting stays with it until that one is safe.
//   PI4. A span that breaks translation is booked as lost and logged; its neighbours and the process go on.
//   PI5. A run whose place breaks a rule of the backend is never uploaded, since a whole batch would be refused for it: it
//        goes to the dead letters.
//   PI6. No request holds the event loop for longer than a slice: the spans of a large one are fed in turns.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { createAssembler, type AssembleLimits, type AssembleStats, type Decision } from "../assemble/assemble.ts";
import { createBatcher, type OpenBatch, type Origin } from "./batch.ts";
import type { BackendLimits } from "../upload/backend/port.ts";
import { type Body, compress, cut } from "../encode/batch-body.ts";
import type { Books } from "../shared/span-accounting.ts";
import type { DeadLetters } from "../upload/dead-letters.ts";
import { dottedOrderFault } from "../assemble/dotted-order.ts";
import { BOUNDARY, createRunWriter } from "../encode/multipart.ts";
import type { Lanes, Parcel } from "../upload/tenant-queues.ts";
import type { Span } from "../otlp/span.ts";
import { isDone, type Spool, type StoredBatch, type StoredRequest } from "../spool/port.ts";
import type { RequestContext, TraceRun, UnplacedRun } from "../shared/trace-run.ts";
import type { Translate } from "../translate/translate.ts";
import type { Refusal } from "../upload/upload.ts";

export interface PipelineOptions {
  readonly batchSize: number;
  readonly bufferBytesMax: number;
  readonly flushIntervalMs: number;
  readonly zstdLevel: number;
  readonly assemble: AssembleLimits;
}

export interface PipelinePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly translate: Translate;
  readonly books: Books;
  readonly lanes: Lanes;
  readonly backendLimits: () => BackendLimits;
  /** null in memory mode. */
  readonly spool: Spool | null;
  /** null: there is no folder for them. */
  readonly deadLetters: DeadLetters | null;
  readonly onBatch: (runs: number, rawBytes: number, bytes: number) => void;
}

export interface Pipeline {
  /** Resolves when all spans are in their trees. Small requests are done before it returns. */
  readonly feed: (
    spans: readonly Span[],
    context: RequestContext,
    request: StoredRequest | null,
  ) => void | Promise<void>;
  /** A batch of an earlier process. */
  readonly resend: (batch: StoredBatch) => void;
  readonly recall: (decision: Decision) => void;
  /** Bytes in memory behind the door, without the lanes'. */
  readonly heldBytes: () => number;
  readonly heldBytesOf: (tenantId: string) => number;
  readonly stats: () => AssembleStats;
  /** Nothing waits in trees or open batches when this resolves: all of it is in the lanes. */
  readonly flush: () => Promise<void>;
  /** For what the lanes could not send before the end. */
  readonly giveUp: (parcels: readonly Parcel[]) => Promise<void>;
}

const SPANS_A_TURN = 128;
const TURN_MS_MAX = 10;
const PARCEL_OVERHEAD_BYTES = 1024;
const OFFSET_BYTES = 8;

export function createPipeline(options: PipelineOptions, ports: PipelinePorts): Pipeline {
  const { books, clock, lanes, spool } = ports;
  /** Origins of spans that wait for their parents. */
  const waiting = new Map<string, Origin[]>();
  const sealing = new Set<Promise<void>>();
  let sealingBytes = 0;
  /** The span that is being added, and where it came from. */
  let adding: UnplacedRun | null = null;
  let addingOrigin: Origin | null = null;

  const assembler = createAssembler(options.assemble, { clock, emit });
  const batcher = createBatcher(
    {
      flushIntervalMs: options.flushIntervalMs,
      runsMax: () => Math.min(options.batchSize, ports.backendLimits().runsMax),
      bytesMax: () => Math.min(options.bufferBytesMax, ports.backendLimits().bytesMax),
    },
    { clock, seal },
  );

  function emit(run: TraceRun): void {
    const origins = originsOf(run);
    const fault = dottedOrderFault(run);
    if (fault === null) batcher.add(run, origins);
    else setAside(run, origins, fault); // PI5
  }

  function setAside(run: TraceRun, origins: readonly Origin[], fault: string): void {
    const reason = `its place breaks ${fault}`;
    const burying = buryAlone(run, reason)
      .then(() => origins.forEach(({ request, index }) => spool?.requestDone(request, [index])))
      .finally(() => sealing.delete(burying));
    sealing.add(burying);
  }

  async function buryAlone(run: TraceRun, reason: string): Promise<void> {
    const writer = createRunWriter();
    writer.write(run);
    const { tenant } = run;
    const rawBytes = writer.bytes();
    const raw = {
      tenant,
      createdMs: clock.now(),
      boundary: BOUNDARY,
      bytes: writer.close(),
      rawBytes,
      offsets: [0],
      first: 0,
    };
    const body = await compress(raw, "identity", options.zstdLevel);
    writer.release();
    await bury({ body, cause: "misplaced", reason });
  }

  function originsOf(run: TraceRun): readonly Origin[] {
    if (spool === null) return NO_ORIGINS;
    if (run.span === adding && addingOrigin !== null) return [addingOrigin];
    const key = keyOf(run.tenant.id, run.span);
    const origins = waiting.get(key) ?? NO_ORIGINS;
    waiting.delete(key);
    return origins;
  }

  function add(unplaced: UnplacedRun, origin: Origin | null): void {
    adding = unplaced;
    addingOrigin = origin;
    const arrival = assembler.add(unplaced);
    if (arrival === "duplicate") books.duplicates++;
    else if (arrival === "filtered") books.filtered++;
    if (origin === null) return;
    const key = keyOf(unplaced.tenant.id, unplaced);
    if (arrival === "waiting") waiting.set(key, [origin]);
    else if (arrival === "filtered") spool?.requestDone(origin.request, [origin.index]);
    else if (arrival === "duplicate") {
      const first = waiting.get(key);
      if (first === undefined) spool?.requestDone(origin.request, [origin.index]);
      else first.push(origin); // PI3
    }
  }

  function feedSome(
    spans: readonly Span[],
    from: number,
    context: RequestContext,
    request: StoredRequest | null,
  ): number {
    const started = clock.monotonic();
    let at = from;
    for (; at < spans.length; at++) {
      if (at - from >= SPANS_A_TURN && at % 16 === 0 && clock.monotonic() - started >= TURN_MS_MAX) break; // PI6
      const span = spans[at];
      if (span === undefined || (request !== null && isDone(request, at))) continue;
      try {
        add(ports.translate(span, context), request === null ? null : { request, index: at });
      } catch (error) {
        drop(error, request, at);
      }
    }
    return at;
  }

  /** A fault of ours in one span must cost that span only, now and after every restart (PI4). */
  function drop(error: unknown, request: StoredRequest | null, index: number): void {
    books.lost.untranslatable++;
    if (request !== null) spool?.requestDone(request, [index]);
    ports.log.error("span_lost", { reason: error instanceof Error ? (error.stack ?? error.message) : "unknown" });
  }

  async function feedRest(
    spans: readonly Span[],
    from: number,
    context: RequestContext,
    request: StoredRequest | null,
  ): Promise<void> {
    for (let at = from; at < spans.length;) {
      await nextTurn();
      at = feedSome(spans, at, context, request);
    }
  }

  function seal(batch: OpenBatch): void {
    const rawBytes = batch.writer.bytes();
    const { tenant, createdMs, writer } = batch;
    const encoding = ports.backendLimits().encoding;
    const raw = {
      tenant,
      createdMs,
      boundary: BOUNDARY,
      bytes: writer.close(),
      rawBytes,
      offsets: writer.offsets,
      first: 0,
    };
    const body = compress(raw, encoding, options.zstdLevel);
    sealingBytes += rawBytes;
    const keeping = keep(batch, body, rawBytes).finally(() => {
      sealingBytes -= rawBytes;
      sealing.delete(keeping);
    });
    sealing.add(keeping);
  }

  async function keep(batch: OpenBatch, compressed: Body | Promise<Body>, rawBytes: number): Promise<void> {
    const body = compressed instanceof Promise ? await compressed : compressed;
    batch.writer.release();
    ports.onBatch(batch.runs.length, rawBytes, body.bytes.length);
    if (spool === null) return lanes.offer(inMemory(body, []));
    try {
      const stored = await spool.appendBatch({ body, places: batch.runs, covers: batch.origins.flat() });
      lanes.offer(inSpool(stored, lanes.isTroubled(body.tenant.id) ? null : body));
    } catch (error) {
      ports.log.warning("batch_not_spooled", { reason: error instanceof Error ? error.message : "unknown" });
      lanes.offer(inMemory(body, batch.origins)); // PI2
    }
  }

  function inMemory(body: Body, origins: OpenBatch["origins"]): Parcel {
    const done = (part: Body): void => {
      for (const own of origins.slice(part.first, part.first + part.offsets.length))
        for (const { request, index } of own) spool?.requestDone(request, [index]);
    };
    return parcelOf(body.tenant.id, body.createdMs, body, done, (left) => inMemory(left, origins));
  }

  function inSpool(stored: StoredBatch, body: Body | null, first = 0, runs = stored.runs): Parcel {
    const done = (part: Body): void => spool?.batchDone(stored, part.first, part.offsets.length);
    // What was cut off and not sent stays in memory; the whole goes back to the spool, which has it.
    const leave = (left: Body): Parcel =>
      inSpool(stored, left.offsets.length === runs ? null : left, left.first, left.offsets.length);
    const parcel = parcelOf(stored.tenant.id, stored.createdMs, body, done, leave);
    return body === null ? { ...parcel, runs, load: () => loadStored(stored, first, runs) } : parcel;
  }

  async function loadStored(stored: StoredBatch, first: number, runs: number): Promise<Body | null> {
    const body = (await spool?.readBatch(stored)) ?? null;
    if (body !== null) return runs === stored.runs ? body : cut(body, first, first + runs, options.zstdLevel);
    books.lost.unreadable += runs;
    ports.log.error("batch_unreadable", { runs });
    spool?.batchDone(stored, first, runs);
    return null;
  }

  function parcelOf(
    tenantId: string,
    createdMs: number,
    body: Body | null,
    done: (part: Body) => void,
    leave: (body: Body) => Parcel,
  ): Parcel {
    return {
      tenantId,
      createdMs,
      runs: body?.offsets.length ?? 0,
      heldBytes: body === null ? 0 : body.bytes.length + OFFSET_BYTES * body.offsets.length + PARCEL_OVERHEAD_BYTES,
      load: () => Promise.resolve(body),
      leave,
      delivered(part) {
        books.delivered += part.offsets.length;
        done(part);
      },
      async refused(refusal) {
        await bury(refusal);
        done(refusal.body);
      },
    };
  }

  async function bury({ body, cause, reason }: Refusal): Promise<void> {
    const runs = body.offsets.length;
    const fields = { runs, cause, reason, tenant: body.tenant.id.slice(0, 8) };
    try {
      if (ports.deadLetters === null) throw new Error("no folder for dead letters is set");
      await ports.deadLetters.write(body, cause, reason);
      books.deadLettered[cause] += runs;
      ports.log.warning("runs_given_up", fields);
    } catch (error) {
      books.lost[cause] += runs;
      ports.log.error("runs_lost", { ...fields, why: error instanceof Error ? error.message : "unknown" });
    }
  }

  return {
    feed(spans, context, request) {
      const at = feedSome(spans, 0, context, request);
      return at < spans.length ? feedRest(spans, at, context, request) : undefined;
    },
    resend(batch) {
      for (let at = 0; at < batch.runs; at++) {
        const first = at;
        while (at < batch.runs && !isDone(batch, at)) at++;
        if (at > first) lanes.offer(inSpool(batch, null, first, at - first));
      }
    },
    recall: (decision) => assembler.recall(decision),
    heldBytes: () => assembler.waitingBytes() + batcher.heldBytes() + sealingBytes,
    heldBytesOf: (tenantId) => assembler.waitingBytesOf(tenantId) + batcher.heldBytesOf(tenantId),
    stats: () => assembler.stats(),
    async flush() {
      assembler.drain();
      batcher.flush();
      while (sealing.size > 0) await Promise.all(sealing);
    },
    async giveUp(parcels) {
      for (const parcel of parcels) {
        const body = await parcel.load();
        if (body !== null) await parcel.refused({ body, cause: "shut_down", reason: "not delivered before the end" });
      }
    },
  };
}

const NO_ORIGINS: readonly Origin[] = Object.freeze([]);

function keyOf(tenantId: string, span: { readonly traceId: string; readonly spanId: string }): string {
  return span.traceId + span.spanId + tenantId;
}
