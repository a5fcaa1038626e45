// SQL: what this store needs of PostgreSQL. The program gives it: connections, their limits and the encoding of texts are
// those of the agent server.
import type { Row } from "../merged-run.ts";

export type Parameter = string | number | null | Uint8Array | readonly string[];

export interface Sql {
  all(sql: string, ...parameters: readonly Parameter[]): Promise<readonly Row[]>;
}

export interface TraceSql extends Sql {
  /** On one connection; rolled back if `work` throws. @throws {ApiError} `storage_unavailable` without the database */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const PARAMETERS_MAX = 30_000;

/** `($1, $2), ($3, $4)` for rows of equal length, in statements of a bounded number of parameters. */
export async function putRows(
  sql: Sql,
  text: (values: string) => string,
  rows: readonly (readonly Parameter[])[],
): Promise<void> {
  const width = rows[0]?.length ?? 1;
  const most = Math.max(1, Math.floor(PARAMETERS_MAX / width));
  for (let from = 0; from < rows.length; from += most) {
    const part = rows.slice(from, from + most);
    const tuples = part.map(
      (_row, at) => `(${Array.from({ length: width }, (_, i) => `$${at * width + i + 1}`).join()})`,
    );
    await sql.all(text(tuples.join()), ...part.flat());
  }
}
