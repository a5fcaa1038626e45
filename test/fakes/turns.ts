// Turns: how often the event loop gets to other work while something is under way.

/** Resolves with that number, once `work` has ended. */
export async function turnsDuring(work: () => unknown): Promise<number> {
  let turns = 0;
  let next: NodeJS.Immediate;
  const turn = (): void => {
    turns++;
    next = setImmediate(turn);
  };
  next = setImmediate(turn);
  await work();
  clearImmediate(next);
  return turns;
}
