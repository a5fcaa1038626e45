// Bulk dialog: one approval for many items. It lists all items, and later the result of each.
// Invariants:
//   bulk-dialog.1. Only items of one graph and one action are approved together: the dialog excludes the others and
//        reports them.
//   bulk-dialog.2. Every sent item has a result.
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState, type ReactNode } from "react";
import { answersBody, type Answer, type AnswerResult } from "../../../data/inbox/calls.ts";
import { keyOf, type ListedItem } from "../../../data/inbox/item.ts";
import { INBOX } from "../../../data/inbox/live.ts";
import { post } from "../../../data/inbox/outbox.ts";
import { Button, Chip } from "../../../ui/controls.tsx";
import { CopyCurl } from "../../../ui/copy.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { glance } from "../../../ui/format.ts";
import { holdSecs } from "../../../hooks/preferences.ts";
import { showToast } from "../../../ui/toast.tsx";
import { createValue, useValue } from "../../../hooks/value.ts";
import { VirtualList } from "../../../ui/virtual-list.tsx";
import { planOf, type Planned } from "./bulk.ts";
import { refusal } from "../model/report.ts";

interface Results {
  readonly planned: readonly Planned[];
  readonly results: readonly AnswerResult[];
}

/** Shown by the page, also long after its dialog has closed. */
export const bulkResults = createValue<Results | null>(null);

const ROW_PX = 40;
const LIST_PX_MAX = 360;

export function BulkDialog({
  items,
  onClose,
}: {
  readonly items: readonly ListedItem[];
  readonly onClose: () => void;
}): ReactNode {
  const queries = useQueryClient();
  const [plan] = useState(() => planOf(items));
  const answers = useMemo(
    (): readonly Answer[] =>
      plan.taken.map(({ item, resume }) => ({
        thread_id: item.thread_id,
        interrupt_id: item.id,
        ...(resume === undefined ? {} : { resume }),
      })),
    [plan],
  );
  const send = (): void => {
    onClose();
    post(`Approve ${plan.taken.length} × ${plan.what}`, answers, holdSecs.get() * 1000, (results) => {
      const refused = results.filter(({ problem }) => problem !== null).length;
      const sent = results.length - refused;
      showToast(refused === 0 ? `Approved ${sent}.` : `Approved ${sent}, ${refused} not accepted.`, {
        tone: refused === 0 ? "green" : "amber",
        actions: [{ label: "Each result", run: () => bulkResults.set({ planned: plan.taken, results }) }],
        ms: refused === 0 ? 6000 : null,
      });
      if (refused > 0) bulkResults.set({ planned: plan.taken, results });
      void queries.invalidateQueries({ queryKey: [INBOX, "item"] });
    });
  };
  return (
    <Dialog
      title={`Approve ${plan.taken.length} × ${plan.what}`}
      description={
        plan.left.length === 0
          ? "Approves all of these unchanged."
          : `${plan.left.length} selected items belong to another graph or action, or do not allow approval, and are excluded.`
      }
      wide
      onClose={onClose}
      shortcuts={[{ keys: "Enter", label: "Confirm", run: send }]}
      footer={
        <>
          <CopyCurl method="POST" path="/inbox/answers" body={answersBody(answers)} />
          <span className="spread" />
          <Button hint="Esc" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="primary" icon="check" autoFocus disabled={plan.taken.length === 0} onClick={send}>
            Confirm
          </Button>
        </>
      }
    >
      <div className="bulk-list" style={{ height: Math.min(LIST_PX_MAX, plan.taken.length * ROW_PX) }}>
        <VirtualList
          items={plan.taken}
          rowHeight={ROW_PX}
          label="Arguments to approve"
          keyOf={({ item }) => keyOf(item)}
          renderRow={({ item, args }) => (
            <div role="listitem" className="bulk-row">
              <span className="truncate">{item.title}</span>
              <code className="truncate muted" title={glance(args, 2000)}>
                {glance(args, 200)}
              </code>
            </div>
          )}
        />
      </div>
    </Dialog>
  );
}

/** bulk-dialog.2 */
export function BulkResults(): ReactNode {
  const shown = useValue(bulkResults);
  if (shown === null) return null;
  const close = (): void => bulkResults.set(null);
  const rows = shown.planned.map(({ item }, at) => ({ item, result: shown.results[at] }));
  const refused = rows.filter(({ result }) => result?.problem !== null).length;
  return (
    <Dialog title={`${rows.length - refused} approved, ${refused} not accepted`} wide onClose={close}>
      <div className="bulk-list" style={{ height: Math.min(LIST_PX_MAX, rows.length * ROW_PX) }}>
        <VirtualList
          items={[...rows].sort((a, b) => Number(b.result?.problem !== null) - Number(a.result?.problem !== null))}
          rowHeight={ROW_PX}
          label="Results"
          keyOf={({ item }) => keyOf(item)}
          renderRow={({ item, result }) => (
            <div role="listitem" className="bulk-row">
              <Link
                to="/inbox/$threadId/$interruptId"
                params={{ threadId: item.thread_id, interruptId: item.id }}
                className="truncate"
                onClick={close}
              >
                {item.title}
              </Link>
              {result === undefined || result.problem === null ? (
                <Chip tone="green">answered</Chip>
              ) : (
                <span className="row truncate">
                  <Chip tone="amber">not accepted</Chip>
                  <span className="truncate" title={result.problem.message}>
                    {refusal(result.problem)}
                  </span>
                </span>
              )}
            </div>
          )}
        />
      </div>
    </Dialog>
  );
}
