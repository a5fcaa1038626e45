// Local queue: the rows of pending runs, looked through when something may have come, for a process that has them alone.
// Invariants:
//   local/queue.1. When a slot is free and a run can be claimed, one is claimed: whatever may have changed either calls wake() or
//        slotFree().
//   local/queue.2. A delayed run is claimed when it is due: a look that finds nothing sets a timer for the next one.
import type { ChooseRun, Queue, QueueConsumer, Storage } from "../../agent/ports/ports.ts";
import type { Clock } from "../../base/clock.ts";
import { describeError } from "../../base/api-error.ts";
import type { Log } from "../../base/log/log.ts";

const CLAIM_AGAIN_MS = 1000;
const DUE_WAIT_MS_MAX = 60 * 60 * 1000;

export function createLocalQueue(ports: {
  readonly storage: Pick<Storage, "transaction">;
  readonly clock: Clock;
  readonly log: Log;
}): Queue {
  const { clock, log } = ports;
  let consumer: QueueConsumer | null = null;
  let claiming = false;
  let maybePending = true;
  let stopTimer: () => void = () => undefined;

  const next: ChooseRun = async (tx, claim) => {
    if (consumer === null) return null;
    const at = clock.now();
    const claimed = await tx.claimPendingRun(claim, at);
    if (claimed === null) wakeAt(await tx.nextDueAt(), at);
    return claimed;
  };

  /** local/queue.2. The wait is on the clock that never jumps: it is cut in parts, so that a wall clock set forward is noticed. */
  const wakeAt = (dueAt: number | null, now: number): void => {
    stopTimer();
    if (dueAt === null || consumer === null) return;
    stopTimer = clock.after(Math.min(Math.max(dueAt - now, 0), DUE_WAIT_MS_MAX), wake);
  };

  const claim = async (): Promise<void> => {
    if (claiming) return;
    claiming = true;
    try {
      while (maybePending) {
        const slot = consumer?.reserve() ?? null;
        if (slot === null) return;
        maybePending = false;
        try {
          if (await slot.claim(next)) maybePending = true;
        } catch (error) {
          log.error("claim_failed", { reason: describeError(error).message });
          clock.after(CLAIM_AGAIN_MS, wake);
        }
      }
    } finally {
      claiming = false;
    }
  };

  const wake = (): void => {
    maybePending = true;
    void claim();
  };

  return {
    next,
    wake,
    slotFree() {
      if (maybePending) void claim(); // local/queue.1
    },
    mayStartDirectly: () => true, // a slot that is free is one that the queue has no use for
    async start(given) {
      consumer = given;
      wake();
    },
    async stop() {
      consumer = null;
      stopTimer();
    },
  };
}
