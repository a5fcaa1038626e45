// Namespaces: the server's label lists → rows of a tree, and the URL → a search. Pure.
import { parsePairs } from "../../ui/pairs.ts";

export interface NamespaceRow {
  /** Labels joined by dots. */
  readonly path: string;
  readonly label: string;
  /** 0 for the outermost. */
  readonly level: number;
}

/** Each namespace once, with all its ancestors, in tree order. */
export function buildRows(namespaces: readonly (readonly string[])[]): readonly NamespaceRow[] {
  const rows = new Map<string, NamespaceRow>();
  const sorted = [...namespaces].sort((one, other) => compare(one, other));
  for (const labels of sorted) {
    labels.forEach((label, level) => {
      const path = labels.slice(0, level + 1).join(".");
      if (!rows.has(path)) rows.set(path, { path, label, level });
    });
  }
  return [...rows.values()];
}

function compare(one: readonly string[], other: readonly string[]): number {
  for (let at = 0; at < Math.min(one.length, other.length); at++) {
    const order = (one[at] ?? "").localeCompare(other[at] ?? "");
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

export const splitLabels = (path: string | undefined): readonly string[] =>
  path === undefined || path === "" ? [] : path.split(".");

export interface StoreView {
  readonly in?: string | undefined;
  readonly find?: string | undefined;
  readonly filter?: string | undefined;
}

/** Reading here does not count as a use, so that viewing an item does not extend its lifetime. */
export function buildSearch(view: StoreView, limit: number, offset: number): Readonly<Record<string, unknown>> {
  const filter = parsePairs(view.filter);
  return {
    namespace_prefix: splitLabels(view.in),
    limit,
    offset,
    refresh_ttl: false,
    ...(view.find === undefined ? {} : { query: view.find }),
    ...(Object.keys(filter).length === 0 ? {} : { filter }),
  };
}
