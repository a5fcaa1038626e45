// Lifecycle: ordered start and stop of the parts of a service.
// Invariants:
//   lifecycle.1. Parts start in order and stop in reverse.
//   lifecycle.2. If a part fails to start, the earlier parts stop and the failure is thrown.
//   lifecycle.3. Every part stops, also after another failed to stop; all failures are thrown together.
//   lifecycle.4. stop() during start() lets the current part finish starting, starts no further part, and stops all
//        that run.
//   lifecycle.5. Concurrent stop() calls share one stop and end together.
//   lifecycle.6. A part that exceeds its stop time counts as failed, and the others still stop.
import { describeError } from "./api-error.ts";

export interface Service {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Longest duration of stop(). Default: STOP_MS; null if the parts have limits of their own. */
  readonly stopMs?: number | null;
}

/** Far more than a part without external waits needs. */
const STOP_MS = 10_000;

/** Parts of this process with stop() in progress, outermost first: a hung shutdown reports them. */
const inStop = new Set<string>();
export const stopping = (): readonly string[] => [...inStop];

/** lifecycle.6. @throws the error of stop(), or a timeout error */
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

/** Waits a limited time for something whose outcome does not matter. @returns whether it settled in time */
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
        if (stopping !== null) throw new Error(`${name} was stopped while it started`); // lifecycle.4
        await part.start();
        running.push(part);
      }
    } catch (error) {
      await stopAll().catch(() => undefined); // lifecycle.2: report the first failure
      throw error;
    }
  };
  const stopAll = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (let part = running.pop(); part !== undefined; part = running.pop()) {
      try {
        await stopPart(part);
      } catch (error) {
        failures.push(error); // lifecycle.3
      }
    }
    if (failures.length === 0) return;
    const reasons = failures.map((failure) => describeError(failure).message);
    throw new AggregateError(failures, `${name} did not stop cleanly: ${reasons.join("; ")}`);
  };
  const stopAfterStart = async (): Promise<void> => {
    await starting?.catch(() => undefined); // its caller handles the failure
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
      stopping ??= stopAfterStart().finally(() => (stopping = null)); // lifecycle.5
      await stopping;
    },
  };
}
