// Item pane: one item, read by its namespace and key, so that links work for any item.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call, request } from "../../api/client.ts";
import { problemMessage } from "../../api/problem.ts";
import type { StoreItem } from "../../api/types.ts";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { JsonView } from "../../json/json-view.tsx";
import { Button, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { CopyButton, CopyCurl } from "../../ui/copy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { absoluteTime } from "../../ui/format.ts";
import { RelativeTime } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";
import { ItemDialog } from "./item-dialog.tsx";

const storeRoute = getRouteApi("/store");

const PATH = "/store/items";

export function ItemPane({
  namespace,
  itemKey,
}: {
  /** Labels joined by dots. */
  readonly namespace: string;
  readonly itemKey: string;
}): ReactNode {
  const [open, setOpen] = useState<"edit" | "delete" | null>(null);
  const query = { namespace, key: itemKey, refresh_ttl: false };
  const found = useQuery({
    queryKey: ["store", "item", namespace, itemKey],
    queryFn: ({ signal }) => call<StoreItem | null>("GET", PATH, { query, signal }),
  });
  useShortcuts("Item", [{ keys: "e", label: "Edit the item", run: () => setOpen("edit") }]);
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failure error={found.error} onRetry={() => void found.refetch()} />;
  if (found.data === null) {
    return (
      <EmptyState icon="store" title="Item not found">
        <p>It was deleted or has expired.</p>
      </EmptyState>
    );
  }
  const item = found.data;
  return (
    <div className="split-detail" role="region" aria-label="Item" tabIndex={0}>
      <div className="row detail-head">
        <h2 className="store-title">{item.key}</h2>
        <CopyButton text={item.key} what="the key" />
      </div>
      <div className="actions">
        <Button hint="e" onClick={() => setOpen("edit")}>
          Edit
        </Button>
        <Button kind="danger" onClick={() => setOpen("delete")}>
          Delete
        </Button>
        <CopyCurl method="GET" path={PATH} query={query} />
      </div>
      <dl className="facts">
        <div>
          <dt>Namespace</dt>
          <dd>{item.namespace.join(" › ")}</dd>
        </div>
        <div>
          <dt>Updated</dt>
          <dd title={absoluteTime(Date.parse(item.updated_at))}>
            <RelativeTime at={item.updated_at} />
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd title={absoluteTime(Date.parse(item.created_at))}>
            <RelativeTime at={item.created_at} />
          </dd>
        </div>
      </dl>
      <section className="card state-card">
        <h3>Value</h3>
        <JsonView value={item.value} label="the value" openLevels={3} />
      </section>
      {open === "edit" ? <ItemDialog item={item} namespace={namespace} onClose={() => setOpen(null)} /> : null}
      {open === "delete" ? <Deletion item={item} onClose={() => setOpen(null)} /> : null}
    </div>
  );
}

function Deletion({ item, onClose }: { readonly item: StoreItem; readonly onClose: () => void }): ReactNode {
  const navigate = useNavigate();
  const search = storeRoute.useSearch();
  const queries = useQueryClient();
  const body = { namespace: item.namespace, key: item.key };
  const remove = async (): Promise<void> => {
    onClose();
    try {
      await request("DELETE", PATH, { body });
      tell("Item deleted.");
      await navigate({ to: "/store", search: { ...search, ns: undefined, key: undefined }, replace: true });
    } catch (error) {
      tell(problemMessage(error), { tone: "red" });
    }
    await queries.invalidateQueries({ queryKey: ["store"] });
  };
  return (
    <Dialog
      title="Delete this item?"
      description="Graphs can no longer read it. This cannot be undone."
      onClose={onClose}
      footer={
        <>
          <CopyCurl method="DELETE" path={PATH} body={body} />
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" onClick={() => void remove()}>
            Delete
          </Button>
        </>
      }
    >
      <p className="mono">
        {item.namespace.join(" › ")} › {item.key}
      </p>
    </Dialog>
  );
}
