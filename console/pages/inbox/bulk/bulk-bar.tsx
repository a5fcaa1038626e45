// Bulk bar: the number of selected items and the operations on all of them.
import type { ReactNode } from "react";
import { useReadOnly } from "../../../api/caller.ts";
import type { ListedItem } from "../../../data/inbox/item.ts";
import { Button } from "../../../ui/controls.tsx";

export function BulkBar({
  chosen,
  total,
  onApprove,
  onAll,
  onClear,
}: {
  readonly chosen: readonly ListedItem[];
  readonly total: number;
  readonly onApprove: () => void;
  readonly onAll: () => void;
  readonly onClear: () => void;
}): ReactNode {
  const readOnly = useReadOnly();
  return (
    <div className="bulk-bar" role="toolbar" aria-label="Selected items">
      <strong className="numeric">{chosen.length} selected</strong>
      <Button kind="primary" icon="check" hint="a" disabled={readOnly} onClick={onApprove}>
        Approve {chosen.length}
      </Button>
      {chosen.length < total ? (
        <Button kind="quiet" onClick={onAll}>
          Select all {total}
        </Button>
      ) : null}
      <Button kind="quiet" hint="Esc" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}
