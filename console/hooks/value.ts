// Value: something small that several components look at, such as a preference. What comes from the server is not kept
// here but in the query cache, and what a link should bring back is kept in the address.
import { useSyncExternalStore } from "react";

export interface Value<T> {
  readonly get: () => T;
  readonly set: (next: T) => void;
  /** @returns ends it. */
  readonly subscribe: (callback: () => void) => () => void;
}

export function createValue<T>(initial: T): Value<T> {
  let current = initial;
  const callbacks = new Set<() => void>();
  return {
    get: () => current,
    set(next) {
      if (Object.is(next, current)) return;
      current = next;
      for (const callback of callbacks) callback();
    },
    subscribe(callback) {
      callbacks.add(callback);
      return () => void callbacks.delete(callback);
    },
  };
}

export function useValue<T>(value: Value<T>): T {
  return useSyncExternalStore(value.subscribe, value.get);
}
