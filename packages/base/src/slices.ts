// Slices: splits long synchronous work over several turns of the event loop.
// Invariants:
//   slices.1. Each turn runs at least one piece of all submitted work, and starts no further piece after SLICE_MS.
//   slices.2. Pieces run in submission order.
//   slices.3. A single piece runs at once if none waits and the turn has time left: most are short, and a turn for each
//     would cost more than the piece.
const SLICE_MS = 10;

const waiting: (() => void)[] = [];
/** End of the time of this turn; null while no piece has run in it. */
let until: number | null = null;

/** @throws any error of the work */
export function inSlice<T>(work: () => T): Promise<T> {
  if (waiting.length > 0 || !hasTime()) return inLaterSlice(work);
  return new Promise((resolve) => resolve(work())); // slices.3
}

function inLaterSlice<T>(work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    waiting.push(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
    if (until === null) beginTurn();
  });
}

function hasTime(): boolean {
  if (until !== null) return performance.now() < until;
  beginTurn();
  return true;
}

function beginTurn(): void {
  until = performance.now() + SLICE_MS;
  setImmediate(doSome);
}

function doSome(): void {
  if (waiting.length === 0) {
    until = null;
    return;
  }
  beginTurn();
  do
    waiting.shift()?.(); // slices.2
  while (waiting.length > 0 && hasTime()); // slices.1
}
