// Filter bar: search, filters and order of the list, all in the URL.
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { kindLabel, type ListedItem } from "../../../data/inbox/item.ts";
import { liveState } from "../../../data/inbox/live.ts";
import { Button, Chip, Field, IconButton } from "../../../ui/controls.tsx";
import { copy } from "../../../ui/copy.tsx";
import { Icon } from "../../../ui/icons.tsx";
import { useValue } from "../../../hooks/value.ts";
import { activeFilters, KINDS, readFilters, type Filters } from "./filters.ts";
import type { List } from "./use-list.ts";

const SEARCH_AFTER_MS = 200;
const AGES: readonly (readonly [value: string, label: string])[] = [
  ["", "Any age"],
  ["15m", "Over 15 minutes"],
  ["1h", "Over an hour"],
  ["1d", "Over a day"],
  ["7d", "Over a week"],
];
const CLAIMS: readonly (readonly [value: string, label: string])[] = [
  ["", "Claimed or not"],
  ["nobody", "Unclaimed"],
  ["me", "Claimed by me"],
];

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
  const active = activeFilters(filters).filter((name) => name !== "text");
  const set = (changes: Readonly<Partial<Record<keyof Filters, string>>>): void => {
    const to = "."; // keeps the open item
    void navigate({ to, search: (before) => readFilters({ ...before, ...changes }), replace: true });
  };
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
            {active.length === 0 ? null : <Chip tone="accent">{active.length}</Chip>}
          </Button>
        </div>
      </div>
      {more ? <MoreFilters filters={filters} items={list.items} onChange={set} /> : null}
      {active.length === 0 ? null : (
        <ul className="filter-chips" aria-label="Active filters">
          {active.map((name) => (
            <li key={name}>
              <button type="button" className="chip accent" onClick={() => set({ [name]: "" })}>
                {name}: {filters[name]}
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
          </li>
        </ul>
      )}
    </header>
  );
}

/** The server's total, unless the browser filters. */
function waitingWords(waiting: number, { total, hasMore }: List, { text, action }: Filters): string {
  if (!hasMore) return String(waiting);
  return text === undefined && action === undefined && total !== undefined ? String(total) : `${waiting}+`;
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
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (typed === text) return undefined;
    const timer = setTimeout(() => onChange(typed), SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div className="search">
      <Icon name="search" />
      <input
        id="inbox-search"
        type="search"
        aria-label="Search pending items"
        placeholder="Search"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    </div>
  );
}

function MoreFilters({
  filters,
  items,
  onChange,
}: {
  readonly filters: Filters;
  readonly items: readonly ListedItem[];
  readonly onChange: (changes: Readonly<Partial<Record<keyof Filters, string>>>) => void;
}): ReactNode {
  const seen = useMemo(
    () => ({
      graph: distinct(items.map((item) => item.graph_id)),
      node: distinct(items.map((item) => item.node)),
      action: distinct(items.flatMap((item) => item.action ?? [])),
    }),
    [items],
  );
  const text = (
    name: "graph" | "node" | "action" | "assistant" | "metadata",
    label: string,
    hint?: string,
  ): ReactNode => (
    <Typed
      key={name}
      label={label}
      value={filters[name] ?? ""}
      choices={name in seen ? seen[name as keyof typeof seen] : []}
      hint={hint ?? ""}
      onChange={(value) => onChange({ [name]: value })}
    />
  );
  const select = (
    name: "kind" | "older" | "claim" | "order",
    label: string,
    choices: readonly (readonly [string, string])[],
  ): ReactNode => (
    <Field label={label}>
      <select value={filters[name] ?? ""} onChange={(event) => onChange({ [name]: event.target.value })}>
        {choices.map(([value, shown]) => (
          <option key={value} value={value}>
            {shown}
          </option>
        ))}
      </select>
    </Field>
  );
  return (
    <div id="inbox-filters" className="filter-grid">
      {select("kind", "Kind", [["", "Any kind"], ...KINDS.map((kind) => [kind, kindLabel(kind)] as const)])}
      {text("graph", "Graph")}
      {text("node", "Node")}
      {text("action", "Action")}
      {text("assistant", "Assistant")}
      {text("metadata", "Metadata", "key=value")}
      {select("older", "Age", AGES)}
      {select("claim", "Claim", CLAIMS)}
      {select("order", "Order", [
        ["", "Longest waiting first"],
        ["newest", "Newest first"],
      ])}
    </div>
  );
}

function Typed({
  label,
  value,
  choices,
  hint,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly string[];
  readonly hint: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const id = `choices-${label}`;
  return (
    <Field label={label}>
      <input
        list={id}
        value={typed}
        placeholder={hint}
        onChange={(event) => {
          setTyped(event.target.value);
          if (choices.includes(event.target.value)) onChange(event.target.value);
        }}
        onBlur={() => typed !== value && onChange(typed)}
        onKeyDown={(event) => event.key === "Enter" && onChange(typed)}
      />
      <datalist id={id}>
        {choices.map((choice) => (
          <option key={choice} value={choice} />
        ))}
      </datalist>
    </Field>
  );
}

const CHOICES_MAX = 50;

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort().slice(0, CHOICES_MAX);
}
