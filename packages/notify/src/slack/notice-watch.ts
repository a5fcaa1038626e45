// Notice watch: compares the messages in Slack with their items, and requests updates.
// Invariants:
//   - It looks at every start, after every change of the inbox in this process, and once a minute: an end in another
//     process, or before a crash, is found without a message about it.
//   - At most one look a second, and none while another is in progress.
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Storage } from "@holdpoint/server/ports/ports.ts";
import type { NoticeWatch } from "@holdpoint/server/server/notify-service.ts";
import { showState } from "./notices.ts";

export interface NoticeWatchPorts {
  readonly storage: Pick<Storage, "transaction">;
  readonly clock: Clock;
  readonly log: Log;
  /** Host of Slack, for the outbox. */
  readonly host: string;
  readonly wakeOutbox: () => void;
}

const LOOK_EVERY_MS = 60_000;
const PAUSE_MS = 1000;
const BATCH = 100;
const KEPT_MS = 30 * 24 * 60 * 60_000;

export function createNoticeWatch({ storage, clock, log, host, wakeOutbox }: NoticeWatchPorts): NoticeWatch {
  let cancelTimer: () => void = () => undefined;
  let looking: Promise<void> | null = null;
  let lookedAt = -Infinity;
  let again = false;
  let stopped = true;

  const look = async (): Promise<void> => {
    for (;;) {
      const at = clock.now();
      const found = await storage.transaction(async (tx) => {
        const stale = await tx.staleNotices(BATCH);
        for (const notice of stale) await showState(tx, notice, "closed", { host, at });
        await tx.deleteNoticesBefore(at - KEPT_MS);
        return stale.length;
      });
      if (found > 0) wakeOutbox();
      if (found < BATCH || stopped) return;
    }
  };

  const run = (): void => {
    looking = look()
      .catch((error: unknown) => log.warning("notices_not_compared", { reason: describeError(error).message }))
      .finally(() => {
        looking = null;
        lookedAt = clock.monotonic();
        if (!stopped) schedule(again ? PAUSE_MS : LOOK_EVERY_MS);
        again = false;
      });
  };
  const schedule = (afterMs: number): void => {
    cancelTimer();
    cancelTimer = clock.after(afterMs, run);
  };

  return {
    name: "notices",
    changed() {
      if (stopped) return;
      if (looking !== null) again = true;
      else schedule(Math.max(0, lookedAt + PAUSE_MS - clock.monotonic()));
    },
    opened(items) {
      if (stopped || items.length === 0) return;
      const reopen = storage.transaction(async (tx) => {
        for (const { threadId, interruptId } of items) {
          const closed = (await tx.listNotices(threadId, interruptId)).filter(({ shown }) => shown === "closed");
          for (const notice of closed) await showState(tx, notice, "open", { host, at: clock.now() });
        }
      });
      reopen.then(wakeOutbox, (error: unknown) =>
        log.warning("notices_not_compared", { reason: describeError(error).message }),
      );
    },
    async start() {
      stopped = false;
      run();
    },
    async stop() {
      stopped = true;
      cancelTimer();
      await looking;
    },
  };
}
