// Lock queue: transactions of this process on one thread run one after the other, in call order. Waiting ones hold no
// connection, so a busy thread takes none from other threads.
// Invariants:
//   lock-queue.1. A task holds its key until it calls its release function; then the next task in line gets it.
//   lock-queue.2. A key without a holder and without waiters takes no memory.
//   lock-queue.3. A wait lasts at most `patienceMs`. Without an answer from the database a line moves by one per
//        statement timeout, and the last waiter would wait for all of them.
import { nothingWritten } from "./errors.ts";

export interface LockQueue {
  /** @returns the release function @throws {ApiError} `storage_unavailable` (lock-queue.3) */
  enter(key: string): Promise<() => void>;
  /** Resolves after all present holders and waiters. Null for a free key. @throws as enter() */
  passed(key: string): Promise<void> | null;
}

export function createLockQueue(patienceMs: number): LockQueue {
  const lines = new Map<string, Set<() => void>>();
  const wait = (line: Set<() => void>): Promise<void> =>
    new Promise((resolve, reject) => {
      const next = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        line.delete(next);
        reject(nothingWritten(new Error("other calls held the thread lock for too long"))); // lock-queue.3
      }, patienceMs);
      line.add(next);
    });
  const enter = async (key: string): Promise<() => void> => {
    const line = lines.get(key);
    if (line === undefined) lines.set(key, new Set());
    else await wait(line); // lock-queue.1
    return () => {
      const left = lines.get(key);
      const [next] = left ?? [];
      if (next === undefined) lines.delete(key); // lock-queue.2
      else {
        left?.delete(next);
        next();
      }
    };
  };
  return {
    enter,
    passed: (key) => (lines.has(key) ? enter(key).then((release) => release()) : null),
  };
}
