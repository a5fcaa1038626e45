// Open trace SQL: loads the driver of PostgreSQL only for a trace store that needs it.
import type { TraceSql } from "@holdpoint/collector/traces/postgres/sql.ts";
import type { Log } from "@holdpoint/base/log/log.ts";

export async function openSql(uri: string, log: Log): Promise<TraceSql> {
  return (await import("./trace-sql.ts")).openTraceSql(uri, log);
}
