// Filter bar: search, filters and order of the list, all in the URL.
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import { liveState } from "../../../data/inbox/live.ts";
import { useAssistants } from "../../../graph/graph-names.ts";
import { Button, Chip, IconButton } from "../../../ui/controls.tsx";
import { copy } from "../../../ui/copy.tsx";
import { count } from "../../../ui/format.ts";
import { Icon } from "../../../ui/icons.tsx";
import { useTyped } from "../../../hooks/typed.ts";
import { inboxTab } from "../../../hooks/preferences.ts";
import { useValue } from "../../../hooks/value.ts";
import { SaveView } from "../../../frames/save-view.tsx";
import { filterWords } from "./filter-words.ts";
import { activeFilters, readFilters, type Filters } from "./filters.ts";
import { MoreFilters } from "./more-filters.tsx";
import type { List } from "./use-list.ts";

export function FilterBar({
  filters,
  list,
  compact,
}: {
  readonly filters: Filters;
  readonly list: List;
  readonly compact: boolean;
}): ReactNode {
  const navigate = useNavigate();
  const [more, setMore] = useState(false);
  const names = new Map(useAssistants().map(({ assistant_id: id, name }) => [id, name]));
  const active = activeFilters(filters);
  const choices = active.filter((name) => name !== "text").length;
  const set = (changes: Readonly<Partial<Record<keyof Filters, string>>>): void => {
    const to = "."; // keeps the open item
    void navigate({ to, search: (before) => readFilters({ ...before, ...changes }), replace: true });
  };
  const chooseTab = useKeptTab(filters, (tab) => set({ tab }));
  const waiting = list.items.filter((item) => item.state === "open").length;
  const ended = list.items.length - waiting;
  return (
    <header className="inbox-head">
      <div className="page-header">
        <h1>Inbox</h1>
        <span className="muted numeric" role="status">
          {list.isLoading ? "" : `${waitingWords(waiting, list, filters)} waiting`}
        </span>
        <Live />
        <div className="inbox-tools">
          {ended === 0 ? null : (
            <Button kind="quiet" onClick={list.reload}>
              Clear {ended} done
            </Button>
          )}
          <Search text={filters.text ?? ""} onChange={(text) => set({ text })} />
          <Button
            kind="quiet"
            icon="filter"
            aria-expanded={more}
            aria-controls="inbox-filters"
            onClick={() => setMore(!more)}
          >
            {compact ? <span className="visually-hidden">Filters</span> : "Filters"}
            {choices === 0 ? null : <Chip tone="accent">{choices}</Chip>}
          </Button>
        </div>
      </div>
      <Tabs tab={filters.tab} onChange={chooseTab} />
      {more ? <MoreFilters filters={filters} items={list.items} onChange={set} /> : null}
      {active.length === 0 ? null : (
        <ul className="filter-chips" aria-label="Active filters">
          {active.map((name) => (
            <li key={name}>
              <button type="button" className="chip accent" onClick={() => set({ [name]: "" })}>
                <span className="truncate">{filterWords(name, filters, names)}</span>
                <Icon name="cross" />
                <span className="visually-hidden">Remove this filter</span>
              </button>
            </li>
          ))}
          <li>
            <IconButton
              icon="link"
              label="Copy a link to this view"
              onClick={() => void copy(window.location.href, "a link to this view")}
            />
            <SaveView path="/inbox" search={filters} />
          </li>
        </ul>
      )}
    </header>
  );
}

const TAB_WORDS = [
  ["", "All"],
  ["mine", "Mine"],
  ["groups", "My groups"],
  ["unassigned", "Unassigned"],
] as const;

/** The inbox without filters opens on the tab that was chosen last. @returns chooses one */
function useKeptTab(filters: Filters, show: (tab: string) => void): (tab: string) => void {
  const kept = useValue(inboxTab);
  useEffect(() => {
    if (kept !== "" && Object.keys(filters).length === 0) show(kept);
  }, [kept]);
  return (tab) => {
    inboxTab.set(tab);
    show(tab);
  };
}

function Tabs({
  tab = "",
  onChange,
}: {
  readonly tab: Filters["tab"] | "" | undefined;
  readonly onChange: (tab: string) => void;
}): ReactNode {
  return (
    <div className="switch inbox-tabs" role="group" aria-label="Whose items">
      {TAB_WORDS.map(([value, label]) => (
        <button key={value} type="button" aria-pressed={tab === value} onClick={() => onChange(value)}>
          {label}
        </button>
      ))}
    </div>
  );
}

/** The server's total, unless the browser filters. */
function waitingWords(waiting: number, { total, hasMore }: List, { action }: Filters): string {
  if (!hasMore) return count(waiting);
  return action === undefined && total !== undefined
    ? `${count(total.count)}${total.isAtLeast ? "+" : ""}`
    : `${count(waiting)}+`;
}

function Live(): ReactNode {
  const state = useValue(liveState);
  if (state === "open") return <span className="live" title="Live updates" />;
  return (
    <Chip tone="amber" title="Checks for changes every few seconds">
      {state === "connecting" ? "connecting" : "offline"}
    </Chip>
  );
}

function Search({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }): ReactNode {
  const [typed, type] = useTyped(text, onChange);
  return (
    <div className="search">
      <Icon name="search" />
      <input
        id="inbox-search"
        type="search"
        aria-label="Search pending items"
        placeholder="Search"
        value={typed}
        onChange={(event) => type(event.target.value)}
      />
    </div>
  );
}
