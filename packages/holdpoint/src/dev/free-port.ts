// Free port: a service on its usual port, or on the next free one.
// Invariants:
//   - The service itself listens; the look beforehand only saves a start that fails.
//   free-port.2. A service that moves leaves the usual ports of the others alone.
import { createServer } from "node:net";

const PORTS_TRIED = 20;

/** @throws {Error} ListenError, if the last port is in use too; any other error of `start` */
export async function onFreePort<T>(
  usual: { readonly host: string; readonly port: number; readonly reserved?: readonly number[] },
  start: (port: number) => Promise<T>,
): Promise<T> {
  const { host, port: first, reserved = [] } = usual;
  for (let port = first; ; port++) {
    if (port !== first && reserved.includes(port)) continue; // free-port.2
    const isLast = port >= Math.min(first + PORTS_TRIED, 65_535);
    if (isLast || (await isFree(host, port))) {
      try {
        return await start(port);
      } catch (error) {
        const isInUse = error instanceof Error && error.name === "ListenError"; // taken since the check
        if (!isInUse || isLast) throw error;
      }
    }
  }
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}
