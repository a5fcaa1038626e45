// Slices: splits long synchronous work over several turns of the event loop.
// Invariants:
//   slices.1. Each turn runs at least one piece of all submitted work, and starts no further piece after SLICE_MS.
//   slices.2. Pieces run in submission order.
const SLICE_MS = 10;

const waiting: (() => void)[] = [];
let scheduled = false;

/** @throws any error of the work */
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
    waiting.shift()?.(); // slices.2
  while (waiting.length > 0 && performance.now() < until); // slices.1
  scheduled = waiting.length > 0;
  if (scheduled) setImmediate(doSome);
}

/** Runs a generator to its end; each step up to a `yield` is one piece of work. */
export async function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = await inSlice(() => steps.next());
    if (done === true) return value;
  }
}
