// Loop watch: the time in which this process could not read what its peers had sent. Limits of peers do not count it: a
// busy server must not tell a client that the client was slow.
// Invariants:
//   loop-watch.1. A limit is longer by the time for which the loop was blocked inside it, including a block that ends now.
//   loop-watch.2. A timer of withoutBlocks() has the loop turn at least ten times before it fires.

const TURNS = 10;

export interface LoopWatch {
  /** The limit, in whole milliseconds, for something that has to end now at the latest (loop-watch.1). */
  extend(limitMs: number): number;
  stop(): void;
}

/** @param limitMs the shortest limit it will extend @param longestMs the longest one */
export function watchLoop(limitMs: number, longestMs: number, now: () => number = () => performance.now()): LoopWatch {
  const everyMs = Math.min(1000, limitMs / TURNS);
  let turned = now();
  /** Newest last. */
  const blocks: { readonly endMs: number; readonly forMs: number }[] = [];
  const blockedMs = (): number => Math.max(0, now() - turned - everyMs);
  const timer = setInterval(() => {
    const forMs = blockedMs();
    turned = now();
    if (forMs > 0) blocks.push({ endMs: turned, forMs });
    const reachMs = extend(longestMs);
    while (blocks[0] !== undefined && turned - blocks[0].endMs > reachMs) blocks.shift();
  }, everyMs).unref();
  const extend = (limit: number): number => {
    let extended = limit + blockedMs();
    for (const { endMs, forMs } of blocks.toReversed()) {
      if (now() - endMs > extended) break;
      extended += forMs;
    }
    return Math.ceil(extended);
  };
  return { extend, stop: () => clearInterval(timer) };
}

/** Calls back once, after `ms` in which the loop turned (loop-watch.2). @returns the cancel function */
export function withoutBlocks(ms: number, callback: () => void): () => void {
  let left = TURNS;
  const timer = setInterval(() => {
    if (--left > 0) return;
    clearInterval(timer);
    callback();
  }, ms / TURNS);
  return () => clearInterval(timer);
}
