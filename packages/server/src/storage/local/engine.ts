// Local engine: queue, lease, peers and wakes for a process with its own storage.
import type { Engine, Storage } from "../../ports/ports.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { createLocalQueue } from "./queue.ts";
import { createLocalWakes } from "./wakes.ts";

export function createLocalEngine(ports: {
  readonly storage: Pick<Storage, "transaction">;
  readonly clock: Clock;
  readonly log: Log;
}): Engine {
  return {
    queue: createLocalQueue(ports),
    wakes: createLocalWakes(),
    lease: {
      name: "lease",
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
      workerId: () => null,
      holds: () => true,
      watch: () => undefined,
    },
    peers: { alone: true, notify: () => undefined, listen: () => undefined },
  };
}
