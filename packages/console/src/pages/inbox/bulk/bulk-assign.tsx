// Bulk assign: assigns many items to one person.
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { ApiProblem } from "../../../api/problem.ts";
import { assignItem } from "../../../data/inbox/item-calls.ts";
import type { ListedItem } from "../../../data/inbox/item.ts";
import { INBOX } from "../../../data/inbox/live.ts";
import { AssignDialog } from "../review/assign-dialog.tsx";
import { reportBulk, type BulkResult } from "./bulk-results.tsx";
import { inTurn } from "./load-items.ts";

export function BulkAssign({
  items,
  onClose,
  onDone,
}: {
  readonly items: readonly ListedItem[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}): ReactNode {
  const queries = useQueryClient();
  const [force, setForce] = useState(false);
  const claimed = items.filter(({ claim }) => claim !== null).length;
  const assign = async (to: string): Promise<void> => {
    onDone();
    const rows = await inTurn(items, async (item): Promise<BulkResult> => {
      try {
        await assignItem(item, to, force);
        return { item, problem: null };
      } catch (error) {
        if (!(error instanceof ApiProblem)) throw error;
        return { item, problem: error };
      }
    });
    reportBulk("assigned", rows);
    await queries.invalidateQueries({ queryKey: [INBOX] });
  };
  return (
    <AssignDialog
      title={`Assign ${items.length}`}
      hint="As in the audit trail. Others cannot answer these items in the inbox."
      people={items.flatMap(({ review }) => review?.assignees.flat() ?? [])}
      onClose={onClose}
      onAssign={(to) => void assign(to)}
    >
      {claimed === 0 ? null : (
        <label className="check">
          <input type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} />
          Replace {claimed === 1 ? "the claim" : `the ${claimed} claims`} of others
        </label>
      )}
    </AssignDialog>
  );
}
