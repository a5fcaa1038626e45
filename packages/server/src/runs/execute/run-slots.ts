// Run slots: the runs in progress in this process, and the claims that fill free slots.
import { countUnitsLeaving } from "@holdpoint/base/http/server/write-reply.ts";
import { FIRST_EVENT } from "../../events/event-log.ts";
import type { Awaitable, ChooseRun, ClaimTx, Slot } from "../../ports/ports.ts";
import type { RunWaiters } from "../../context/services.ts";
import type { AbortReason } from "./abort-reason.ts";
import { executeAttempt } from "./attempt.ts";
import { type Claimed, beginClaimed, claimBy } from "./claim-run.ts";
import type { WorkerOptions, WorkerPorts } from "./execution-ports.ts";
import { STATE_BUDGET_BYTES, UNKNOWN_RUNS_MAX } from "../../model/state-memory.ts";
import { createMemoryTurns, type MemoryTurns } from "./memory-turns.ts";
import { createQuarantine } from "./quarantine.ts";
import type { UnknownClaims } from "./recovery.ts";

export interface RunSlots {
  /** @param isRequest takes one of the slots that are kept for requests, if there is one */
  readonly reserve: (isRequest?: boolean) => Slot | null;
  readonly inProgress: () => readonly string[];
  readonly isInProgress: (runId: string) => boolean;
  readonly used: () => number;
  /** Attempts since the start. */
  readonly begun: () => number;
  readonly takesBodies: MemoryTurns["takesBodies"];
  /** @returns false if the run is not in this process */
  readonly abort: (runId: string, reason: AbortReason) => boolean;
  abortAll(reason: AbortReason): void;
  /** Stops claiming runs. */
  drain(): void;
  readonly isDraining: () => boolean;
  /** Resolves once the runs in progress have ended. */
  readonly settled: () => Promise<unknown>;
}

export interface SlotPorts extends WorkerPorts {
  readonly ends: RunWaiters;
  readonly unknownClaims: UnknownClaims;
}

/** Slots beside those of the setting. A run of a request takes milliseconds. */
const REQUEST_SLOTS = 32;

export function createRunSlots(options: WorkerOptions, ports: SlotPorts): RunSlots {
  const { queue, lease } = ports.engine;
  const inProgress = new Map<string, { readonly abort: (reason: AbortReason) => void; readonly done: Promise<void> }>();
  const claims = createClaims(ports);
  const quarantine = createQuarantine(ports.clock, () => queue.slotFree());
  const memory = createMemoryTurns(STATE_BUDGET_BYTES, {
    unitsLeaving: countUnitsLeaving,
    onRoom: () => queue.slotFree(),
    unknownMax: UNKNOWN_RUNS_MAX,
    after: ports.clock.after,
  });
  let free = options.slots;
  let freeForRequests = options.slots === 0 ? 0 : REQUEST_SLOTS;
  let begun = 0;
  let draining = false;

  const freeSlot = (): void => {
    free++;
    queue.slotFree();
  };
  const freeRequestSlot = (): void => void freeForRequests++;
  const attemptPorts = { ...ports, options, quarantine, memory, isDraining: () => draining };
  const mayClaimAfter = (runId: string): boolean => !draining && quarantine.isOpen(runId) && memory.hasRoom(runId);
  /** Occupies one slot with a run, and then with each run claimed by the end of the previous one. */
  const begin = (claimed: Claimed, release: () => void, after?: string): void => {
    const { run, endsFor } = claimed;
    begun++;
    const controller = new AbortController();
    const hasRoom = release !== freeSlot || memory.begin(run, after);
    const reason = claims.started(run.runId) ?? endsFor ?? (hasRoom ? null : "no_room");
    if (reason !== null) controller.abort(reason satisfies AbortReason);
    const chosen: Chosen = new Map();
    const claimNext = (tx: ClaimTx): Awaitable<Claimed | null> =>
      release === freeSlot && mayClaimAfter(run.runId) ? claims.claim(tx, queue.next, chosen) : null;
    const onFailure = (error: unknown): void => {
      claims.dropUnstarted(chosen);
      ports.unknownClaims.failed(error);
    };
    const done = executeAttempt(claimed, controller, { ...attemptPorts, claimNext, onFailure }).then((next) => {
      if (inProgress.get(run.runId) === entry) inProgress.delete(run.runId); // it may be here in a later attempt
      quarantine.left(run.runId);
      memory.left(run.runId);
      if (next === null) release();
      else begin(next, release, run.runId);
      claims.dropUnstarted(chosen); // those of repeated transactions
    });
    const entry = { abort: (reason: AbortReason) => controller.abort(reason), done };
    inProgress.set(run.runId, entry);
  };

  return {
    reserve(isRequest = false) {
      const forRequest = isRequest && freeForRequests > 0;
      if ((free === 0 && !forRequest) || draining || !lease.holds() || !quarantine.isOpen()) return null;
      if (!forRequest && !memory.hasRoom()) return null;
      if (forRequest) freeForRequests--;
      else free--;
      return createSlot(ports, claims, { begin, release: forRequest ? freeRequestSlot : freeSlot });
    },
    inProgress: () => [...inProgress.keys()],
    isInProgress: (runId) => inProgress.has(runId),
    used: () => options.slots - free,
    begun: () => begun,
    takesBodies: memory.takesBodies,
    abort(runId, reason) {
      const found = inProgress.get(runId);
      found?.abort(reason);
      return found !== undefined || claims.abort(runId, reason);
    },
    abortAll(reason) {
      for (const { abort } of inProgress.values()) abort(reason);
    },
    drain: () => void (draining = true),
    isDraining: () => draining,
    settled: () => Promise.all([...inProgress.values()].map(({ done }) => done)),
  };
}

interface Claims {
  /** @param chosen collects the claimed run, for dropUnstarted(); the work of a transaction may be repeated */
  claim(tx: ClaimTx, choose: ChooseRun, chosen: Chosen): Promise<Claimed | null>;
  /** @returns the reason of an abort since the claim */
  started(runId: string): AbortReason | null;
  /** @returns false if no transaction has claimed the run */
  readonly abort: (runId: string, reason: AbortReason) => boolean;
  /** Another process may have them by now: an abort has to reach it. */
  dropUnstarted(chosen: Chosen): void;
}

/** Claims of one transaction by run. */
type Chosen = Map<string, UnstartedClaim>;

interface UnstartedClaim {
  reason: AbortReason | null;
}

/** Runs claimed by a transaction but not started yet. A cancellation in between applies at their start. */
export function createClaims({ engine, clock, events }: Pick<WorkerPorts, "engine" | "clock" | "events">): Claims {
  const unstarted: Chosen = new Map();
  const dropUnstarted: Claims["dropUnstarted"] = (chosen) => {
    for (const [runId, claim] of chosen) if (unstarted.get(runId) === claim) unstarted.delete(runId);
    chosen.clear();
  };
  return {
    async claim(tx, choose, chosen) {
      dropUnstarted(chosen);
      const at = clock.now();
      const claimed = await choose(tx, claimBy(engine.lease.workerId(), at));
      if (claimed === null) return null;
      const claim: UnstartedClaim = { reason: null };
      unstarted.set(claimed.run.runId, claim);
      chosen.set(claimed.run.runId, claim);
      return beginClaimed(tx, claimed, { wakes: events.wakes, at });
    },
    started(runId) {
      const reason = unstarted.get(runId)?.reason ?? null;
      unstarted.delete(runId);
      return reason;
    },
    abort(runId, reason) {
      const claim = unstarted.get(runId);
      if (claim !== undefined) claim.reason = reason;
      return claim !== undefined;
    },
    dropUnstarted,
  };
}

function createSlot(
  { storage, unknownClaims }: SlotPorts,
  claims: Claims,
  { begin, release }: { readonly begin: (claimed: Claimed, release: () => void) => void; readonly release: () => void },
): Slot {
  let held = true;
  const releaseOnce = (): void => {
    if (held) release();
    held = false;
  };
  const start = (claimed: Claimed): void => {
    held = false;
    begin(claimed, release);
  };
  return {
    release: releaseOnce,
    start: (run, history, isBegun) =>
      start({ run, history, eventStart: { ...FIRST_EVENT, isBegun }, endsFor: null, direct: true }),
    async claim(choose) {
      const chosen: Chosen = new Map();
      try {
        const claimed = await storage.transaction((tx) => claims.claim(tx, choose, chosen));
        if (claimed !== null) start(claimed);
        return claimed !== null;
      } catch (error) {
        unknownClaims.failed(error);
        throw error;
      } finally {
        claims.dropUnstarted(chosen); // it has started, or the claim failed
        releaseOnce();
      }
    },
  };
}
