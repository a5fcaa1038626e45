// Lifecycle: parts with start and stop, put together in order.
// Invariants:
//   LC1. Parts start in order and stop in reverse.
//   LC2. When a part fails to start, those before it are stopped, and the failure is thrown.
//   LC3. Every part is stopped, also when another's stop failed; the failures are thrown together.

export interface Service {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function group(name: string, parts: readonly Service[]): Service {
  let started: Service[] = [];
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const part of started.reverse()) {
      try {
        await part.stop();
      } catch (error) {
        failures.push(error); // LC3
      }
    }
    started = [];
    if (failures.length > 0) throw new AggregateError(failures, `${name} did not stop cleanly`);
  };
  return {
    name,
    stop,
    async start() {
      for (const part of parts) {
        try {
          await part.start();
          started.push(part);
        } catch (error) {
          await stop().catch(() => undefined); // LC2: the first failure is the one to tell
          throw error;
        }
      }
    },
  };
}
