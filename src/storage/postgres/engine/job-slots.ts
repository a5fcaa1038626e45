// Job slots: the slots that fetches of jobs reserve, and the state of the queue (engine/queue.1).
import type { WorkerPool } from "graphile-worker";
import type { Pool } from "pg";
import type { QueueConsumer, Slot } from "../../../agent/ports/ports.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log/log.ts";

export interface QueuePorts {
  readonly pool: () => Pool;
  readonly clock: Clock;
  readonly log: Log;
  /** Names the pool whose id locks the jobs, for the worker that takes over. */
  readonly onPool: (poolId: string) => void;
  /** Calls back with the thread of each run that enters the queue. */
  readonly onQueued: (callback: (threadId: string) => void) => void;
}

type Gate = (flags: string[] | null) => void;

export interface JobQueue {
  readonly ports: QueuePorts;
  consumer: QueueConsumer | null;
  workers: WorkerPool | null;
  stopping: boolean;
  /** Slots reserved for fetches in progress. */
  readonly reserved: Slot[];
  /** Fetches that wait for a slot. */
  readonly gates: Gate[];
  /** False once a fetch found the queue empty. */
  maybeMore: boolean;
  stopRepair: () => void;
  /** Jobs that graphile-worker delivered and that are not complete. */
  readonly handedOut: Set<string>;
  /** Claims at notices in progress (engine/queue.9). */
  readonly claims: Set<Promise<unknown>>;
  suspectUntil: number;
  /** Pools whose jobs to unlock: one that ended, or ours after it failed to mark a job as complete. */
  readonly toUnlock: Set<string>;
}

/** Signals graphile-worker to fetch nothing. */
const NONE = ["none"];

const CLAIM_FIRST_MS = 3;

/** Before a fetch: null once it has a slot. */
export function reserveSlot(queue: JobQueue): string[] | null | Promise<string[] | null> {
  return queue.maybeMore ? slotNow(queue) : slotAfterClaims(queue);
}

/** engine/queue.10. */
async function slotAfterClaims(queue: JobQueue): Promise<string[] | null> {
  await new Promise<void>((resolve) => void queue.ports.clock.after(CLAIM_FIRST_MS, resolve));
  await Promise.all(queue.claims);
  return slotNow(queue);
}

function slotNow(queue: JobQueue): string[] | null | Promise<string[] | null> {
  if (queue.stopping || queue.consumer === null) return NONE;
  const slot = queue.consumer.reserve();
  if (slot === null) return new Promise((resolve) => queue.gates.push(resolve)); // engine/queue.1
  queue.reserved.push(slot);
  return null;
}

/** Lets fetches through for the slots that are free; all of them when the queue stops. */
export function openGates({ gates, stopping, consumer, reserved }: JobQueue): void {
  while (gates.length > 0) {
    const slot = stopping ? null : (consumer?.reserve() ?? null);
    if (slot === null && !stopping) return;
    if (slot !== null) reserved.push(slot);
    gates.shift()?.(slot === null ? NONE : null);
  }
}

/** After a fetch without a job. */
export function releaseSlot(queue: JobQueue): void {
  queue.maybeMore = false;
  queue.reserved.pop()?.release();
}
