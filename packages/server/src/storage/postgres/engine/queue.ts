// Queue: claims waiting runs for the free slots of this process. The rows of runs are the queue (tables/runs.ts); a
// notice to the other processes says that one waits, and a poll finds what no notice told.
// Invariants:
//   engine/queue.1. A run is claimed only into a reserved slot: none waits in a busy process while another is idle.
//   engine/queue.2. A free slot goes to the queue first, until a claim finds it empty: new runs overtake no waiting ones.
//   engine/queue.3. Notices follow the commit and may be lost, with the process or its connection: then a poll finds the
//        run within POLL_MS. So does a run whose thread another transaction held at the moment of the claim.
//   engine/queue.4. Delayed runs join the line when they are due, also while all slots are busy: with the claim at the
//        end of a run.
//   engine/queue.5. Claims that get no answer block no others, up to CLAIMS_MAX.
//   engine/queue.6. A stop waits for the claims in progress, within STOP_MS.
//   engine/queue.7. The end of a run looks for the next one until the line was found empty, and again after each sign
//        of a run in it.
import type { ChooseRun, Queue, QueueConsumer } from "../../../ports/ports.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import { settlesWithin } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";

const POLL_MS = 1000;
/** Pause before a second look, after a claim that found nothing. */
const AGAIN_MS = 50;
/** Chains of claims at the same time. */
const CLAIMS_MAX = 4;
const STOP_MS = 2000;

export interface QueuePorts {
  readonly clock: Clock;
  readonly log: Log;
  /** This process may own runs (lease.ts). */
  readonly holds: () => boolean;
  /** Tells the other workers that a run waits. */
  readonly notify: () => void;
  /** Calls back when another process says so. */
  readonly onQueued: (callback: () => void) => void;
}

interface QueueState {
  readonly ports: QueuePorts;
  consumer: QueueConsumer | null;
  /** False once a claim found the line empty. */
  maybeMore: boolean;
  /** Number of wakes and notices: a claim that began before one knows nothing of its run. */
  wakes: number;
  readonly chains: Set<Promise<void>>;
  /** Monotonic time from which a claim lets due runs in. */
  checkDueAt: number;
  stopPoll: () => void;
  stopAgain: () => void;
  stopTimer: () => void;
}

export function createRowQueue(ports: QueuePorts): Queue {
  const queue: QueueState = {
    ports,
    consumer: null,
    maybeMore: true,
    wakes: 0,
    chains: new Set(),
    checkDueAt: 0,
    stopPoll: () => undefined,
    stopAgain: () => undefined,
    stopTimer: () => undefined,
  };
  return {
    next: (tx, claim) => (ports.holds() && mayFind(queue) ? choose(queue)(tx, claim) : null),
    wake() {
      if (!look(queue)) ports.notify();
    },
    slotFree() {
      if (queue.consumer === null) ports.notify(); // a stopping process leaves the rest to the others
      else if (queue.maybeMore) startChain(queue);
    },
    mayStartDirectly: () => queue.consumer !== null && !queue.maybeMore,
    async start(consumer) {
      queue.consumer = consumer;
      ports.onQueued(() => void look(queue));
      poll(queue);
    },
    async stop() {
      queue.consumer = null;
      queue.stopPoll();
      queue.stopAgain();
      queue.stopTimer();
      // engine/queue.6
      if (!(await settlesWithin(Promise.all(queue.chains), STOP_MS)))
        ports.log.warning("claims_not_stopped", { after_ms: STOP_MS });
    },
  };
}

/** engine/queue.7, engine/queue.4. */
function mayFind({ maybeMore, checkDueAt, ports }: QueueState): boolean {
  return maybeMore || ports.clock.monotonic() >= checkDueAt;
}

/** engine/queue.3, engine/queue.4. */
function poll(queue: QueueState): void {
  if (queue.consumer === null) return;
  queue.checkDueAt = 0;
  startChain(queue);
  queue.stopPoll = queue.ports.clock.after(POLL_MS, () => poll(queue));
}

/** A run may wait. @returns false without a slot for it here */
function look(queue: QueueState): boolean {
  queue.maybeMore = true;
  queue.wakes++;
  return startChain(queue);
}

/** Claims one run after another, until none waits or no slot is free. */
function startChain(queue: QueueState): boolean {
  if (queue.chains.size >= CLAIMS_MAX) return false;
  const slot = queue.consumer?.reserve() ?? null;
  if (slot === null) return false;
  const chain = slot
    .claim(choose(queue))
    .then(
      (found) => found,
      (error: unknown) => {
        queue.ports.log.debug("claim_failed", { reason: describeError(error).message });
        return false; // the poll is next
      },
    )
    .then((found) => {
      queue.chains.delete(chain);
      if (found) for (let more = 0; more < 2; more++) startChain(queue);
    });
  queue.chains.add(chain);
  return true;
}

function choose(queue: QueueState): ChooseRun {
  const { clock } = queue.ports;
  return async (tx, claim) => {
    const { wakes } = queue;
    const isDueChecked = clock.monotonic() >= queue.checkDueAt;
    if (isDueChecked) queue.checkDueAt = clock.monotonic() + POLL_MS; // engine/queue.4
    const claimed = await tx.claimPendingRun(claim, isDueChecked ? clock.now() : null);
    if (claimed !== null || wakes !== queue.wakes) {
      queue.maybeMore = true;
      return claimed;
    }
    if (isDueChecked) wakeWhenDue(queue, await tx.nextDueAt());
    if (queue.maybeMore) lookAgain(queue);
    queue.maybeMore = false;
    return null;
  };
}

/** engine/queue.3: its thread may have been held for a moment. */
function lookAgain(queue: QueueState): void {
  queue.stopAgain();
  queue.stopAgain = queue.ports.clock.after(AGAIN_MS, () => void startChain(queue));
}

/** More precisely than the poll. */
function wakeWhenDue(queue: QueueState, dueAt: number | null): void {
  queue.stopTimer();
  const { clock } = queue.ports;
  const waitMs = dueAt === null ? POLL_MS : dueAt - clock.now();
  if (waitMs >= POLL_MS) return;
  queue.stopTimer = clock.after(Math.max(waitMs, 0), () => {
    queue.checkDueAt = 0;
    startChain(queue);
  });
}
