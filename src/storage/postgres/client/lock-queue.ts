// Turns: the works of this process on one thread go one after the other, in the order in which they were asked for. Those
// that wait hold no connection, so a thread that everybody wants takes none from the others.
// Invariants:
//   lock-queue.1. Whoever enters a key has it until the way out that they were given is called; then the next in line has it.
//   lock-queue.2. A key that nobody has or waits for takes no memory.
//   lock-queue.3. Nobody waits longer than `patienceMs`: when the database does not answer, a line would move by one at each of its
//        timeouts, and whoever is last in it would wait for all of them.
import { nothingWritten } from "./errors.ts";

export interface Turns {
  /** @returns the way out. @throws {ApiError} `storage_unavailable` (lock-queue.3) */
  enter(key: string): Promise<() => void>;
  /** Resolves when all that are in line now have left. Null when there is nobody. @throws as enter() */
  passed(key: string): Promise<void> | null;
}

export function createTurns(patienceMs: number): Turns {
  const lines = new Map<string, Set<() => void>>();
  const wait = (line: Set<() => void>): Promise<void> =>
    new Promise((resolve, reject) => {
      const next = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        line.delete(next);
        reject(nothingWritten(new Error("others have had the thread for too long"))); // lock-queue.3
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
    passed: (key) => (lines.has(key) ? enter(key).then((leave) => leave()) : null),
  };
}
