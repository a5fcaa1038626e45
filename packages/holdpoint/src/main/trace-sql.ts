// Trace SQL: the agent server's pool of PostgreSQL connections for the trace store.
import type { Pool, PoolClient } from "pg";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Parameter, Sql, TraceSql } from "@holdpoint/collector/traces/postgres/sql.ts";
import { isRetryable, storageFailure } from "@holdpoint/server/storage/postgres/client/errors.ts";
import { openPool, parameterText } from "@holdpoint/server/storage/postgres/client/pool.ts";

/** Connections of this process: uploads and reads of traces leave most of the database to runs. */
const POOL_MAX = 4;
const ATTEMPTS_MAX = 3;

export function openTraceSql(uri: string, log: Log): TraceSql {
  const pool = openPool({ uri, poolMax: POOL_MAX, log });
  return {
    all: (sql, ...parameters) => ask(pool, sql, parameters).catch(fail),
    async transaction(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await transact(pool, work);
        } catch (error) {
          if (attempt === ATTEMPTS_MAX || !isRetryable(error)) throw storageFailure(error);
        }
      }
    },
    close: () => pool.end(),
  };
}

const fail = (error: unknown): never => {
  throw storageFailure(error);
};

async function ask(on: Pool | PoolClient, text: string, parameters: readonly Parameter[]) {
  const values = parameters.map(parameterText);
  return (await on.query<Record<string, unknown>>(text, values)).rows ?? [];
}

async function transact<T>(pool: Pool, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query("BEGIN");
    const result = await work({ all: (sql, ...parameters) => ask(client, sql, parameters) });
    await client.query("COMMIT");
    broken = false;
    return result;
  } catch (error) {
    broken = await client.query("ROLLBACK").then(
      () => false,
      () => true,
    );
    throw error;
  } finally {
    client.release(broken);
  }
}
