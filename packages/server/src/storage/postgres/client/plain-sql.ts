// Plain SQL: statements and transactions on a pool of their own, for other parts of the process than the storage: no
// pipelines, no marks of commits.
import type { Pool, PoolClient } from "pg";
import { isRetryable, storageFailure } from "./errors.ts";
import { findLimits, openPool, parameterText, type ConnectionOptions, type Parameter, type Row } from "./pool.ts";

export interface PlainSql {
  all(sql: string, ...parameters: readonly Parameter[]): Promise<readonly Row[]>;
}

export interface PlainDatabase extends PlainSql {
  /** Runs again after a deadlock. @throws {ApiError} `storage_unavailable` */
  transaction<T>(work: (sql: PlainSql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const ATTEMPTS_MAX = 3;

export function openPlainDatabase(options: ConnectionOptions): PlainDatabase {
  const pool = openPool(options);
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
  return (await on.query<Row>(text, values)).rows ?? [];
}

async function transact<T>(pool: Pool, work: (sql: PlainSql) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query(`BEGIN; ${findLimits(client) ?? ""}`);
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
