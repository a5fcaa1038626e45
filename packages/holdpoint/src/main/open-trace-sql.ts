// Open trace SQL: loads the driver of PostgreSQL only for a trace store that needs it.
import type { TraceSql } from "@holdpoint/collector/traces/postgres/sql.ts";
import type { TraceConfig } from "@holdpoint/collector/traces/settings.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { readAddress } from "./database-address.ts";

/** Connections of this process: uploads and reads of traces leave most of the database to runs. */
const POOL_MAX = 4;

export async function openSql(config: TraceConfig, log: Log): Promise<TraceSql> {
  const address = readAddress(config);
  if (address === null) throw new Error("the trace store is a file without DATABASE_URI");
  const { openPlainDatabase } = await import("@holdpoint/server/storage/postgres/client/plain-sql.ts");
  return openPlainDatabase({ ...address, poolMax: POOL_MAX, log });
}
