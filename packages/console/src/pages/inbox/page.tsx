// Page Inbox: pending interrupts. The list, its filters and keys, and the item of the URL beside it.
import { createLazyRoute, getRouteApi, useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { setTitle } from "../../browser/badge.ts";
import { type ListedItem, buildKey } from "../../data/inbox/item.ts";
import { openPath } from "../../data/inbox/live.ts";
import { useValue } from "../../hooks/value.ts";
import { Failure, Loading } from "../../ui/controls.tsx";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { BulkBar } from "./bulk/bulk-bar.tsx";
import { BulkResults } from "./bulk/bulk-results.tsx";
import { type Selection, useSelection } from "./bulk/selection.ts";
import "./inbox.css";
import { ItemPane } from "./item-pane.tsx";
import { EmptyInbox } from "./list/empty-inbox.tsx";
import { FilterBar } from "./list/filter-bar.tsx";
import { type Filters, buildQuery, readFilters } from "./list/filters.ts";
import { Headings, Row } from "./list/row.tsx";
import { useCursor } from "./list/use-cursor.ts";
import { useInboxKeys } from "./list/use-inbox-keys.ts";
import { useList, useViewer } from "./list/use-list.ts";
import { BulkAssign } from "./bulk/bulk-assign.tsx";
import { BulkDialog } from "./bulk/bulk-dialog.tsx";
import type { BulkKind } from "./bulk/bulk.ts";
import type { InboxQuery } from "../../data/inbox/calls.ts";

const inboxRoute = getRouteApi("/inbox");

export const page = createLazyRoute("/inbox")({ component: InboxPage });

const WIDE_ROW_PX = 42;
const NARROW_ROW_PX = 62;

function InboxPage(): ReactNode {
  const search = inboxRoute.useSearch();
  const filters = useMemo(() => readFilters({ ...search }), [search]); // the router keeps unknown parameters
  const navigate = useNavigate();
  const { threadId, interruptId } = useParams({ strict: false });
  const openKey = threadId === undefined || interruptId === undefined ? null : `${threadId}/${interruptId}`;
  const list = useList(filters);
  const { items } = list;
  const selection = useSelection(list);
  const narrow = useNarrow() || openKey !== null;
  const cursor = useCursor(items, openKey, filters);
  const close = (): void => void navigate({ to: "/inbox", search: filters });
  useEffect(() => {
    if (openKey === null) setTitle("Inbox");
  }, [openKey]);
  useFollowedNotification(filters);
  const me = useViewer();
  const bulk = useBulk(cursor, selection, buildQuery(filters, me));
  useInboxKeys({ cursor, selection, isOpen: openKey !== null, onClose: close, onBulk: bulk.start });
  return (
    <div className={openKey === null ? "inbox" : "inbox with-item"}>
      <section className="inbox-list" aria-label="Pending items">
        <FilterBar filters={filters} list={list} compact={narrow} />
        {selection.chosen.length === 0 ? null : (
          <BulkBar
            chosen={selection.chosen}
            onBulk={bulk.start}
            onClear={selection.clear}
            onAll={selection.all}
            total={list.total?.count ?? items.length}
          />
        )}
        {list.error === null ? null : <Failure error={list.error} onRetry={list.reload} />}
        {list.isLoading ? <Loading /> : null}
        {!list.isLoading && items.length === 0 && list.error === null ? <EmptyInbox filters={filters} /> : null}
        {items.length === 0 ? null : (
          <>
            {narrow ? null : <Headings />}
            <VirtualList
              items={items}
              rowHeight={narrow ? NARROW_ROW_PX : WIDE_ROW_PX}
              label="Pending items"
              buildKey={buildKey}
              active={cursor.at}
              onNearEnd={list.hasMore ? list.loadMore : undefined}
              renderRow={(item) => {
                const key = buildKey(item);
                return (
                  <Row
                    item={item}
                    filters={filters}
                    narrow={narrow}
                    active={key === cursor.key}
                    open={key === openKey}
                    selected={selection.keys.has(key)}
                    onSelect={(range) => (range ? selection.extend(key) : selection.toggle(key))}
                  />
                );
              }}
            />
          </>
        )}
      </section>
      {threadId === undefined || interruptId === undefined ? null : (
        <ItemPane
          key={openKey}
          threadId={threadId}
          interruptId={interruptId}
          onClose={close}
          onMove={cursor.move}
          onAnswered={cursor.advance}
        />
      )}
      <BulkResults />
      {bulk.dialog}
    </div>
  );
}

/** A clicked notification names a path. */
function useFollowedNotification(search: Filters): void {
  const path = useValue(openPath);
  const navigate = useNavigate();
  useEffect(() => {
    const [, , threadId, interruptId] = path?.split("/") ?? [];
    if (threadId === undefined || interruptId === undefined) return;
    openPath.set(null);
    void navigate({ to: "/inbox/$threadId/$interruptId", params: { threadId, interruptId }, search });
  }, [path, navigate, search]);
}

/** Starts an operation on the selected items, or on the current one, with its dialog. */
interface Bulk {
  readonly start: (kind: BulkKind) => void;
  readonly dialog: ReactNode;
}

/** @param query of the list that the items are from */
function useBulk(
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

// Whether the list has space for columns.

const query = window.matchMedia("(max-width: 860px)");

function subscribe(callback: () => void): () => void {
  query.addEventListener("change", callback);
  return () => query.removeEventListener("change", callback);
}

function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => query.matches);
}
