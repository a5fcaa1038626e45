// Graphile schema: graphile-worker's own tables, in a schema of ours, apart from those of an application that uses it
// too.
// Its migrations are part of ours (migrations.ts, postgres/migrations.1). A breaking one stops the queues of servers
// with the previous version, so it may only come with a release that says so.
import { Pool } from "pg";
import { Logger, runMigrations } from "graphile-worker";
import { describeError } from "../../../base/api-error.ts";
import type { Log } from "../../../base/log/log.ts";
import { connectionConfig } from "../client/pool.ts";

export const JOBS_SCHEMA = "holdpoint_jobs";

const WORTH_TELLING: ReadonlySet<string> = new Set(["error", "warning"]);

export async function migrateJobs(uri: string): Promise<void> {
  const pool = new Pool({ ...connectionConfig(uri), max: 1 });
  pool.on("error", () => undefined); // a query on it fails and reports that
  pool.on("connect", (client) => void client.on("error", () => undefined));
  try {
    await runMigrations({ pgPool: pool, schema: JOBS_SCHEMA, logger: jobsLogger(null) });
  } finally {
    await pool.end();
  }
}

/** Its messages go to our log, limited to those an operator may need. */
export function jobsLogger(log: Log | null): Logger {
  return new Logger(() => (level, message, meta) => {
    if (!WORTH_TELLING.has(level)) return;
    const reason = meta?.["error"] === undefined ? {} : { reason: describeError(meta["error"]).message };
    log?.warning("jobs", { message: message.split("\n")[0] ?? "", ...reason });
  });
}
