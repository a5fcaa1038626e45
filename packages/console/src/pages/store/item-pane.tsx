// Item pane: one item, read by its namespace and key, so that links work for any item.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call, request } from "../../api/client.ts";
import type { StoreItem } from "../../api/types.ts";
import { DeleteDialog } from "../../frames/delete-dialog.tsx";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { JsonCard } from "../../json/json-card.tsx";
import { Button, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { CopyButton, CopyCurl } from "../../ui/copy.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { guarded } from "../../ui/guarded.ts";
import { absoluteTime } from "../../ui/format.ts";
import { RelativeTime } from "../../ui/time.tsx";
import { withToast } from "../../ui/with-toast.ts";
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
  useShortcuts("Item", [{ keys: "e", label: "Edit the item", run: guarded("store:put", () => setOpen("edit")) }]);
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
        <Button hint="e" needs="store:put" onClick={() => setOpen("edit")}>
          Edit
        </Button>
        <Button kind="danger" needs="store:delete" onClick={() => setOpen("delete")}>
          Delete
        </Button>
        <CopyCurl method="GET" path={PATH} query={query} />
      </div>
      <Facts>
        <Fact name="Namespace">{item.namespace.join(" › ")}</Fact>
        <Fact name="Updated" title={absoluteTime(Date.parse(item.updated_at))}>
          <RelativeTime at={item.updated_at} />
        </Fact>
        <Fact name="Created" title={absoluteTime(Date.parse(item.created_at))}>
          <RelativeTime at={item.created_at} />
        </Fact>
      </Facts>
      <JsonCard title="Value" value={item.value} openLevels={3} />
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
    await withToast(async () => {
      await request("DELETE", PATH, { body });
      await navigate({ to: "/store", search: { ...search, ns: undefined, key: undefined }, replace: true });
    }, "Item deleted.");
    await queries.invalidateQueries({ queryKey: ["store"] });
  };
  return (
    <DeleteDialog
      title="Delete this item?"
      description="Graphs can no longer read it. This cannot be undone."
      call={{ path: PATH, body }}
      onDelete={() => void remove()}
      onClose={onClose}
    >
      <p className="mono">
        {item.namespace.join(" › ")} › {item.key}
      </p>
    </DeleteDialog>
  );
}
