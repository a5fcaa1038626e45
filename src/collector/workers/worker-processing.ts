// Worker processing: decode to compress in worker threads. The receiving thread splits each request by trace, and owns
// everything that exists once: sockets, spool, tenant queues, uploads, dead letters, counters, metrics, log.
// Invariants:
//   worker-processing.1. A trace belongs to one worker (owner.1).
//   worker-processing.2. A request is refused when one of its shares is: no other share of it goes on.
// The pieces:
//   running-worker.ts  the workers of the process, and a share on its way to one
//   restart-worker.ts  start and restart of a worker, with the replay of its shares
//   worker-link.ts     one worker: open shares, bytes, counts
//   open-share.ts      a share until every item of it has left its worker
//   thread.ts          a thread of Node
//   outbox.ts          messages of one turn, posted as a list
//   messages.ts        the messages
//   count-changes.ts   counters of a worker, as differences
//   worker.ts          the entry of the thread
//   shares.ts          the work of the thread
import { NO_COUNTS } from "../assemble/trace-table.ts";
import type { PipelineStats } from "../pipeline/pipeline.ts";
import type { Processing } from "../pipeline/processing.ts";
import type { BodyOf, ReadItems } from "../receive/read-items.ts";
import { NO_SAMPLING } from "../sample/trace-sampler.ts";
import type { ShareRead, WorkerSetup } from "./messages.ts";
import { type OpenShare, positionsOf } from "./open-share.ts";
import { replayLater, startWorker } from "./restart-worker.ts";
import {
  openShare,
  ownerOfDecision,
  type RunningWorker,
  splitBody,
  type Workers,
  type WorkersPorts,
} from "./running-worker.ts";
import { createWorkerLink, type WorkerLink } from "./worker-link.ts";

export function createWorkerProcessing(
  count: number,
  setup: Omit<WorkerSetup, "limits">,
  ports: WorkersPorts,
): Processing {
  const roomListeners: (() => void)[] = [];
  const onRoom = (): void => roomListeners.forEach((listener) => listener());
  const all = Array.from({ length: count }, (_, number): RunningWorker => {
    const link = createWorkerLink(number, { ...ports, onRoom });
    return { number, link, thread: null, starts: 0, startedMs: 0, replays: [], cancelRestart: () => undefined };
  });
  const workers: Workers = { all, ports, setup, shareCount: 0, restarts: 0, stopping: false };
  const sum = (read: (link: WorkerLink) => number): number => all.reduce((total, { link }) => total + read(link), 0);
  return {
    read: (body, of) => readItems(workers, body, of),
    recall(decision) {
      all[ownerOfDecision(decision, count)]?.link.recall({ kind: "recall", decisions: [decision] });
    },
    heldBytes: () => sum((link) => link.heldBytes()),
    heldBytesOf: (tenantId) => sum((link) => link.heldBytesOf(tenantId)),
    onRoom: (listener) => void roomListeners.push(listener),
    stats: () => sumOfStats(all.map(({ link }) => link.state.stats)),
    async flush() {
      await Promise.all(all.map(({ link }) => link.flush()));
    },
    async start() {
      await Promise.all(all.map((worker) => startWorker(workers, worker).then(worker.link.open)));
    },
    async stop() {
      workers.stopping = true;
      for (const { cancelRestart } of all) cancelRestart();
      await Promise.all(all.map(async ({ thread }) => thread?.end()));
    },
    threads: () => Promise.all(all.map(async ({ thread }) => (await thread?.cpuSeconds()) ?? 0)),
    restarts: () => workers.restarts,
  };
}

async function readItems(workers: Workers, body: Buffer, of: BodyOf): Promise<ReadItems> {
  const placed = (await splitBody(workers, body, of)).map((one) => openShare(workers, one, of));
  const results = await Promise.allSettled(placed.map(({ share }) => share.reading.promise));
  const reads: ShareRead[] = [];
  for (const result of results) {
    if (result.status === "fulfilled") reads.push(result.value);
    else {
      for (const { link, share } of placed) link.discard(share); // worker-processing.2
      throw result.reason;
    }
  }
  const rejectedAt = reads.flatMap((read, at) => rejectedIn(read, placed[at]?.share)).toSorted((a, b) => a - b);
  return {
    signal: of.signal,
    items: reads.reduce((total, { items }) => total + items, 0),
    rejected: rejectedAt.length,
    reason: reads.find(({ reason }) => reason !== "")?.reason ?? "",
    repairedTexts: reads.reduce((total, { repairedTexts }) => total + repairedTexts, 0),
    isNothingStored:
      reads.every(({ isNothingStored, items }) => isNothingStored || items === 0) &&
      reads.some(({ isNothingStored }) => isNothingStored),
    feed(request) {
      for (const [at, { link, share }] of placed.entries()) {
        const read = reads[at];
        if (read === undefined) continue;
        share.stored = request;
        share.positions = positionsOf(share.indexes, read, rejectedAt);
        if (!link.feed(share)) replayLater(workers, link, share);
      }
    },
    discard() {
      for (const { link, share } of placed) link.discard(share);
    },
  };
}

function rejectedIn({ rejectedAt }: ShareRead, share: OpenShare | undefined): number[] {
  return (rejectedAt ?? []).map((at) => share?.indexes[at] ?? at);
}

/** null entries: a worker that has not reported yet. */
function sumOfStats(all: readonly (PipelineStats | null)[]): PipelineStats {
  const sum = { ...NO_STATS };
  for (const stats of all)
    for (const name of Object.keys(sum) as (keyof PipelineStats)[]) sum[name] += stats?.[name] ?? 0;
  return sum;
}

const NO_STATS: { -readonly [Name in keyof PipelineStats]: number } = {
  ...NO_COUNTS,
  traces: 0,
  waitingRecords: 0,
  ...NO_SAMPLING,
};
