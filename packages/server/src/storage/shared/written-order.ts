// Written order: the checkpoints of a namespace, newest first. Their ids carry clock time, and clocks go back or differ
// between servers; where no id tells otherwise, the order of the ids is that of the writing.
// Invariants:
//   written-order.1. The checkpoint written last comes first, and each one before its parent.
//   written-order.2. Beyond that, ids decide.

export interface WrittenRow {
  readonly id: string;
  readonly parentId: string | null;
}

/**
 * One row, `skewed`, if ids do not tell the order: a parent is later than its child, or a checkpoint than the head.
 * @param mark the parameters of thread and namespace
 */
export const skewSql = (schema: "" | "holdpoint.", [threadId, ns]: readonly [string, string]): string => `
  SELECT 1 AS skewed FROM ${schema}checkpoints WHERE thread_id = ${threadId} AND ns = ${ns} AND parent_id > checkpoint_id
  UNION ALL
  SELECT 1 FROM ${schema}heads AS h JOIN ${schema}checkpoints AS c
    ON c.thread_id = h.thread_id AND c.ns = h.ns AND c.checkpoint_id > h.checkpoint_id
  WHERE h.thread_id = ${threadId} AND h.ns = ${ns}
  LIMIT 1`;

interface Place {
  /** The greatest id of the line down to here. */
  readonly id: string;
  readonly depth: number;
}

/** @param head the checkpoint written last @returns ids, newest first */
export function sortByWriting(rows: readonly WrittenRow[], head: string | null): readonly string[] {
  const parents = new Map(rows.map(({ id, parentId }) => [id, parentId]));
  const places = new Map<string, Place>();
  for (const { id } of rows) {
    const line: string[] = [];
    let at: string | null = id;
    while (at !== null && parents.has(at) && !places.has(at)) {
      line.push(at);
      at = parents.get(at) ?? null;
    }
    for (const one of line.toReversed()) {
      const above = places.get(parents.get(one) ?? "");
      const greatest = above !== undefined && above.id > one ? above.id : one;
      places.set(one, { id: greatest, depth: (above?.depth ?? 0) + 1 });
    }
  }
  const compare = (one: string, other: string): number => {
    const [left, right] = [places.get(one), places.get(other)];
    if (left === undefined || right === undefined || one === head) return one === head ? -1 : 0;
    if (other === head) return 1;
    if (left.id !== right.id) return left.id > right.id ? -1 : 1;
    return right.depth - left.depth || (one > other ? -1 : 1);
  };
  return rows.map(({ id }) => id).toSorted(compare);
}

/** The ids of a page. @param all whether a filter of the rows follows */
export function choosePage(
  order: readonly string[],
  { before, limit }: { readonly before: string | null; readonly limit: number | null },
  all: boolean,
): readonly string[] {
  const at = before === null ? -1 : order.indexOf(before);
  const rest = before !== null && at < 0 ? order.filter((id) => id < before) : order.slice(at + 1);
  return all || limit === null ? rest : rest.slice(0, limit);
}
