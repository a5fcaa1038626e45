// Bulk bar: the number of selected items and the operations on all of them.
import type { ReactNode } from "react";
import { useReadOnly } from "../../../api/caller.ts";
import type { ListedItem } from "../../../data/inbox/item.ts";
import type { BulkKind } from "./bulk.ts";
import { count } from "../../../ui/format.ts";
import { SELECTED_MAX } from "./selection.ts";
import { Button } from "../../../ui/controls.tsx";

export function BulkBar({
  chosen,
  total,
  onBulk,
  onAll,
  onClear,
}: {
  readonly chosen: readonly ListedItem[];
  readonly total: number;
  readonly onBulk: (kind: BulkKind) => void;
  readonly onAll: () => void;
  readonly onClear: () => void;
}): ReactNode {
  const readOnly = useReadOnly();
  const number = count(chosen.length);
  return (
    <div className="bulk-bar" role="toolbar" aria-label="Selected items">
      <strong className="numeric">{number} selected</strong>
      <Button kind="primary" icon="check" hint="a" disabled={readOnly} onClick={() => onBulk("approve")}>
        Approve {number}
      </Button>
      <Button kind="danger" hint="r" disabled={readOnly} onClick={() => onBulk("reject")}>
        Reject {number}
      </Button>
      <Button hint="w" needs="threads:claim" disabled={readOnly} onClick={() => onBulk("assign")}>
        Assign {number}
      </Button>
      {chosen.length < Math.min(total, SELECTED_MAX) ? (
        <Button kind="quiet" hint="*" onClick={onAll}>
          {total > SELECTED_MAX ? `Select ${count(SELECTED_MAX)} of ${count(total)}` : `Select all ${count(total)}`}
        </Button>
      ) : total > SELECTED_MAX ? (
        <span className="muted">
          {count(SELECTED_MAX)} of {count(total)} at once
        </span>
      ) : null}
      <Button kind="quiet" hint="Esc" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}
