// Bulk results: the result of each item of a bulk operation.
// Invariants:
//   - Every item has a result.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ApiProblem } from "../../../api/problem.ts";
import { refusal } from "../../../answering/model/report.ts";
import { buildKey, type ListedItem } from "../../../data/inbox/item.ts";
import { createValue, useValue } from "../../../hooks/value.ts";
import { readDirection } from "../../../text/direction.ts";
import { Chip } from "../../../ui/controls.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { showToast } from "../../../ui/toast.tsx";
import { VirtualList } from "../../../ui/virtual-list.tsx";

export interface BulkResult {
  readonly item: Pick<ListedItem, "thread_id" | "id" | "title">;
  readonly problem: ApiProblem | null;
}

interface Results {
  /** "approved", "rejected", "assigned" */
  readonly done: string;
  readonly rows: readonly BulkResult[];
}

/** Shown by the page, also long after its dialog has closed. */
const shownResults = createValue<Results | null>(null);

/** Reports the total, and opens the results if any is a refusal. */
export function reportBulk(done: string, rows: readonly BulkResult[]): void {
  const refused = rows.filter(({ problem }) => problem !== null).length;
  const sent = rows.length - refused;
  const [first = ""] = done;
  const total = `${first.toUpperCase()}${done.slice(1)} ${sent}`;
  showToast(refused === 0 ? `${total}.` : `${total}, ${refused} not accepted.`, {
    tone: refused === 0 ? "green" : "amber",
    actions: [{ label: "Each result", run: () => shownResults.set({ done, rows }) }],
    ms: refused === 0 ? 6000 : null,
  });
  if (refused > 0) shownResults.set({ done, rows });
}

const ROW_PX = 40;
const LIST_PX_MAX = 360;

export function BulkResults(): ReactNode {
  const shown = useValue(shownResults);
  if (shown === null) return null;
  const close = (): void => shownResults.set(null);
  const refused = shown.rows.filter(({ problem }) => problem !== null);
  const accepted = shown.rows.filter(({ problem }) => problem === null);
  return (
    <Dialog title={`${accepted.length} ${shown.done}, ${refused.length} not accepted`} wide onClose={close}>
      <div className="bulk-list" style={{ height: Math.min(LIST_PX_MAX, shown.rows.length * ROW_PX) }}>
        <VirtualList
          items={[...refused, ...accepted]}
          rowHeight={ROW_PX}
          label="Results"
          buildKey={({ item }) => buildKey(item)}
          renderRow={(row) => <ResultRow row={row} done={shown.done} onOpen={close} />}
        />
      </div>
    </Dialog>
  );
}

function ResultRow({
  row: { item, problem },
  done,
  onOpen,
}: {
  readonly row: BulkResult;
  readonly done: string;
  readonly onOpen: () => void;
}): ReactNode {
  return (
    <div role="listitem" className="bulk-row">
      <Link
        to="/inbox/$threadId/$interruptId"
        params={{ threadId: item.thread_id, interruptId: item.id }}
        className="truncate"
        dir={readDirection(item.title)}
        onClick={onOpen}
      >
        {item.title}
      </Link>
      {problem === null ? (
        <Chip tone="green">{done}</Chip>
      ) : (
        <span className="row truncate">
          <Chip tone="amber">not accepted</Chip>
          <span className="truncate" title={problem.message}>
            {refusal(problem)}
          </span>
        </span>
      )}
    </div>
  );
}
