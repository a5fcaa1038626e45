// Conditions of a search, and its page as ids with the size of each row.
// Invariant: a caller's keys and values are bound parameters, never part of the text.
import type { SizedId } from "../../ports/ports.ts";
import type { ColdSql, Value } from "./cold-sql.ts";

export interface Conditions {
  /** @param sql with a `?` for each value */
  add(sql: string, ...values: readonly Value[]): void;
  /** `WHERE …`, or nothing. */
  readonly where: () => string;
  readonly values: readonly Value[];
}

export function createConditions(): Conditions {
  const list: string[] = [];
  const values: Value[] = [];
  return {
    add(sql, ...given) {
      list.push(sql);
      values.push(...given);
    },
    where: () => (list.length === 0 ? "" : `WHERE ${list.join(" AND ")}`),
    values,
  };
}

export interface Page {
  readonly table: string;
  readonly id: string;
  /** Columns whose sizes count. */
  readonly sized: readonly string[];
  readonly order: string;
  readonly limit: number;
  readonly offset: number;
}

export async function listSized<Id extends string | number>(
  sql: ColdSql,
  { table, id, sized, order, limit, offset }: Page,
  { where, values }: Conditions,
): Promise<readonly SizedId<Id>[]> {
  const bytes = sized.map((column) => `octet_length(${column})`).join(" + ");
  const rows = await sql.all(
    `SELECT ${id} AS id, ${bytes} AS bytes FROM ${sql.schema}${table} ${where()} ORDER BY ${order} LIMIT ? OFFSET ?`,
    ...values,
    limit,
    offset,
  );
  return rows.map((row) => ({ id: row["id"] as Id, bytes: Number(row["bytes"]) }));
}
