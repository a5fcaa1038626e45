// Shared turn: small requests whose bodies end in one turn of the event loop go on together, step by step: all are
// decoded, then all are translated, then all are answered. One at a time, each step finds the processor's caches filled
// by the others, and each reply wakes a sender that has gone to sleep: a request of one span costs a third more.
// Invariants:
//   - A request waits for the end of the current turn at most, and never for another request.
//   - The bodies of one group are at most SUM_BYTES_MAX and one body: decoded items of many requests in memory at the
//     same time cost the garbage collector more than the caches save.
const SMALL_BYTES_MAX = 32 * 1024;
const SUM_BYTES_MAX = 64 * 1024;

export interface SharedTurn {
  /** null: the body is large, and its request goes on at once. */
  readonly join: (bodyBytes: number) => Promise<void> | null;
}

/** `afterTurn` calls back when the current turn of the event loop has read all that had arrived. */
export function createSharedTurn(afterTurn: (callback: () => void) => void = setImmediate): SharedTurn {
  let group: Group | null = null;
  return {
    join(bodyBytes) {
      if (bodyBytes > SMALL_BYTES_MAX) return null;
      const joined = (group ??= open());
      joined.bytes += bodyBytes;
      if (joined.bytes > SUM_BYTES_MAX) release(joined);
      return joined.released;
    },
  };

  function open(): Group {
    const { promise, resolve } = Promise.withResolvers<void>();
    const opened: Group = { bytes: 0, released: promise, release: resolve };
    afterTurn(() => release(opened));
    return opened;
  }

  function release(released: Group): void {
    if (group === released) group = null;
    released.release();
  }
}

interface Group {
  bytes: number;
  readonly released: Promise<void>;
  readonly release: () => void;
}
