// Use bulk: starts an operation on the selected items, or on the current one, with its dialog.
import { useState, type ReactNode } from "react";
import type { ListedItem } from "../../../data/inbox/item.ts";
import { BulkAssign } from "./bulk-assign.tsx";
import { BulkDialog } from "./bulk-dialog.tsx";
import type { BulkKind } from "./bulk.ts";
import type { InboxQuery } from "../../../data/inbox/calls.ts";
import type { Selection } from "./selection.ts";

export interface Bulk {
  readonly start: (kind: BulkKind) => void;
  readonly dialog: ReactNode;
}

/** @param query of the list that the items are from */
export function useBulk(
  { current }: { readonly current: ListedItem | undefined },
  selection: Selection,
  query: InboxQuery,
): Bulk {
  const [at, setAt] = useState<{ readonly kind: BulkKind; readonly items: readonly ListedItem[] } | null>(null);
  const cancel = (): void => setAt(null); // the selection stays
  const end = (): void => {
    setAt(null);
    selection.clear();
  };
  const start = (kind: BulkKind): void => {
    const one = current === undefined ? [] : [current];
    const items = selection.chosen.length > 0 ? selection.chosen : one;
    if (items.length > 0) setAt({ kind, items });
  };
  if (at === null) return { start, dialog: null };
  const { kind, items } = at;
  const dialog =
    kind === "assign" ? (
      <BulkAssign items={items} onClose={cancel} onDone={end} />
    ) : (
      <BulkDialog kind={kind} items={items} query={query} onClose={cancel} onDone={end} />
    );
  return { start, dialog };
}
