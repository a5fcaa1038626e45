// Conditions: builds the WHERE of a search.
// Invariant: a caller's keys and values are parameters, never part of the text.
import type { Parameter } from "../../client/pool.ts";

export interface Conditions {
  /** @param sql with a `?` for each value */
  add(sql: string, ...values: readonly Parameter[]): void;
  /** Placeholder of one more parameter. */
  mark(value: Parameter): string;
  /** `WHERE …`, or nothing. */
  readonly where: () => string;
  readonly parameters: Parameter[];
}

export function createConditions(): Conditions {
  const list: string[] = [];
  const parameters: Parameter[] = [];
  const mark = (value: Parameter): string => `$${parameters.push(value)}`;
  return {
    add(sql, ...values) {
      let at = 0;
      list.push(sql.replace(/\?/g, () => mark(values[at++] ?? null)));
    },
    mark,
    where: () => (list.length === 0 ? "" : `WHERE ${list.join(" AND ")}`),
    parameters,
  };
}
