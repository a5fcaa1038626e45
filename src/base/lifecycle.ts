// Lifecycle: parts with start and stop, put together in order.
// Invariants:
//   LC1. Parts start in order and stop in reverse.
//   LC2. When a part fails to start, those before it are stopped, and the failure is thrown.
//   LC3. Every part is stopped, also when another's stop failed; the failures are thrown together.
//   LC4. stop() during start() lets the part at hand finish starting, starts no further one, and stops all that run.
//   LC5. Calls of stop() at the same time are one stop, and end together.
//   LC6. A part that does not stop in its time is given up: that is its failure, and the others are stopped.
import { describeError } from "./errors.ts";

export interface Service {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Longest time that stop() may take; STOP_MS when it is left out, null when its own parts have limits. */
  readonly stopMs?: number | null;
}

/** Far more than a part needs that waits for nobody. */
const STOP_MS = 10_000;

/** Parts of this process whose stop() is in progress, outermost first: what a hung shutdown names. */
const inStop = new Set<string>();
export const stopping = (): readonly string[] => [...inStop];

/** LC6. @throws what stop() throws, or that it took too long */
export async function stopPart({
  name,
  stop,
  stopMs = STOP_MS,
}: Pick<Service, "name" | "stop" | "stopMs">): Promise<void> {
  inStop.add(name);
  const stopped = stop();
  if (stopMs === null || (await settlesWithin(stopped, stopMs))) {
    await stopped.finally(() => inStop.delete(name));
    return;
  }
  stopped.catch(() => undefined); // its limit is the failure
  throw new Error(`${name} has not stopped within ${stopMs} ms`);
}

/** Waits for something whose outcome does not matter, but not for ever. @returns whether it settled in time */
export async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const settled = work.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, late]).finally(() => clearTimeout(timer));
}

export function group(name: string, parts: readonly Service[]): Service {
  const running: Service[] = [];
  let starting: Promise<void> | null = null;
  let stopping: Promise<void> | null = null;

  const startAll = async (): Promise<void> => {
    try {
      for (const part of parts) {
        if (stopping !== null) throw new Error(`${name} was stopped while it started`); // LC4
        await part.start();
        running.push(part);
      }
    } catch (error) {
      await stopAll().catch(() => undefined); // LC2: the first failure is the one to tell
      throw error;
    }
  };
  const stopAll = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (let part = running.pop(); part !== undefined; part = running.pop()) {
      try {
        await stopPart(part);
      } catch (error) {
        failures.push(error); // LC3
      }
    }
    if (failures.length === 0) return;
    const reasons = failures.map((failure) => describeError(failure).message);
    throw new AggregateError(failures, `${name} did not stop cleanly: ${reasons.join("; ")}`);
  };
  const stopAfterStart = async (): Promise<void> => {
    await starting?.catch(() => undefined); // its caller hears of the failure
    await stopAll();
  };

  return {
    name,
    stopMs: null,
    async start() {
      starting = startAll();
      await starting.finally(() => (starting = null));
    },
    async stop() {
      stopping ??= stopAfterStart().finally(() => (stopping = null)); // LC5
      await stopping;
    },
  };
}
