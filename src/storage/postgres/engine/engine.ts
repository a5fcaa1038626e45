// Engine on PostgreSQL: queue, lease, peers and wakes of one process among many.
import { Pool } from "pg";
import type { Engine, Storage } from "../../../agent/ports/ports.ts";
import type { Clock } from "../../../base/clock.ts";
import { describeError } from "../../../base/api-error.ts";
import { settlesWithin } from "../../../base/lifecycle.ts";
import type { Log } from "../../../base/log/log.ts";
import { ANSWER_TIMEOUT_MS, CLOSE_MS, connectionConfig } from "../client/pool.ts";
import { createLease, type LeaseOptions } from "./lease.ts";
import { createNotices } from "./notices.ts";
import { createJobQueue } from "./queue.ts";

/** One listens for jobs, the others fetch them. */
const JOB_CONNECTIONS = 4;

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
  let pool: Pool | null = null;
  const opened = (): Pool => {
    if (pool !== null) return pool;
    pool = new Pool({
      ...connectionConfig(options.uri),
      max: JOB_CONNECTIONS,
      connectionTimeoutMillis: 5000,
      query_timeout: ANSWER_TIMEOUT_MS,
      options: "-c synchronous_commit=off", // a forgotten job is created again, and a second job does no harm
    });
    const lost = (error: Error): void => log.debug("connection_lost", { reason: describeError(error).message });
    pool.on("error", lost);
    pool.on("connect", (client) => void client.on("error", lost));
    return pool;
  };
  const queue = createJobQueue({ pool: opened, clock, log, onPool: lease.onPool, onQueued: notices.onQueued });
  return {
    wakes: notices.wakes,
    peers: notices.peers,
    lease: {
      ...lease,
      async start() {
        await notices.start();
        await lease.start();
      },
      stopMs: 7 * CLOSE_MS,
      async stop() {
        await lease.stop();
        await notices.stop();
        if (pool !== null) await settlesWithin(pool.end(), CLOSE_MS); // it waits for statements in progress
      },
    },
    queue,
  };
}
