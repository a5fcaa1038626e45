// Turns: the works of this process on one thread go one after the other, in the order in which they were asked for. Those
// that wait hold no connection, so a thread that everybody wants takes none from the others.
// Invariants:
//   TU1. Whoever enters a key has it until the way out that they were given is called; then the next in line has it.
//   TU2. A key that nobody has or waits for takes no memory.

export interface Turns {
  /** @returns the way out. */
  enter(key: string): Promise<() => void>;
  /** Resolves when all that are in line now have left. Null when there is nobody. */
  passed(key: string): Promise<void> | null;
}

export function createTurns(): Turns {
  const lines = new Map<string, (() => void)[]>();
  const enter = async (key: string): Promise<() => void> => {
    const line = lines.get(key);
    if (line === undefined) lines.set(key, []);
    else await new Promise<void>((resolve) => line.push(resolve)); // TU1
    return () => {
      const next = lines.get(key)?.shift();
      if (next === undefined) lines.delete(key); // TU2
      else next();
    };
  };
  return {
    enter,
    passed: (key) => (lines.has(key) ? enter(key).then((leave) => leave()) : null),
  };
}
