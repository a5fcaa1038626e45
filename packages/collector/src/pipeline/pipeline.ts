// Pipeline: connects the steps for both modes: join → translate → assemble → batch → seal → delivery.
// Invariants:
//   - Every span passed to feed() counts as delivered, dead-lettered, lost, filtered or duplicate; every log
//     record as joined, not stored, or with the run that it became.
//   - With a spool, a run enters its tenant queue only after its batch is in the spool. A batch that the spool rejects
//     uploads from memory, because delivery frees spool space.
//   pipeline.3. Spans of a spooled request that yield no run (filtered, duplicate) get their marks at once. A duplicate
//        of a waiting span gets its mark with that span, a log record with the run that it joins, a
//        record that repeats another at once.
//   - A span that breaks translation counts as lost, with a log line. Other spans are unaffected.
//   pipeline.5. A run whose place breaks a backend rule goes to the dead letters: the backend would refuse its whole
//        batch.
//   - flush() ends the wait of log records in memory mode only: in durable mode they join their span after the restart,
//     like any record of the spool.
//   pipeline.6. No request blocks the event loop for longer than one slice: a large request yields between slices of
//        spans. No quiet time of a trace ends between two slices: it is measured until the start of
//        the oldest request that is fed in slices.
// The pieces:
//   feed-items.ts       passes the spans or log records of one request on, in slices
//   offer-items.ts      passes items through the sampler
//   place-span.ts       translates one span, adds it to its trace, counts the outcome
//   batch.ts            collects the runs of one tenant until a batch is full or old enough
//   seal-batch.ts       compresses a batch and hands it to the delivery
//   delivery.ts         spools a sealed batch, and offers it to its tenant queue
//   upload-jobs.ts      jobs for the tenant queues; marks spans and runs done when a job ends
//   dead-lettering.ts   writes refused runs to the dead letters and counts them
//   durable-intake.ts   intake of durable mode: spool, acknowledge, feed
//   backlog.ts          spooled requests that wait for room in memory
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { createAssembler, type AssembleStats, type Decision } from "../assemble/assemble.ts";
import type { AssembleLimits } from "../assemble/trace-table.ts";
import { dottedOrderFault } from "../assemble/dotted-order.ts";
import { createDroppedSpans } from "../logs/dropped-spans.ts";
import { isFailedRecord } from "../logs/failed-record.ts";
import { isRecordMark } from "../logs/emit-records.ts";
import { createRecordJoin } from "../logs/join-records.ts";
import type { JoinLimits } from "../logs/join-table.ts";
import { createTraceSampler, NO_SAMPLING, type SamplerOptions, type SamplerStats } from "../sample/trace-sampler.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import type { RequestContext, TraceRun } from "../shared/trace-run.ts";
import type { Spool } from "../spool/port.ts";
import type { Translate } from "../translate/translate.ts";
import type { BackendLimits } from "../upload/backend/port.ts";
import { createBatcher } from "./batch.ts";
import type { Delivery } from "./delivery.ts";
import { createItemFeed, type FeedStart, type Items } from "./feed-items.ts";
import { createPlacing, ONLY_RECORDS } from "./place-span.ts";
import { createSealer } from "./seal-batch.ts";

export interface PipelineOptions {
  readonly batchSize: number;
  readonly bufferBytesMax: number;
  readonly flushIntervalMs: number;
  readonly assemble: AssembleLimits;
  readonly join: JoinLimits;
  /** null: every trace is kept. */
  readonly sample: SamplerOptions | null;
}

export interface PipelinePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly translate: Translate;
  readonly accounting: SpanAccounting;
  readonly backendLimits: () => BackendLimits;
  /** Marks spans of the spool done; null in memory mode. */
  readonly marks: Pick<Spool, "requestDone"> | null;
  readonly delivery: Delivery;
  /** A run has its place and goes into a batch. */
  readonly onRun: (run: TraceRun) => void;
}

export interface PipelineStats extends AssembleStats, SamplerStats {
  /** Log records that wait for their span. */
  readonly waitingRecords: number;
}

export interface Pipeline {
  /**
   * Resolves when all spans are in their trees, all log records in the join. Small requests finish before it returns.
   */
  readonly feed: (items: Items, context: RequestContext, request: StoredRequest | null) => void | Promise<void>;
  /** The place of a run that an earlier process has emitted, or the mark of a log record in it. Comes before the first feed. */
  readonly recall: (decision: Decision) => void;
  /** Bytes in memory between the receiver and the delivery. */
  readonly heldBytes: () => number;
  readonly countHeldBytes: (tenantId: string) => number;
  readonly stats: () => PipelineStats;
  /** Resolves when trees and open batches are empty and the delivery has every run. */
  readonly flush: () => Promise<void>;
}

export function createPipeline(options: PipelineOptions, ports: PipelinePorts): Pipeline {
  const { accounting, backendLimits, clock, log, marks, translate } = ports;
  const sealer = createSealer(ports);
  const batcher = createBatcher(
    {
      flushIntervalMs: options.flushIntervalMs,
      runsMax: () => Math.min(options.batchSize, backendLimits().runsMax),
      bytesMax: () => Math.min(options.bufferBytesMax, backendLimits().bytesMax),
    },
    { clock, seal: sealer.seal },
  );
  const feeds = new Set<FeedStart>();
  const quietUntil = (): number => feeds.values().next().value?.startMs ?? clock.monotonic(); // pipeline.6
  const assembler = createAssembler(options.assemble, {
    clock,
    quietUntil,
    emit(run) {
      if (run.isAdded === true) accounting.added++;
      const fault = dottedOrderFault(run);
      if (fault === null) {
        ports.onRun(run);
        batcher.add(run);
      } else sealer.rejectRun(run, fault); // pipeline.5
    },
  });
  const place = createPlacing({ accounting, assembler, log, marks, translate });
  const join = createRecordJoin(options.join, {
    clock,
    isKnown: (tenantId, traceId, spanId) => assembler.isKnown(tenantId, traceId, spanId),
    emit({ span, context, ...records }) {
      place(span, context, ONLY_RECORDS, records);
    },
  });
  const { sample } = options;
  const sampler = sample === null ? null : createTraceSampler(sample, { clock, quietUntil, isFailedRecord });
  const dropped = createDroppedSpans(options.join, clock);
  const feed = createItemFeed({ accounting, clock, dropped, feeds, join, place, marks, sampler });

  return {
    feed: (items, context, request) => feed({ items, context, request }),
    recall(decision) {
      const { dottedOrder, spanId, tenant, traceId } = decision;
      if (isRecordMark(dottedOrder)) return join.recall(tenant, traceId, spanId, dottedOrder);
      assembler.recall(decision);
      sampler?.recall(decision.tenant, decision.traceId);
    },
    heldBytes: () =>
      assembler.waitingBytes() +
      batcher.heldBytes() +
      sealer.heldBytes() +
      join.waitingBytes() +
      (sampler?.waitingBytes() ?? 0),
    countHeldBytes: (tenantId) =>
      assembler.countWaitingBytes(tenantId) + batcher.countHeldBytes(tenantId) + join.countWaitingBytes(tenantId),
    stats: () => ({
      ...assembler.stats(),
      waitingRecords: join.waitingRecords(),
      ...(sampler?.stats() ?? NO_SAMPLING),
    }),
    async flush() {
      sampler?.pause();
      if (marks === null) sampler?.drain(); // in durable mode the undecided wait on in the spool
      if (marks === null) join.drain();
      else join.pause(); // the records wait on in the spool
      assembler.drain();
      batcher.flush();
      await sealer.settled();
    },
  };
}
