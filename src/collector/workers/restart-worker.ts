// Restart of a worker: start of its thread, and after a crash the replay of its open shares.
// Invariant:
//   restart-worker.1. A worker that crashes starts again, after a wait that doubles. In durable mode it first gets
//        the places of its traces back, then the shares that were open, one at a time.
import { backoffMs } from "../../base/backoff.ts";
import type { Decision } from "../assemble/assemble.ts";
import type { Share } from "../otlp/split/rules.ts";
import { decompress } from "../receive/decode-body.ts";
import { type BodyOf, WorkerCrashedError } from "../receive/read-items.ts";
import { type OpenShare, pendingIn } from "./open-share.ts";
import {
  openShare,
  ownerOfDecision,
  type Placed,
  type RunningWorker,
  splitBody,
  type Workers,
} from "./running-worker.ts";
import type { WorkerLink } from "./worker-link.ts";

const RESTART_MS = 100;
const RESTART_MS_MAX = 30_000;
/** A worker that ran for so long begins with the shortest wait again. */
const HEALTHY_MS = 60_000;
const DECISIONS_A_MESSAGE = 1000;

/** Starts the thread of a worker. Rejects when it ends before it is ready the first time. */
export function startWorker(workers: Workers, worker: RunningWorker): Promise<void> {
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

/** restart-worker.1. */
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
export function replayLater(workers: Workers, link: WorkerLink, share: OpenShare): void {
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
