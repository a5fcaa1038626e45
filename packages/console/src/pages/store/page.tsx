// Page Store: long-term memory as namespaces, their items, and one item in full.
import { useQuery } from "@tanstack/react-query";
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { FilterFields } from "../../frames/filtered-list.tsx";
import { call } from "../../api/client.ts";
import type { StoreItem } from "../../api/types.ts";
import { ChoiceRow, ListBody, PageHeader, Rows, moveKeys, nearest, usePagedList } from "../../frames/list-page.tsx";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { Chip, EmptyState, Failure } from "../../ui/controls.tsx";
import { glance } from "../../json/excerpt.ts";
import { guarded } from "../../ui/guarded.ts";
import { RelativeTime } from "../../ui/time.tsx";
import { ItemDialog } from "./item-dialog.tsx";
import { ItemPane } from "./item-pane.tsx";
import { buildRows, buildSearch } from "./namespaces.ts";
import "./store.css";

const storeRoute = getRouteApi("/store");

export const page = createLazyRoute("/store")({ component: StorePage });

const NAMESPACES_MAX = 1000;
const ROW_HEIGHT = 58;

function StorePage(): ReactNode {
  const search = storeRoute.useSearch();
  const navigate = useNavigate();
  const [making, setMaking] = useState(false);
  const { ns, key, ...view } = search;
  const list = usePagedList({
    key: ["store", "items", view],
    path: "/store/items/search",
    body: (limit, offset) => buildSearch(view, limit, offset),
    listItems: (reply: { readonly items: readonly StoreItem[] }) => reply.items,
  });
  const items = list.items;
  const place = items.findIndex((item) => item.key === key && item.namespace.join(".") === ns);
  const choose = (at: number): void => {
    const item = nearest(items, at);
    if (item === undefined) return;
    const chosen = { ns: item.namespace.join("."), key: item.key };
    void navigate({ to: "/store", search: { ...search, ...chosen }, replace: true });
  };
  useShortcuts("Store", [
    ...moveKeys("item", place, choose),
    { keys: "n", label: "New item", run: guarded("store:put", () => setMaking(true)) },
  ]);
  const isNarrowed = Object.values(view).some((one) => one !== undefined);
  return (
    <>
      <PageHeader
        title="Store"
        call={list.call}
        create={{ label: "New item", needs: "store:put", run: () => setMaking(true) }}
      />
      <FilterBar />
      <ListBody list={list}>
        {items.length === 0 && !isNarrowed ? (
          <EmptyState icon="store" title="The store is empty">
            <p>
              Graphs keep long-term memory here, across threads, through <code>config.store</code>. Press{" "}
              <kbd className="key">n</kbd> to create an item.
            </p>
          </EmptyState>
        ) : (
          <div className="store">
            <Namespaces />
            <div className="split-list">
              {items.length === 0 ? (
                <EmptyState icon="filter" title="No matching items" />
              ) : (
                <Rows
                  list={list}
                  rowHeight={ROW_HEIGHT}
                  label="Items"
                  buildKey={(item) => JSON.stringify([item.namespace, item.key])}
                  active={place}
                  renderRow={(item, at) => <Row item={item} chosen={at === place} onChoose={() => choose(at)} />}
                />
              )}
            </div>
            {ns === undefined || key === undefined ? (
              <EmptyState icon="store" title="Select an item" />
            ) : (
              <ItemPane key={`${ns} ${key}`} namespace={ns} itemKey={key} />
            )}
          </div>
        )}
      </ListBody>
      {making ? <ItemDialog item={null} namespace={view.in ?? ""} onClose={() => setMaking(false)} /> : null}
    </>
  );
}

function Row({
  item,
  chosen,
  onChoose,
}: {
  readonly item: StoreItem;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}): ReactNode {
  return (
    <ChoiceRow chosen={chosen} onChoose={onChoose}>
      <span className="store-words">
        <span className="row">
          <span className="truncate store-key">{item.key}</span>
          <span className="muted truncate">{item.namespace.join(" › ")}</span>
          {item.score === undefined ? null : <Chip tone="accent">{item.score.toFixed(3)}</Chip>}
          <span className="muted spread store-time">
            <RelativeTime at={item.updated_at} />
          </span>
        </span>
        <span className="muted truncate mono">{glance(item.value, 160)}</span>
      </span>
    </ChoiceRow>
  );
}

function FilterBar(): ReactNode {
  const { ns, key, ...view } = storeRoute.useSearch();
  return (
    <FilterFields
      path="/store"
      filters={view}
      kept={{ ns, key }}
      fields={[
        {
          name: "find",
          label: "Semantic search",
          title: "Ranks by semantic similarity if the server has an embedding function",
          placeholder: "semantic search",
          isSearch: true,
        },
        { name: "filter", label: "Members", placeholder: "member=value" },
      ]}
    >
      {view.in === undefined ? null : <Chip tone="accent">in {view.in.replaceAll(".", " › ")}</Chip>}
    </FilterFields>
  );
}

function Namespaces(): ReactNode {
  const namespaces = useQuery({
    queryKey: ["store", "namespaces"],
    queryFn: ({ signal }) =>
      call<{ readonly namespaces: readonly (readonly string[])[] }>("POST", "/store/namespaces", {
        body: { limit: NAMESPACES_MAX },
        signal,
      }),
  });
  const rows = useMemo(() => buildRows(namespaces.data?.namespaces ?? []), [namespaces.data]);
  const isCut = (namespaces.data?.namespaces.length ?? 0) >= NAMESPACES_MAX;
  return (
    <nav className="store-namespaces" aria-label="Namespaces">
      {namespaces.isError ? <Failure error={namespaces.error} onRetry={() => void namespaces.refetch()} /> : null}
      <ul>
        <li>
          <NamespaceLink path={undefined} label="All namespaces" level={0} />
        </li>
        {rows.map(({ path, label, level }) => (
          <li key={path}>
            <NamespaceLink path={path} label={label} level={level} />
          </li>
        ))}
      </ul>
      {isCut ? <p className="muted small">First {NAMESPACES_MAX} namespaces.</p> : null}
    </nav>
  );
}

const INDENT_PX = 14;
/** No namespace in the address is one too: everything. */
const ACTIVE = { exact: true, includeSearch: true, explicitUndefined: true } as const;

function NamespaceLink({
  path,
  label,
  level,
}: {
  readonly path: string | undefined;
  readonly label: string;
  readonly level: number;
}): ReactNode {
  const search = storeRoute.useSearch();
  return (
    <Link
      to="/store"
      search={{ ...search, in: path }}
      className="store-namespace truncate"
      activeProps={{}}
      activeOptions={ACTIVE}
      title={path ?? label}
      style={{ paddingLeft: 10 + level * INDENT_PX }}
    >
      {label}
    </Link>
  );
}
