// Webhook turns: which destinations may be tried now, so that receivers that hang never take the turns of others.
// Invariants:
//   webhook-turns.1. A host has at most HOST_TRIES_MAX tries at once; a slow one has one.
//   webhook-turns.2. A try counts as prompt for PROMPT_MS. Only prompt tries compete for the PROMPT_MAX turns: a receiver that hangs
//        takes a turn for that long, and no longer.
//   webhook-turns.3. A host is slow from its first try that was not prompt until one that is answered promptly. All slow hosts
//        together have SLOW_MAX tries at once.
//   webhook-turns.4. There are never more than TRIES_MAX tries, and HOSTS_KEPT hosts are remembered as slow.
import type { Clock } from "../../base/clock.ts";

const PROMPT_MAX = 16;
const PROMPT_MS = 1000;
const SLOW_MAX = 16;
const HOST_TRIES_MAX = 2;
const TRIES_MAX = 256;
const HOSTS_KEPT = 1000;

export interface WebhookTurns {
  /** One more try may begin, on a host that is not in `full()`. */
  readonly free: () => boolean;
  readonly full: () => readonly string[];
  /** A try begins. @returns what is called when it ends. */
  readonly take: (host: string) => (replied: boolean) => void;
}

/** @param onFree a turn has become free while the try that had it goes on. */
export function createWebhookTurns(clock: Clock, onFree: () => void): WebhookTurns {
  const tries = new Map<string, number>();
  const slow = new Set<string>();
  let [prompt, all] = [0, 0];

  const remember = (host: string): void => {
    slow.delete(host);
    slow.add(host);
    for (const oldest of slow) {
      if (slow.size <= HOSTS_KEPT) break;
      slow.delete(oldest); // webhook-turns.4
    }
  };
  const slowTries = (): number => [...slow].reduce((sum, host) => sum + (tries.get(host) ?? 0), 0);

  return {
    free: () => prompt < PROMPT_MAX && all < TRIES_MAX, // webhook-turns.2, webhook-turns.4
    full() {
      const busy = [...tries].flatMap(
        ([host, count]) => (count >= (slow.has(host) ? 1 : HOST_TRIES_MAX) ? [host] : []), // webhook-turns.1
      );
      return slowTries() < SLOW_MAX ? busy : [...new Set([...busy, ...slow])]; // webhook-turns.3
    },
    take(host) {
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
