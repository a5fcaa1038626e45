// Local wakes: readers and runs share one process, so a wake is a function call.
import type { Wakes } from "../../ports/ports.ts";

export function createLocalWakes(): Wakes {
  const listeners = new Map<string, Set<() => void>>();
  return {
    wake(key) {
      for (const woken of listeners.get(key) ?? []) woken();
    },
    listen(key, woken) {
      const known = listeners.get(key);
      const set = known ?? new Set();
      if (known === undefined) listeners.set(key, set);
      set.add(woken);
      return () => {
        set.delete(woken);
        if (set.size === 0 && listeners.get(key) === set) listeners.delete(key);
      };
    },
    listeners: (key) => listeners.get(key)?.size ?? 0,
    hasRemoteListeners: () => false,
    onRemoteListener: () => undefined,
  };
}
