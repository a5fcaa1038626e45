// Arrivals: what comes in during a test (frames, log lines, requests), as a list that a test can wait on.

export interface Arrivals<T> {
  readonly list: T[];
  readonly add: (one: T) => void;
  /**
   * Resolves with the first result of `look` that is neither undefined nor false.
   * @throws {Error} after a minute without arrivals
   */
  readonly when: <R>(what: string, look: (list: readonly T[]) => R | undefined | false) => Promise<R>;
}

const BOUND_MS = 60_000;

export function createArrivals<T>(): Arrivals<T> {
  const list: T[] = [];
  const looks = new Set<() => void>();
  return {
    list,
    add(one) {
      list.push(one);
      for (const look of looks) look();
    },
    when: (what, look) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          looks.delete(tryOnce);
          reject(new Error(`waited in vain: ${what}`));
        }, BOUND_MS);
        const tryOnce = (): void => {
          late.refresh();
          const found = look(list);
          if (found === undefined || found === false) return;
          clearTimeout(late);
          looks.delete(tryOnce);
          resolve(found);
        };
        looks.add(tryOnce);
        tryOnce();
      }),
  };
}
