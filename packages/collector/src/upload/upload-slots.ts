// Upload slots: limits the concurrent requests of all tenants. Tenants with a failing circuit share a quarter of the
// slots.
export interface UploadSlots {
  /** Runs `send` as soon as a slot is free. `failing`: the circuit of the tenant is open or half-open. */
  readonly use: <Result>(failing: boolean, send: () => Promise<Result>) => Promise<Result>;
  readonly inUse: () => number;
  /** Starts every waiting request at once, for shutdown. */
  readonly releaseAll: () => void;
}

interface Waiter {
  readonly failing: boolean;
  readonly start: () => void;
}

export function createUploadSlots(slotsMax: number): UploadSlots {
  const failingMax = Math.max(1, Math.floor(slotsMax / 4));
  const waiters: Waiter[] = [];
  let inUse = 0;
  let failingInUse = 0;

  const isFree = (failing: boolean): boolean => inUse < slotsMax && (!failing || failingInUse < failingMax);

  function acquire(failing: boolean): void {
    inUse++;
    if (failing) failingInUse++;
  }

  function startNext(): void {
    const index = waiters.findIndex(({ failing }) => isFree(failing));
    const waiter = waiters.splice(index < 0 ? waiters.length : index, 1)[0];
    if (waiter === undefined) return;
    acquire(waiter.failing);
    waiter.start();
  }

  return {
    async use(failing, send) {
      if (isFree(failing)) acquire(failing);
      else await new Promise<void>((start) => waiters.push({ failing, start }));
      try {
        return await send();
      } finally {
        inUse--;
        if (failing) failingInUse--;
        startNext();
      }
    },
    inUse: () => inUse,
    releaseAll() {
      for (const { failing, start } of waiters.splice(0)) {
        acquire(failing);
        start();
      }
    },
  };
}
