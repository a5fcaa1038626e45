// Webhook slots: concurrency limits of delivery attempts, so that hanging receivers do not block others.
// Invariants:
//   - A host has at most HOST_TRIES_MAX concurrent attempts; a slow host has one.
//   - An attempt counts as prompt for PROMPT_MS. Only prompt attempts occupy the PROMPT_MAX slots, so a hanging
//     receiver holds a slot for that long at most.
//   - A host is slow from its first attempt that is not prompt until one with a prompt reply. All slow hosts together
//     have SLOW_MAX concurrent attempts.
//   - TRIES_MAX limits all attempts, HOSTS_KEPT the hosts remembered as slow.
//   - A resting host has no attempts until the end of its rest.
import type { Clock } from "@holdpoint/base/clock.ts";

const PROMPT_MAX = 16;
const PROMPT_MS = 1000;
const SLOW_MAX = 16;
const HOST_TRIES_MAX = 2;
const TRIES_MAX = 256;
const HOSTS_KEPT = 1000;

export interface WebhookSlots {
  /** True if another attempt may start, on a host that is not in `full()`. */
  readonly free: () => boolean;
  readonly full: () => readonly string[];
  /** Starts an attempt. @returns a function to call at its end */
  readonly begin: (host: string) => (replied: boolean) => void;
  readonly rest: (host: string, forMs: number) => void;
  /** Ends every rest, without a turn for its host. */
  readonly close: () => void;
}

/** @param onFree called when a turn becomes free while its attempt continues */
export function createWebhookSlots(clock: Clock, onFree: () => void): WebhookSlots {
  const tries = new Map<string, number>();
  const slow = new Set<string>();
  const resting = new Map<string, () => void>();
  let [prompt, all] = [0, 0];

  const remember = (host: string): void => {
    slow.delete(host);
    slow.add(host);
    for (const oldest of slow) {
      if (slow.size <= HOSTS_KEPT) break;
      slow.delete(oldest);
    }
  };
  const slowTries = (): number => [...slow].reduce((sum, host) => sum + (tries.get(host) ?? 0), 0);

  return {
    free: () => prompt < PROMPT_MAX && all < TRIES_MAX,
    full() {
      const busy = [...tries].flatMap(([host, count]) =>
        count >= (slow.has(host) ? 1 : HOST_TRIES_MAX) ? [host] : [],
      );
      const excepted = [...busy, ...resting.keys()];
      return slowTries() < SLOW_MAX ? excepted : [...new Set([...excepted, ...slow])];
    },
    rest(host, forMs) {
      resting.get(host)?.();
      const end = (): void => {
        resting.delete(host);
        onFree();
      };
      resting.set(host, clock.after(forMs, end));
    },
    close() {
      for (const cancel of resting.values()) cancel();
    },
    begin(host) {
      tries.set(host, (tries.get(host) ?? 0) + 1);
      prompt++;
      all++;
      let isPrompt = true;
      const cancel = clock.after(PROMPT_MS, () => {
        isPrompt = false;
        prompt--;
        remember(host);
        onFree();
      });
      return (replied) => {
        cancel();
        all--;
        if (isPrompt) prompt--;
        if (isPrompt && replied) slow.delete(host);
        const left = (tries.get(host) ?? 1) - 1;
        if (left === 0) tries.delete(host);
        else tries.set(host, left);
      };
    },
  };
}
