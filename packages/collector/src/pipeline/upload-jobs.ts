// Upload jobs: turns sealed batches into jobs for the tenant queues, from memory or from the spool, and marks spooled
// spans and runs done when a job ends.
import type { Log } from "@holdpoint/base/log/log.ts";
import { type Body, cut } from "../encode/batch-body.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { SpanOrigin } from "../shared/span-origin.ts";
import { isDone, type Spool, type StoredBatch } from "../spool/port.ts";
import type { UploadJob } from "../upload/upload-job.ts";
import type { DeadLetter } from "./dead-lettering.ts";

export interface UploadJobsPorts {
  readonly log: Log;
  readonly accounting: SpanAccounting;
  /** null in memory mode. */
  readonly spool: Spool | null;
  readonly deadLetter: DeadLetter;
}

export interface UploadJobs {
  /** `origins[i]`: the spooled spans of run i. Its delivery or refusal marks them done. */
  readonly inMemory: (body: Body, origins: readonly (readonly SpanOrigin[])[]) => UploadJob;
  /** `body` null: the job reads the batch from the spool before the upload. */
  readonly inSpool: (stored: StoredBatch, body: Body | null) => UploadJob;
  /** One job for each range of runs that an earlier process did not deliver. */
  readonly recovered: (stored: StoredBatch) => UploadJob[];
}

interface JobParts {
  readonly tenantId: string;
  readonly createdMs: number;
  readonly done: (part: Body) => void;
  readonly remainder: (body: Body) => UploadJob;
}

/** Runs `first` to `first + runs` of a stored batch. */
interface Range {
  readonly first: number;
  readonly runs: number;
}

const JOB_OVERHEAD_BYTES = 1024;
const OFFSET_BYTES = 8;

export function createUploadJobs(ports: UploadJobsPorts): UploadJobs {
  const { accounting, deadLetter, spool } = ports;

  function inMemory(body: Body, origins: readonly (readonly SpanOrigin[])[]): UploadJob {
    const done = (part: Body): void => {
      for (const own of origins.slice(part.first, part.first + part.offsets.length))
        for (const { request, index } of own) spool?.requestDone(request, [index]);
    };
    const remainder = (left: Body): UploadJob => inMemory(left, origins);
    return buildJob(body, { tenantId: body.tenant.id, createdMs: body.createdMs, done, remainder });
  }

  function inSpool(stored: StoredBatch, body: Body | null, range: Range): UploadJob {
    const done = (part: Body): void => spool?.batchDone(stored, part.first, part.offsets.length);
    // An unsent part of a bisected batch stays in memory. A whole batch leaves memory: the spool holds it.
    const remainder = (left: Body): UploadJob => {
      const runs = left.offsets.length;
      return inSpool(stored, runs === range.runs ? null : left, { first: left.first, runs });
    };
    const job = buildJob(body, { tenantId: stored.tenant.id, createdMs: stored.createdMs, done, remainder });
    return body === null ? { ...job, runs: range.runs, load: () => loadStored(stored, range) } : job;
  }

  async function loadStored(stored: StoredBatch, { first, runs }: Range): Promise<Body | null> {
    const body = (await spool?.readBatch(stored)) ?? null;
    if (body !== null) return runs === stored.runs ? body : cut(body, first, first + runs);
    accounting.lost.unreadable += runs;
    ports.log.error("batch_unreadable", { runs });
    spool?.batchDone(stored, first, runs);
    return null;
  }

  function buildJob(body: Body | null, { tenantId, createdMs, done, remainder }: JobParts): UploadJob {
    return {
      tenantId,
      createdMs,
      runs: body?.offsets.length ?? 0,
      heldBytes: body === null ? 0 : body.bytes.length + OFFSET_BYTES * body.offsets.length + JOB_OVERHEAD_BYTES,
      load: () => Promise.resolve(body),
      remainder,
      delivered(part) {
        accounting.delivered += part.offsets.length;
        done(part);
      },
      async refused(refusal) {
        if (await deadLetter(refusal)) done(refusal.body);
      },
    };
  }

  return {
    inMemory,
    inSpool: (stored, body) => inSpool(stored, body, { first: 0, runs: stored.runs }),
    recovered: (stored) => pendingRanges(stored).map((range) => inSpool(stored, null, range)),
  };
}

function pendingRanges(batch: StoredBatch): Range[] {
  const ranges: Range[] = [];
  for (let at = 0; at < batch.runs; at++) {
    const first = at;
    while (at < batch.runs && !isDone(batch, at)) at++;
    if (at > first) ranges.push({ first, runs: at - first });
  }
  return ranges;
}
