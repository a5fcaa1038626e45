// Store scope: the conditions of a caller's scope, applied to items and namespaces of the store.
// Invariants:
//   - Conditions apply to `{...value, namespace, key}`, for a namespace to `{namespace}`: items have no metadata.
//   - An item outside the scope reads, is listed and is deleted as if it did not exist.
//   - Nothing outside the scope is written: neither over an item outside it, nor as one.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Scope, StoreItem } from "../model/model.ts";
import { inScope } from "../auth/scope.ts";

export function itemInScope(item: Pick<StoreItem, "namespace" | "key" | "value">, scope: Scope): boolean {
  const members: JsonObject = { ...item.value, namespace: item.namespace, key: item.key };
  return inScope(members, scope);
}

export function namespaceInScope(namespace: readonly string[], scope: Scope): boolean {
  return inScope({ namespace }, scope);
}

const PAGE = 200;
/** Maximum number of rows that a scoped search reads after its other conditions. */
export const SCOPED_SCAN_MAX = 10_000;

interface Window<Row> {
  readonly limit: number;
  readonly offset: number;
  readonly fits: (row: Row) => boolean;
  /** @returns null if the search exceeds its limit */
  readonly page: (limit: number, offset: number) => Promise<readonly Row[] | null> | readonly Row[] | null;
}

/** The matching rows of a window, read in pages. @returns null if the search exceeds its limit */
export async function scopedRows<Row>({ limit, offset, fits, page }: Window<Row>): Promise<readonly Row[] | null> {
  const found: Row[] = [];
  let passed = 0;
  for (let scanned = 0; scanned < SCOPED_SCAN_MAX; scanned += PAGE) {
    const rows = await page(PAGE, scanned);
    if (rows === null) return null;
    for (const row of rows) {
      if (!fits(row)) continue;
      if (passed++ >= offset) found.push(row);
      if (found.length >= limit) return found;
    }
    if (rows.length < PAGE) return found;
  }
  return null;
}
