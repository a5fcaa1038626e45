// Open trace SQL: loads the driver of PostgreSQL only for a trace store that needs it.
import type { TraceSql } from "@holdpoint/collector/traces/postgres/sql.ts";
import type { Log } from "@holdpoint/base/log/log.ts";

/** Connections of this process: uploads and reads of traces leave most of the database to runs. */
const POOL_MAX = 4;

export async function openSql(uri: string, log: Log): Promise<TraceSql> {
  const { openPlainDatabase } = await import("@holdpoint/server/storage/postgres/client/plain-sql.ts");
  return openPlainDatabase({ uri, poolMax: POOL_MAX, log });
}
