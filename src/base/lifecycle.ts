// Lifecycle: parts with start and stop, put together in order.
// Invariants:
//   LC1. Parts start in order and stop in reverse.
//   LC2. When a part fails to start, those before it are stopped, and the failure is thrown.
//   LC3. Every part is stopped, also when another's stop failed; the failures are thrown together.
//   LC4. stop() during start() lets the part at hand finish starting, starts no further one, and stops all that run.
//   LC5. Calls of stop() at the same time are one stop, and end together.

export interface Service {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
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
        await part.stop();
      } catch (error) {
        failures.push(error); // LC3
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `${name} did not stop cleanly`);
  };
  const stopAfterStart = async (): Promise<void> => {
    await starting?.catch(() => undefined); // its caller hears of the failure
    await stopAll();
  };

  return {
    name,
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
