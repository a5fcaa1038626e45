// Value: small shared state such as a preference. Server data belongs in the query cache, and linkable state in the
// URL.
import { useSyncExternalStore } from "react";

export interface Value<T> {
  readonly get: () => T;
  readonly set: (next: T) => void;
  /** @returns unsubscribes. */
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
