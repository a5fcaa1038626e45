// Free port: a service on its usual port, or on the next one that nobody has.
// Invariants:
//   free-port.1. What decides is whether the service listens: looking first only saves starting it in vain.
//   free-port.2. A port that is passed over is told, with the one that is tried next.
import { createServer } from "node:net";
import type { Log } from "../base/log/log.ts";

const PORTS_TRIED = 20;

/** @throws {Error} ListenError, when the last of the ports is taken too; whatever `start` throws otherwise. */
export async function onFreePort<T>(
  usual: { readonly host: string; readonly port: number },
  start: (port: number) => Promise<T>,
  log: Log,
): Promise<T> {
  const { host, port: first } = usual;
  for (let port = first; ; port++) {
    const isLast = port >= Math.min(first + PORTS_TRIED, 65_535);
    if (isLast || (await isFree(host, port))) {
      try {
        return await start(port);
      } catch (error) {
        const taken = error instanceof Error && error.name === "ListenError"; // since we looked (free-port.1)
        if (!taken || isLast) throw error;
      }
    }
    log.warning("port_taken", { port, trying: port + 1 }); // free-port.2
  }
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}
