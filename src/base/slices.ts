// Slices: work that would keep the event loop busy when it is done at once, done a little in each turn of the loop.
// Invariants:
//   SL1. Of all work that is handed in, a turn does at least one piece, and no further one once SLICE_MS have passed.
//   SL2. Pieces are done in the order in which they were handed in.
const SLICE_MS = 10;

const waiting: (() => void)[] = [];
let scheduled = false;

/** @throws what the work throws */
export function inSlice<T>(work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    waiting.push(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
    if (scheduled) return;
    scheduled = true;
    setImmediate(doSome);
  });
}

function doSome(): void {
  const until = performance.now() + SLICE_MS;
  do
    waiting.shift()?.(); // SL2
  while (waiting.length > 0 && performance.now() < until); // SL1
  scheduled = waiting.length > 0;
  if (scheduled) setImmediate(doSome);
}

/** Runs a generator to its end; each step, up to a `yield`, is a piece of work. */
export async function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = await inSlice(() => steps.next());
    if (done === true) return value;
  }
}
