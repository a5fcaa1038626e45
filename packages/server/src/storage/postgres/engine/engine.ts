// Engine on PostgreSQL: queue, lease, peers and wakes of one process among many.
import type { Engine, Storage } from "../../../ports/ports.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { CLOSE_MS } from "../client/pool.ts";
import { createLease, type LeaseOptions } from "./lease.ts";
import { createNotices } from "./notices.ts";
import { createRowQueue } from "./queue.ts";

export interface EngineOptions extends LeaseOptions {
  /** The process serves callers that wait for runs and read them. */
  readonly servesCalls: boolean;
}

export function createPostgresEngine(
  options: EngineOptions,
  ports: { readonly storage: Pick<Storage, "transaction">; readonly clock: Clock; readonly log: Log },
): Engine {
  const { clock, log } = ports;
  const lease = createLease(options, ports);
  const notices = createNotices({ ...options, clock, log });
  const { notifyQueued: notify, onQueued } = notices;
  const queue = createRowQueue({ clock, log, holds: lease.holds, notify, onQueued });
  return {
    wakes: notices.wakes,
    peers: notices.peers,
    lease: {
      ...lease,
      async start() {
        await notices.start();
        await lease.start();
      },
      stopMs: 6 * CLOSE_MS,
      async stop() {
        await lease.stop();
        await notices.stop();
      },
    },
    queue,
  };
}
