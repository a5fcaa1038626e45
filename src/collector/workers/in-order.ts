// In order: steps that run one after the other. A step that finishes at once delays nothing.

export interface InOrder {
  readonly run: (step: () => void | Promise<void>) => void;
  /** Resolves after the last step so far. */
  readonly settled: () => Promise<void>;
}

export function createInOrder(): InOrder {
  let last: Promise<void> | null = null;

  function follow(work: Promise<void>): void {
    const own = work.finally(() => {
      if (last === own) last = null;
    });
    last = own;
  }

  return {
    run(step) {
      const work = last === null ? step() : last.then(step);
      if (work !== undefined) follow(work);
    },
    settled: () => last ?? Promise.resolve(),
  };
}
