// Worker processing: decode to compress in worker threads. The receiving thread splits each request by trace, and owns
// what there is one of: sockets, spool, tenant queues, uploads, dead letters, counters, metrics, log.
// Invariants:
//   worker-processing.1. A trace belongs to one worker (owner.1).
//   worker-processing.2. A request is refused when one of its shares is: no other share of it goes on.
//   worker-processing.3. A worker that crashes starts again, after a wait that doubles. In durable mode it first gets
//        the places of its traces back, then the shares that were open, one at a time.
// The pieces:
//   worker-link.ts     one worker: open shares, bytes, counts
//   open-share.ts      a share until every item of it has left its worker
//   thread.ts          a thread of Node
//   outbox.ts          messages of one turn, posted as a list
//   messages.ts        the messages
//   count-changes.ts   counters of a worker, as differences
//   worker.ts          the entry of the thread
//   shares.ts          the work of the thread
import { setImmediate as nextTurn } from "node:timers/promises";
import { backoffMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Decision } from "../assemble/assemble.ts";
import { ownerOfHex } from "../otlp/split/owner.ts";
import type { Share } from "../otlp/split/rules.ts";
import { split } from "../otlp/split/split.ts";
import type { PipelineStats } from "../pipeline/pipeline.ts";
import type { Processing } from "../pipeline/processing.ts";
import { decompress } from "../receive/decode-body.ts";
import { type BodyOf, type ReadItems, WorkerCrashedError } from "../receive/read-items.ts";
import { NO_SAMPLING } from "../sample/trace-sampler.ts";
import type { Spool } from "../spool/port.ts";
import { isSessionTrace } from "../logs/session-span.ts";
import type { ShareRead, WorkerSetup } from "./messages.ts";
import { newShare, type OpenShare, pendingIn, positionsOf } from "./open-share.ts";
import type { StartThread, Thread } from "./thread.ts";
import type { LinkPorts } from "./link-state.ts";
import { createWorkerLink, type WorkerLink } from "./worker-link.ts";

export interface WorkersPorts extends Omit<LinkPorts, "spool"> {
  readonly clock: Clock;
  readonly random: () => number;
  readonly startThread: StartThread;
  /** null in memory mode. */
  readonly spool: Pick<Spool, "requestDone" | "readRequest" | "decisions"> | null;
}

interface RunningWorker {
  readonly number: number;
  readonly link: WorkerLink;
  thread: Thread | null;
  starts: number;
  startedMs: number;
  replays: OpenShare[];
  cancelRestart: () => void;
}

interface Workers {
  readonly all: readonly RunningWorker[];
  readonly ports: WorkersPorts;
  readonly setup: Omit<WorkerSetup, "limits">;
  shareCount: number;
  restarts: number;
  stopping: boolean;
}

const RESTART_MS = 100;
const RESTART_MS_MAX = 30_000;
/** A worker that ran for so long begins with the shortest wait again. */
const HEALTHY_MS = 60_000;
const DECISIONS_A_MESSAGE = 1000;

export function createWorkerProcessing(
  count: number,
  setup: Omit<WorkerSetup, "limits">,
  ports: WorkersPorts,
): Processing {
  const all = Array.from({ length: count }, (_, number): RunningWorker => {
    const link = createWorkerLink(number, ports);
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

/** Events of agents without spans are at the worker of their tenant (split.2). */
function ownerOfDecision({ tenant, traceId }: Decision, count: number): number {
  return ownerOfHex(isSessionTrace(traceId, tenant) ? tenant : traceId, count);
}

async function splitBody({ all }: Workers, body: Buffer, { context, format, signal }: BodyOf): Promise<Share[]> {
  const tenantOwner = ownerOfHex(context.tenant.id, all.length);
  const splitting = split(body, format, { signal, workers: all.length, tenantOwner });
  for (;;) {
    const step = splitting.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

/** A share with its worker. */
interface Placed {
  readonly share: OpenShare;
  readonly link: WorkerLink;
}

function openShare(workers: Workers, one: Share, of: BodyOf, earlier: OpenShare | null = null): Placed {
  const { bytes, indexes, worker } = one;
  const { context, format, signal } = of;
  const { link } = workers.all[worker] ?? fail(worker);
  const { apiKey, id, tenantId } = context.tenant;
  const share = newShare(++workers.shareCount, { signal, tenantId: id, bytes: bytes.length, indexes }, earlier);
  const { project, receivedMs } = context;
  const tenant = { apiKey, tenantId };
  link.read(share, { kind: "read", share: share.id, bytes, format, signal, tenant, project, receivedMs });
  return { share, link };
}

function fail(worker: number): never {
  throw new Error(`there is no worker ${worker}`);
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

/** Starts the thread of a worker. Rejects when it ends before it is ready the first time. */
function startWorker(workers: Workers, worker: RunningWorker): Promise<void> {
  const { ports, setup } = workers;
  const { link, number } = worker;
  return new Promise((resolve, reject) => {
    let isReady = false;
    worker.startedMs = ports.clock.monotonic();
    worker.thread = ports.startThread(
      number,
      { ...setup, limits: ports.backendLimits() },
      {
        onMessages(messages) {
          if (!isReady) {
            isReady = true;
            resolve();
          }
          link.take(messages);
        },
        onCrash(reason) {
          worker.thread = null;
          if (!isReady && worker.starts === 0)
            return reject(new Error(`a worker of the collector did not start: ${reason}`));
          onCrash(workers, worker, reason);
        },
      },
    );
    link.attach(worker.thread);
  });
}

/** worker-processing.3. */
function onCrash(workers: Workers, worker: RunningWorker, reason: string): void {
  const { clock, log, random } = workers.ports;
  const { link, number } = worker;
  const items = link.state.pending;
  worker.replays.push(...link.detach());
  if (workers.stopping) return;
  workers.restarts++;
  if (clock.monotonic() - worker.startedMs >= HEALTHY_MS) worker.starts = 0;
  worker.starts++;
  const pauseMs = backoffMs(worker.starts, RESTART_MS, RESTART_MS_MAX, random);
  log.error("worker_crashed", { worker: number, reason, items, restart_ms: Math.round(pauseMs) });
  worker.cancelRestart = clock.after(pauseMs, () => void restart(workers, worker));
}

async function restart(workers: Workers, worker: RunningWorker): Promise<void> {
  await startWorker(workers, worker);
  await catchUp(workers, worker);
}

/** A share whose worker crashed before its feed. */
function replayLater(workers: Workers, link: WorkerLink, share: OpenShare): void {
  const worker = workers.all.find((one) => one.link === link);
  worker?.replays.push(share);
  if (worker !== undefined && worker.thread !== null && link.state.isOpen) void catchUp(workers, worker);
}

async function catchUp(workers: Workers, worker: RunningWorker): Promise<void> {
  worker.link.shut();
  try {
    await replay(workers, worker);
    worker.link.open();
  } catch {
    return; // it crashed again: onCrash() has planned the next start
  }
}

/** Places first, then the shares, one at a time: a share that crashes its worker is alone then. */
async function replay(workers: Workers, worker: RunningWorker): Promise<void> {
  const { spool } = workers.ports;
  const { link, number, replays, thread } = worker;
  if (spool === null) return;
  await link.delivered();
  const own: Decision[] = [];
  for (const decision of await spool.decisions())
    if (ownerOfDecision(decision, workers.all.length) === number) own.push(decision);
  const isCurrent = (): boolean => worker.thread === thread && thread !== null;
  if (!isCurrent()) throw new WorkerCrashedError(number);
  for (let at = 0; at < own.length; at += DECISIONS_A_MESSAGE)
    link.direct(() => link.recall({ kind: "recall", decisions: own.slice(at, at + DECISIONS_A_MESSAGE) }));
  for (let [earlier] = replays; earlier !== undefined; [earlier] = replays) {
    const again = await storedShare(workers, earlier, number);
    if (!isCurrent()) throw new WorkerCrashedError(number);
    replays.shift();
    if (again === null) loseUnreadable(workers, earlier);
    else await replayShare(workers, link, again, earlier);
  }
}

interface StoredShare {
  readonly one: Share;
  readonly of: BodyOf;
}

/** Reads a share back from the spool; null when it is damaged. */
async function storedShare(workers: Workers, { stored }: OpenShare, number: number): Promise<StoredShare | null> {
  const record = stored === null ? null : ((await workers.ports.spool?.readRequest(stored)) ?? null);
  if (record === null) return null;
  const limits = { bytesMax: Infinity, grow: () => true }; // the receiver has checked the limits
  const body = await decompress(record.wire, record.encoding, limits);
  const { format, project, receivedMs, signal, tenant } = record;
  const of: BodyOf = { format, signal, context: { tenant, project, receivedMs } };
  const one = (await splitBody(workers, body, of)).find(({ worker }) => worker === number);
  return one === undefined ? null : { one, of };
}

function loseUnreadable({ ports }: Workers, share: OpenShare): void {
  const items = pendingIn(share);
  ports.accounting.lost.unreadable += items.length;
  ports.log.error("request_unreadable", { spans: items.length, reason: "damaged" });
  if (share.stored !== null) ports.spool?.requestDone(share.stored, items);
}

async function replayShare(workers: Workers, link: WorkerLink, again: StoredShare, earlier: OpenShare): Promise<void> {
  let placed: Placed | null = null;
  link.direct(() => (placed = openShare(workers, again.one, again.of, earlier)));
  const share = (placed as Placed | null)?.share;
  if (share === undefined) return;
  await share.reading.promise;
  link.direct(() => link.feed(share));
  await share.feeding.promise;
}

/** null entries: a worker that has not reported yet. */
function sumOfStats(all: readonly (PipelineStats | null)[]): PipelineStats {
  const sum = { ...NO_STATS };
  for (const stats of all)
    for (const name of Object.keys(sum) as (keyof PipelineStats)[]) sum[name] += stats?.[name] ?? 0;
  return sum;
}

const NO_STATS: { -readonly [Name in keyof PipelineStats]: number } = {
  waiting: 0,
  waitingBytes: 0,
  traces: 0,
  nodes: 0,
  duplicates: 0,
  filtered: 0,
  amended: 0,
  reRooted: 0,
  evicted: 0,
  waitingRecords: 0,
  ...NO_SAMPLING,
};
