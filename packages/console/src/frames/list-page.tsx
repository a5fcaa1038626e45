// List page: the frame of paged lists: query, header, error, loading state, empty state, rows.
import { keepPreviousData, useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query";
import { useEffect, useMemo, type ReactNode } from "react";
import { call, type CallOptions } from "../api/client.ts";
import { setTitle } from "../browser/badge.ts";
import { Button, Failure, Loading } from "../ui/controls.tsx";
import { CopyCurl, type CurlProps } from "../ui/copy.tsx";
import type { Shortcut } from "../hooks/shortcuts.ts";
import { VirtualList } from "../ui/virtual-list.tsx";

const PAGE_SIZE = 100;

/** A search that takes `limit` and `offset`: `POST path`. */
export interface PagedSearch<Reply, Item> {
  readonly key: readonly unknown[];
  readonly path: string;
  /** @param offset items before the page */
  readonly body: (limit: number, offset: number) => Readonly<Record<string, unknown>>;
  readonly listItems: (reply: Reply) => readonly Item[];
  readonly refreshMs?: number;
}

export interface PagedList<Item> {
  readonly items: readonly Item[];
  readonly isPending: boolean;
  readonly isError: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
  readonly hasMore: boolean;
  /** Undefined while a page loads, and once everything is loaded. */
  readonly loadMore: (() => void) | undefined;
  /** The call of the first page, for the curl button. */
  readonly call: CurlProps;
}

export function usePagedList<Reply, Item>(search: PagedSearch<Reply, Item>): PagedList<Item> {
  const { key, path, body, listItems, refreshMs } = search;
  const list = useInfiniteQuery({
    queryKey: key,
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => call<Reply>("POST", path, { body: body(PAGE_SIZE, pageParam), signal }),
    getNextPageParam: (last, all) => (listItems(last).length < PAGE_SIZE ? null : all.length * PAGE_SIZE),
    placeholderData: keepPreviousData,
    ...(refreshMs === undefined ? {} : { refetchInterval: refreshMs }),
  });
  const items = useMemo(() => list.data?.pages.flatMap((reply) => listItems(reply)) ?? [], [list.data]);
  return pagedList(items, list, { method: "POST", path, body: body(PAGE_SIZE, 0) });
}

/** A list whose pages name the next one: `GET path` with `limit` and `cursor`. */
export interface CursorSearch {
  readonly key: readonly unknown[];
  readonly path: string;
  readonly query: () => NonNullable<CallOptions["query"]>;
  readonly refreshMs: number;
}

interface CursorPage<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

export function useCursorList<Item>({ key, path, query, refreshMs }: CursorSearch): PagedList<Item> {
  const list = useInfiniteQuery({
    queryKey: key,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      call<CursorPage<Item>>("GET", path, { query: { ...query(), limit: PAGE_SIZE, cursor: pageParam }, signal }),
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: refreshMs,
    placeholderData: keepPreviousData,
  });
  const items = useMemo(() => list.data?.pages.flatMap((one) => one.items) ?? [], [list.data]);
  return pagedList(items, list, { method: "GET", path, query: { ...query(), limit: PAGE_SIZE } });
}

type ListQuery = Pick<
  UseInfiniteQueryResult,
  "isPending" | "isError" | "error" | "refetch" | "hasNextPage" | "isFetchingNextPage" | "fetchNextPage"
>;

function pagedList<Item>(items: readonly Item[], list: ListQuery, call: CurlProps): PagedList<Item> {
  return {
    items,
    isPending: list.isPending,
    isError: list.isError,
    error: list.error,
    retry: () => void list.refetch(),
    hasMore: list.hasNextPage,
    loadMore: list.hasNextPage && !list.isFetchingNextPage ? () => void list.fetchNextPage() : undefined,
    call,
  };
}

/** A button that creates an item. */
export interface ListCreate {
  readonly label: string;
  readonly needs: string;
  readonly run: () => void;
}

/** Title of the page and of the browser tab, the call that loads the page as curl, and a create button. */
export function PageHeader({
  title,
  call,
  create,
}: {
  readonly title: string;
  readonly call: CurlProps;
  readonly create?: ListCreate;
}): ReactNode {
  useEffect(() => setTitle(title), []);
  return (
    <header className="page-header">
      <h1>{title}</h1>
      <span className="row spread">
        <CopyCurl {...call} />
        {create === undefined ? null : (
          <Button kind="primary" hint="n" needs={create.needs} onClick={create.run}>
            {create.label}
          </Button>
        )}
      </span>
    </header>
  );
}

/** The error or the spinner of a list without data, otherwise the children. */
export function ListBody({
  list,
  children,
}: {
  readonly list: PagedList<unknown>;
  readonly children: ReactNode;
}): ReactNode {
  if (list.isError && list.items.length === 0) return <Failure error={list.error} onRetry={list.retry} />;
  return list.isPending ? <Loading /> : children;
}

export function Rows<Item>({
  list,
  active,
  ...rows
}: {
  readonly list: PagedList<Item>;
  readonly active: number;
  readonly rowHeight: number;
  readonly label: string;
  readonly buildKey: (item: Item) => string;
  readonly renderRow: (item: Item, at: number) => ReactNode;
}): ReactNode {
  return <VirtualList items={list.items} active={active} onNearEnd={list.loadMore} {...rows} />;
}

/** A row of a list beside a detail pane. */
export function ChoiceRow({
  chosen,
  className = "",
  onChoose,
  children,
}: {
  readonly chosen: boolean;
  readonly className?: string;
  readonly onChoose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div role="listitem" className="step-item">
      <button
        type="button"
        className={`step ${className} ${chosen ? "active" : ""}`}
        aria-pressed={chosen}
        onClick={onChoose}
      >
        {children}
      </button>
    </div>
  );
}

/** `j` and `k`. @param place of the selected item, -1 for none */
export function moveKeys(noun: string, place: number, choose: (at: number) => void): readonly Shortcut[] {
  return [
    { keys: "j", label: `Next ${noun}`, run: () => choose(place + 1) },
    { keys: "k", label: `Previous ${noun}`, run: () => choose(place - 1) },
  ];
}

/** The item at an index, or the nearest one. */
export function nearest<Item>(items: readonly Item[], at: number): Item | undefined {
  return items[Math.max(0, Math.min(items.length - 1, at))];
}
