// Clock: the current time for all relative times. One shared timer, paused while the page is hidden.
import { useSyncExternalStore } from "react";

const TICK_MS = 10_000;
const callbacks = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;

function tick(): void {
  if (document.hidden) return;
  now = Date.now();
  for (const callback of callbacks) callback();
}

function subscribe(callback: () => void): () => void {
  callbacks.add(callback);
  if (timer === null) {
    now = Date.now();
    timer = setInterval(tick, TICK_MS);
    document.addEventListener("visibilitychange", tick);
  }
  return () => {
    callbacks.delete(callback);
    if (callbacks.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
    document.removeEventListener("visibilitychange", tick);
  };
}

/** Milliseconds since 1970, at the last tick. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}
