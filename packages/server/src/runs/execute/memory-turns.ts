// Memory turns: runs with large states take turns where the memory of the process is limited.
// Invariants:
//   memory-turns.1. While a large state is in progress, or a large reply leaves, a run starts only if a state as large as
//        the largest of late fits beside them. Otherwise it stays in the queue, where another process may take it.
//   memory-turns.2. A run is let in with the largest state that its graph had of late. If it grows beyond that and beyond
//        the budget, it goes back to the queue, unless it is alone: so one of them always goes on.
//   memory-turns.3. States below SMALL_UNITS count as nothing, and nothing waits without a limit.
//   memory-turns.4. Until a run of a graph has ended, nobody knows its states: at most `unknownMax` of such runs are in
//        their first UNKNOWN_MS. Later they count as what they show: they may wait for a run that has to begin.
//   memory-turns.5. Runs that were let in at one moment are counted one by one where they begin: those that do not fit go
//        back to the queue before they have loaded anything.
import type { TakesBodies } from "@holdpoint/base/http/server/body-turns.ts";
import type { Run } from "../../model/model.ts";
import { countStateBytes, SMALL_UNITS, type StateSize } from "../../model/state-memory.ts";

export interface MemoryTurns {
  /** memory-turns.1. @param after a run that is about to end */
  readonly hasRoom: (after?: string) => boolean;
  /** @param after the run whose place it takes @returns false if it has to wait for its turn (memory-turns.5) */
  readonly begin: (run: BeginningRun, after?: string) => boolean;
  /** Notes the state of a run in progress. @returns false if it has to wait for its turn (memory-turns.2) */
  readonly hold: (runId: string, size: StateSize) => boolean;
  readonly left: (runId: string) => void;
  readonly takesBodies: TakesBodies;
}

type BeginningRun = Pick<Run, "runId" | "graphId" | "input">;

export interface MemoryPorts {
  /** UTF-16 units of the large replies that are being written. */
  readonly unitsLeaving: () => number;
  /** Called when there may be room again. */
  readonly onRoom: () => void;
  /** memory-turns.4. */
  readonly unknownMax: number;
  readonly after: (ms: number, call: () => void) => unknown;
}

interface Held {
  readonly graphId: string;
  /** What the run was let in with. */
  readonly expected: StateSize;
  /** memory-turns.4. */
  readonly isUnknown: boolean;
  readonly size: StateSize;
}

const NONE: StateSize = { units: 0, largest: 0 };
/** A body takes this many times the memory of a state: as bytes, as text, and as objects. */
const BODY_COPIES = 2;
/** Ends of so many runs say what the next one may need. */
const REMEMBERED = 32;
const LOOK_AGAIN_MS = 100;
const UNKNOWN_MS = 5000;
/** After its end the reply of a run is made, and counts from then on. */
const REPLY_MADE_MS = 50;

export function createMemoryTurns(budgetBytes: number, ports: MemoryPorts): MemoryTurns {
  const { unitsLeaving, onRoom, unknownMax, after: wait } = ports;
  const look = createLook(ports);
  const held = new Map<string, Held>();
  const knownGraphs = new Set<string>();
  let late: Held[] = [];
  const listOthers = (...without: readonly (string | undefined)[]): readonly StateSize[] =>
    [...held]
      .filter(([id]) => !without.includes(id))
      .map(([, one]) => findLargest([one.size, one.expected]))
      .filter(isLarge);
  const fits = (others: readonly StateSize[], size: StateSize): boolean => {
    const leaving = unitsLeaving();
    return (others.length === 0 && leaving === 0) || countStateBytes([...others, size], leaving) <= budgetBytes;
  };
  const takesUnknown = (): boolean =>
    held
      .values()
      .filter(({ graphId, isUnknown }) => isUnknown && !knownGraphs.has(graphId))
      .toArray().length < unknownMax;
  const change = (runId: string, changed: Partial<Held>): void => {
    const one = held.get(runId);
    if (one !== undefined) held.set(runId, { ...one, ...changed });
  };
  return {
    hasRoom(runId) {
      if (budgetBytes === Infinity) return true;
      const others = listOthers(runId);
      const size = findLargest([...others, ...late.map((one) => one.size)]);
      const has = !look.isFull() && takesUnknown() && fits(others, size);
      if (!has) look.again();
      return has;
    },
    begin({ runId, graphId, input }, after) {
      if (budgetBytes === Infinity) return true;
      const expected = findLargest(late.filter((one) => one.graphId === graphId).map(({ size }) => size));
      const units = input?.length ?? 0;
      const size = { units, largest: units };
      const whole = findLargest([expected, size]);
      const hasRoom = !isLarge(whole) || fits(listOthers(after), whole);
      if (!hasRoom || (!knownGraphs.has(graphId) && !takesUnknown())) {
        look.whenFull();
        return false;
      }
      held.set(runId, { graphId, expected, size, isUnknown: true });
      if (!knownGraphs.has(graphId)) wait(UNKNOWN_MS, () => change(runId, { isUnknown: false }));
      return true;
    },
    hold(runId, size) {
      const one = held.get(runId);
      if (one === undefined) return true;
      change(runId, { size: findLargest([one.size, size]) });
      return !isLarge(size) || size.units <= one.expected.units || fits(listOthers(runId), size);
    },
    left(runId) {
      const one = held.get(runId);
      if (one === undefined) return;
      knownGraphs.add(one.graphId);
      late = [...late, one].slice(-REMEMBERED);
      if (!isLarge(one.size)) {
        held.delete(runId);
        return;
      }
      wait(REPLY_MADE_MS, () => {
        held.delete(runId);
        onRoom();
      });
    },
    takesBodies(bytes, isFirst) {
      const [others, leaving] = [listOthers(), unitsLeaving()];
      if (isFirst && others.length === 0 && leaving === 0) return true;
      const bodies = { units: BODY_COPIES * bytes, largest: 0 };
      return countStateBytes([...others, bodies], leaving) <= budgetBytes;
    },
  };
}

/** Tells the queue, a moment later, that there may be room. */
function createLook({ onRoom, after }: MemoryPorts): {
  readonly again: () => void;
  readonly whenFull: () => void;
  readonly isFull: () => boolean;
} {
  let isWaiting = false;
  let isFull = false;
  const again = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    after(LOOK_AGAIN_MS, () => {
      [isWaiting, isFull] = [false, false];
      onRoom();
    });
  };
  return {
    again,
    whenFull() {
      isFull = true; // else the queue would hand out the run that has to wait again at once
      again();
    },
    isFull: () => isFull,
  };
}

const isLarge = ({ units }: StateSize): boolean => units > SMALL_UNITS;

function findLargest(sizes: readonly StateSize[]): StateSize {
  return sizes.reduce((one, other) => (other.units > one.units ? other : one), NONE);
}
