// Memory turns: runs with large states take turns where the memory of the process is limited.
// Invariants:
//   memory-turns.1. While a large state is in progress, or a large reply leaves, a run starts only if a state as large as
//        the largest of late fits beside them. Otherwise it stays in the queue, where another process may take it.
//   memory-turns.2. A run is let in with the largest state that its graph had of late. If it grows beyond that and beyond
//        the budget, it goes back to the queue, unless it is alone: so one of them always goes on.
//   memory-turns.3. States below SMALL_UNITS count as nothing, and nothing waits without a limit.
import { countStateBytes, SMALL_UNITS, type StateSize } from "../../model/state-memory.ts";

export interface MemoryTurns {
  /** memory-turns.1. @param after a run that is about to end */
  readonly hasRoom: (after?: string) => boolean;
  readonly begin: (runId: string, graphId: string) => void;
  /** Notes the state of a run in progress. @returns false if it has to wait for its turn (memory-turns.2) */
  readonly hold: (runId: string, size: StateSize) => boolean;
  readonly left: (runId: string) => void;
}

export interface MemoryPorts {
  /** UTF-16 units of the large replies that are being written. */
  readonly unitsLeaving: () => number;
  /** Called when there may be room again. */
  readonly onRoom: () => void;
  readonly after: (ms: number, call: () => void) => unknown;
}

interface Held {
  readonly graphId: string;
  /** What the run was let in with. */
  readonly expected: StateSize;
  readonly size: StateSize;
}

const NONE: StateSize = { units: 0, largest: 0 };
/** Ends of so many runs say what the next one may need. */
const REMEMBERED = 32;
const LOOK_AGAIN_MS = 100;
/** After its end the reply of a run is made, and counts from then on. */
const REPLY_MADE_MS = 50;

export function createMemoryTurns(budgetBytes: number, { unitsLeaving, onRoom, after }: MemoryPorts): MemoryTurns {
  const held = new Map<string, Held>();
  let late: Held[] = [];
  let isLooking = false;
  const listOthers = (runId: string | undefined): readonly StateSize[] =>
    [...held].map(([id, one]) => (id === runId ? NONE : findLargest([one.size, one.expected]))).filter(isLarge);
  const fits = (others: readonly StateSize[], size: StateSize): boolean => {
    const leaving = unitsLeaving();
    return (others.length === 0 && leaving === 0) || countStateBytes([...others, size], leaving) <= budgetBytes;
  };
  const lookAgain = (): void => {
    if (isLooking) return;
    isLooking = true;
    after(LOOK_AGAIN_MS, () => {
      isLooking = false;
      onRoom();
    });
  };
  return {
    hasRoom(runId) {
      if (budgetBytes === Infinity) return true;
      const others = listOthers(runId);
      const has = fits(others, findLargest([...others, ...late.map(({ size }) => size)]));
      if (!has) lookAgain();
      return has;
    },
    begin(runId, graphId) {
      const known = late.filter((one) => one.graphId === graphId).map(({ size }) => size);
      held.set(runId, { graphId, expected: findLargest(known), size: NONE });
    },
    hold(runId, size) {
      const one = held.get(runId);
      if (one === undefined || budgetBytes === Infinity) return true;
      held.set(runId, { ...one, size: findLargest([one.size, size]) });
      return !isLarge(size) || size.units <= one.expected.units || fits(listOthers(runId), size);
    },
    left(runId) {
      const one = held.get(runId);
      if (one === undefined) return;
      late = [...late, one].slice(-REMEMBERED);
      if (!isLarge(one.size)) {
        held.delete(runId);
        return;
      }
      after(REPLY_MADE_MS, () => {
        held.delete(runId);
        onRoom();
      });
    },
  };
}

const isLarge = ({ units }: StateSize): boolean => units > SMALL_UNITS;

function findLargest(sizes: readonly StateSize[]): StateSize {
  return sizes.reduce((one, other) => (other.units > one.units ? other : one), NONE);
}
