// Filtered list: the frame of the list pages whose rows are links: header, filters, headings, rows, and the empty state.
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState, type ReactNode } from "react";
import type { Shortcut } from "../hooks/shortcuts.ts";
import { useShortcuts } from "../hooks/shortcuts.ts";
import { VIEW_PAGES, type ViewPage } from "../hooks/views.ts";
import { Button, EmptyState } from "../ui/controls.tsx";
import { ChoiceFilter, ListFilters, SearchFilter, TextFilter } from "./list-filters.tsx";
import { ListBody, PageHeader, moveKeys, Rows, type ListCreate, type PagedList } from "./list-page.tsx";
import { SaveView } from "./save-view.tsx";

/** A filter: a text, the words of a search, or with options a choice. */
export interface FilterField<Name extends string> {
  readonly name: Name;
  readonly label: string;
  readonly placeholder?: string;
  readonly title?: string;
  readonly any?: string;
  /** The field that the key `/` focuses. */
  readonly isSearch?: boolean;
  readonly options?: Parameters<typeof ChoiceFilter>[0]["options"];
}

type Filters<Name extends string> = Readonly<Partial<Record<Name, string | undefined>>>;

/** Filters of the URL, one field each. */
export function FilterFields<Name extends string>({
  path,
  filters,
  fields,
  kept = {},
  children,
}: {
  readonly path: ViewPage | "/crons" | "/store";
  readonly filters: Filters<Name>;
  readonly fields: readonly FilterField<Name>[];
  /** Members of the URL that are no filters: they stay when filters change. */
  readonly kept?: Filters<string>;
  /** More buttons. */
  readonly children?: ReactNode;
}): ReactNode {
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const focus: Shortcut = { keys: "/", label: "Search", run: () => field.current?.focus() };
  useShortcuts("Filters", fields.some(({ isSearch }) => isSearch) ? [focus] : []);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const viewPage = VIEW_PAGES.find((one) => one === path);
  const set = (name: Name, value: string): void => {
    const search = { ...kept, ...filters, [name]: value === "" ? undefined : value };
    void navigate({ to: path, search, replace: true });
  };
  return (
    <ListFilters onClear={isFiltered ? () => void navigate({ to: path, search: kept }) : null}>
      {fields.map(({ name, any = "", options, isSearch = false, ...rest }) => {
        const shared = { ...rest, value: filters[name], onChange: (value: string) => set(name, value) };
        if (options !== undefined) return <ChoiceFilter key={name} {...shared} any={any} options={options} />;
        return isSearch ? <SearchFilter key={name} {...shared} field={field} /> : <TextFilter key={name} {...shared} />;
      })}
      {isFiltered && viewPage !== undefined ? <SaveView path={viewPage} search={filters} /> : null}
      {children}
    </ListFilters>
  );
}

interface FilteredListProps<Item> {
  readonly title: string;
  readonly list: PagedList<Item>;
  readonly create?: ListCreate;
  readonly filters: ReactNode;
  /** Above the headings. */
  readonly summary?: ReactNode;
  readonly headings: readonly string[];
  /** Class of the columns. */
  readonly columns: string;
  readonly rowHeight: number;
  readonly label: string;
  /** "thread": what a row is. */
  readonly noun: string;
  readonly buildKey: (item: Item) => string;
  readonly onOpen: (item: Item) => void;
  readonly shortcuts?: readonly Shortcut[];
  /** The cells. */
  readonly renderRow: (item: Item, className: string) => ReactNode;
  readonly none: ReactNode;
}

export function FilteredList<Item>(props: FilteredListProps<Item>): ReactNode {
  const { list, title, noun, columns, renderRow } = props;
  const { items } = list;
  const [active, setActive] = useState(-1);
  const openActive = (): void => {
    const item = items[active];
    if (item !== undefined) props.onOpen(item);
  };
  useShortcuts(title, [
    ...moveKeys(noun, active, (at) => setActive(Math.max(0, Math.min(items.length - 1, at)))),
    { keys: "Enter", label: `Open the ${noun}`, run: openActive },
    ...(props.shortcuts ?? []),
  ]);
  return (
    <>
      <PageHeader title={title} call={list.call} {...(props.create === undefined ? {} : { create: props.create })} />
      {props.filters}
      <ListBody list={list}>
        {items.length === 0 && !list.hasMore ? (
          props.none
        ) : (
          <>
            {props.summary}
            <div className={`list-head ${columns}`} aria-hidden="true">
              {props.headings.map((name) => (
                <span key={name}>{name}</span>
              ))}
            </div>
            <Rows
              list={list}
              rowHeight={props.rowHeight}
              label={props.label}
              buildKey={props.buildKey}
              active={active}
              renderRow={(item, at) => (
                <div role="listitem" className="list-item">
                  {renderRow(item, `list-row ${columns} ${at === active ? "active" : ""}`)}
                </div>
              )}
            />
          </>
        )}
      </ListBody>
    </>
  );
}

/** The empty state of a list: with filters, that nothing matches. */
export function NoItems({
  path,
  filters,
  icon,
  nouns,
  title,
  children,
}: {
  readonly path: ViewPage | "/crons" | "/traces";
  /** Members of the query. */
  readonly filters: Filters<string>;
  readonly icon: Parameters<typeof EmptyState>[0]["icon"];
  /** "threads" */
  readonly nouns: string;
  readonly title: string;
  readonly children?: ReactNode;
}): ReactNode {
  const navigate = useNavigate();
  if (Object.keys(filters).length > 0) {
    const { text, ...others } = filters;
    const go = (search: Filters<string>) => (): void => void navigate({ to: path, search });
    return (
      <EmptyState icon="filter" title={`No matching ${nouns}`}>
        {text === undefined ? null : <p>A search finds whole words and their beginnings.</p>}
        <div className="row">
          {text === undefined || Object.keys(others).length === 0 ? null : (
            <Button onClick={go(others)}>Clear the search</Button>
          )}
          <Button onClick={go({})}>Show all {nouns}</Button>
        </div>
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={icon} title={title}>
      {children}
    </EmptyState>
  );
}
