// Local queue: polls the rows of pending runs, for a process with its own storage.
// Invariants:
//   - A free slot claims a claimable run at once: every change that can make one calls wake() or slotFree().
//   - A delayed run is claimed when it is due: a poll without a result sets a timer for the next one.
import type { ChooseRun, Queue, QueueConsumer, Storage } from "../../ports/ports.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Log } from "@holdpoint/base/log/log.ts";

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

  /** The timer is monotonic; it waits in parts, so that it notices a wall clock set forward. */
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
      if (maybePending) void claim();
    },
    mayStartDirectly: () => true, // the queue does not need this free slot
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
