// Lanes: one queue a key between sealing and uploading, so that a key in trouble delays nobody else.
// Invariants:
//   LN1. The parcels of a lane are started in the order in which they came.
//   LN2. A lane whose cycle ended without delivery rests: RETRY_COOLDOWN_MS, doubled each time up to COOLDOWN_MS_MAX, or as
//        long as the backend asked for. Afterwards one cycle at a time is tried until one succeeds.
//   LN3. A lane never holds more than half of the slots; lanes in trouble together never more than a quarter.
//   LN4. Every parcel is settled once for each of its runs: delivered, given up, or still here.
import type { Clock } from "../../base/clock.ts";
import { createQueue, type Queue } from "../../base/queue.ts";
import type { SendOutcome } from "./backend/port.ts";
import type { Body } from "../encode/batch-body.ts";
import { giveBack } from "../shared/free-buffer.ts";
import { upload, type Refusal, type UploadPolicy, type UploadResult } from "./upload.ts";

/** A sealed batch, or what is left of one, waiting to be sent. */
export interface Parcel {
  readonly tenantId: string;
  readonly createdMs: number;
  readonly runs: number;
  /** Bytes in memory while it waits: 0 when they are in the spool. */
  readonly heldBytes: number;
  /** null: it cannot be read any more (and has been booked as such). */
  readonly load: () => Promise<Body | null>;
  /** What was not sent comes back as a parcel with the same ticket. */
  readonly leave: (body: Body) => Parcel;
  readonly delivered: (body: Body) => void;
  /** Given up: goes to the dead letters. */
  readonly refused: (refusal: Refusal) => Promise<void>;
}

export interface LaneOptions extends UploadPolicy {
  readonly inflightMax: number;
  readonly retryCooldownMs: number;
  /** Age at which a parcel is given up; Infinity in memory mode. */
  readonly ageMaxMs: number;
}

export interface LanePorts {
  readonly send: (body: Body, signal: AbortSignal) => Promise<SendOutcome>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onRetry: () => void;
  /** A lane begins to rest, or recovers (reason null). */
  readonly onRest: (tenantId: string, reason: string | null, restMs: number) => void;
  /** Something was settled: there may be room again. */
  readonly onProgress: () => void;
}

export interface Lanes {
  readonly offer: (parcel: Parcel) => void;
  readonly heldBytes: () => number;
  readonly heldBytesOf: (tenantId: string) => number;
  readonly waiting: () => number;
  readonly inflight: () => number;
  /** How many keys rest at the moment. */
  readonly resting: () => number;
  readonly isTroubled: (tenantId: string) => boolean;
  /** Gives resting lanes one more cycle; resolves when nothing waits and nothing is under way, or at the signal. */
  readonly drain: (signal: AbortSignal) => Promise<void>;
  /** Ends all cycles and takes out everything that is left. */
  readonly empty: () => Promise<Parcel[]>;
}

interface Lane {
  readonly tenantId: string;
  readonly queue: Queue<Parcel>;
  heldBytes: number;
  cycles: number;
  troubled: boolean;
  cooldownMs: number;
  cancelRest: (() => void) | null;
}

const COOLDOWN_MS_MAX = 300_000;

export function createLanes(options: LaneOptions, ports: LanePorts): Lanes {
  const lanes = new Map<string, Lane>();
  const ended = new AbortController();
  const waitingForSlot: { readonly asTroubled: boolean; readonly go: () => void }[] = [];
  const idleWatchers = new Set<() => void>();
  let slots = 0;
  let troubledSlots = 0;
  let cycles = 0;
  let waiting = 0;
  let heldBytes = 0;
  const perLaneMax = Math.max(1, Math.ceil(options.inflightMax / 2));
  const troubledMax = Math.max(1, Math.floor(options.inflightMax / 4));

  function laneOf(tenantId: string): Lane {
    let lane = lanes.get(tenantId);
    if (lane === undefined) {
      const { retryCooldownMs: cooldownMs } = options;
      lane = { tenantId, queue: createQueue(), heldBytes: 0, cycles: 0, troubled: false, cooldownMs, cancelRest: null };
      lanes.set(tenantId, lane);
    }
    return lane;
  }

  function hold(lane: Lane, bytes: number): void {
    lane.heldBytes += bytes;
    heldBytes += bytes;
  }

  function pump(lane: Lane): void {
    const cyclesMax = lane.troubled ? 1 : perLaneMax; // LN2, LN3
    while (lane.cancelRest === null && lane.cycles < cyclesMax && !ended.signal.aborted) {
      const parcel = lane.queue.shift(); // LN1
      if (parcel === undefined) break;
      waiting -= parcel.runs;
      lane.cycles++;
      cycles++;
      void run(lane, parcel);
    }
    const idle = lane.queue.length === 0 && lane.cycles === 0 && lane.cancelRest === null;
    if (idle && !lane.troubled) lanes.delete(lane.tenantId); // keys come and go; a lane without work is not kept
  }

  async function run(lane: Lane, parcel: Parcel): Promise<void> {
    const now = ports.clock.now();
    const body = await parcel.load();
    let result: UploadResult | null = null;
    if (body !== null && now - parcel.createdMs > options.ageMaxMs)
      await parcel.refused({ body, cause: "too_old", reason: "older than SPOOL_MAX_AGE" });
    else if (body !== null) {
      const send = (part: Body, signal: AbortSignal): Promise<SendOutcome> => inSlot(lane, part, signal);
      result = await upload(body, options, { ...ports, send }, ended.signal);
      for (const sent of result.delivered) {
        parcel.delivered(sent);
        giveBack(sent.bytes);
      }
      for (const refusal of result.refused) await parcel.refused(refusal);
    }
    hold(lane, -parcel.heldBytes);
    lane.cycles--;
    cycles--;
    for (const left of result?.left.toReversed() ?? []) putBack(lane, parcel.leave(left));
    if (result?.rest) rest(lane, result.rest);
    else if (result !== null) recover(lane);
    ports.onProgress();
    pump(lane);
    wakeWatchers();
  }

  function putBack(lane: Lane, parcel: Parcel): void {
    lane.queue.unshift(parcel);
    waiting += parcel.runs;
    hold(lane, parcel.heldBytes);
  }

  function rest(lane: Lane, why: NonNullable<UploadResult["rest"]>): void {
    lane.troubled = true;
    if (lane.cancelRest !== null || ended.signal.aborted) return;
    const ms = why.afterMs ?? lane.cooldownMs;
    lane.cooldownMs = Math.min(COOLDOWN_MS_MAX, lane.cooldownMs * 2);
    ports.onRest(lane.tenantId, why.reason, ms);
    lane.cancelRest = ports.clock.after(ms, () => {
      lane.cancelRest = null;
      pump(lane);
    });
  }

  function wakeWatchers(): void {
    for (const wake of idleWatchers) wake();
  }

  function recover(lane: Lane): void {
    if (!lane.troubled) return;
    lane.troubled = false;
    lane.cooldownMs = options.retryCooldownMs;
    ports.onRest(lane.tenantId, null, 0);
  }

  /** LN3. The slot is held for one request, not for the waits between two. */
  async function inSlot(lane: Lane, body: Body, signal: AbortSignal): Promise<SendOutcome> {
    const asTroubled = lane.troubled;
    if (mayStart(asTroubled)) takeSlot(asTroubled);
    else await new Promise<void>((go) => waitingForSlot.push({ asTroubled, go }));
    try {
      const outcome = await ports.send(body, signal);
      if (outcome.kind === "retry") lane.troubled = true;
      return outcome;
    } finally {
      slots--;
      if (asTroubled) troubledSlots--;
      nextInSlot();
    }
  }

  function mayStart(asTroubled: boolean): boolean {
    return slots < options.inflightMax && (!asTroubled || troubledSlots < troubledMax);
  }

  function takeSlot(asTroubled: boolean): void {
    slots++;
    if (asTroubled) troubledSlots++;
  }

  function nextInSlot(): void {
    const index = waitingForSlot.findIndex((waiter) => mayStart(waiter.asTroubled));
    const waiter = waitingForSlot.splice(index < 0 ? waitingForSlot.length : index, 1)[0];
    if (waiter === undefined) return;
    takeSlot(waiter.asTroubled);
    waiter.go();
  }

  function isIdle(): boolean {
    if (cycles > 0) return false;
    for (const lane of lanes.values()) if (lane.queue.length > 0 && lane.cancelRest === null) return false;
    return true;
  }

  return {
    offer(parcel) {
      const lane = laneOf(parcel.tenantId);
      lane.queue.push(parcel);
      waiting += parcel.runs;
      hold(lane, parcel.heldBytes);
      pump(lane);
    },
    heldBytes: () => heldBytes,
    heldBytesOf: (tenantId) => lanes.get(tenantId)?.heldBytes ?? 0,
    waiting: () => waiting,
    inflight: () => slots,
    resting: () => [...lanes.values()].filter((lane) => lane.cancelRest !== null).length,
    isTroubled: (tenantId) => lanes.get(tenantId)?.troubled ?? false,
    drain: (signal) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!isIdle() && !signal.aborted) return;
          idleWatchers.delete(check);
          signal.removeEventListener("abort", check);
          resolve();
        };
        idleWatchers.add(check);
        signal.addEventListener("abort", check);
        for (const lane of lanes.values()) {
          lane.cancelRest?.();
          lane.cancelRest = null;
          pump(lane);
        }
        check();
      }),
    async empty() {
      ended.abort();
      for (const lane of lanes.values()) lane.cancelRest?.();
      for (const waiter of waitingForSlot.splice(0)) {
        takeSlot(waiter.asTroubled);
        waiter.go();
      }
      await new Promise<void>((resolve) => {
        const check = (): void => {
          if (cycles > 0) return;
          idleWatchers.delete(check);
          resolve();
        };
        idleWatchers.add(check);
        check();
      });
      return [...lanes.values()].flatMap((lane) => [...lane.queue]);
    },
  };
}
