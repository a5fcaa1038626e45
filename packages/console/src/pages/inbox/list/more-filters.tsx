// More filters: the choices of each filter of the inbox, with the number of items that each would select.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";
import type { InboxFacets } from "@holdpoint/api/items/inbox-facets.ts";
import { countChoices } from "../../../data/inbox/calls.ts";
import { kindLabel, type ListedItem } from "../../../data/inbox/item.ts";
import { INBOX } from "../../../data/inbox/live.ts";
import { useAssistants } from "../../../graph/graph-names.ts";
import { Field } from "../../../ui/controls.tsx";
import { AGES, DUE_LABELS } from "./filter-words.ts";
import { MetadataFilter } from "./metadata-filter.tsx";
import { buildChoices, DUES, KINDS, type Filters } from "./filters.ts";
import { useViewer } from "./use-list.ts";

const RECOUNT_MS = 10_000;
interface Choice {
  readonly value: string;
  readonly label?: string;
  /** Absent where the server does not count. */
  readonly count?: number;
}

type OnChange = (changes: Readonly<Partial<Record<keyof Filters, string>>>) => void;

export function MoreFilters({
  filters,
  items,
  onChange,
}: {
  readonly filters: Filters;
  readonly items: readonly ListedItem[];
  readonly onChange: OnChange;
}): ReactNode {
  const choices = useChoices(filters, items);
  const select = (name: keyof Filters, label: string, any: string, of: readonly Choice[]): ReactNode => (
    <Choices label={label} any={any} value={filters[name] ?? ""} of={of} onChange={(to) => onChange({ [name]: to })} />
  );
  return (
    <div id="inbox-filters" className="filter-grid">
      {select("kind", "Kind", "Any kind", choices.kind)}
      {select("graph", "Graph", "Any graph", choices.graph)}
      {select("node", "Node", "Any node", choices.node)}
      {select("action", "Action", "Any action", choices.action)}
      {select("assistant", "Assistant", "Any assistant", choices.assistant)}
      {select("claim", "Claimed by", "Anyone or no one", choices.claim)}
      {select("due", "Deadline", "Any deadline", choices.due)}
      {select("older", "Age", "Any age", AGES)}
      {select("snoozed", "Snoozed", "Hidden", choices.snoozed)}
      <MetadataFilter
        value={filters.metadata ?? ""}
        facets={choices.metadata}
        onChange={(metadata) => onChange({ metadata })}
      />
      {select("order", "Order", "Longest waiting first", [
        { value: "newest", label: "Newest first" },
        { value: "deadline", label: "Earliest deadline first" },
        { value: "priority", label: "Most urgent first" },
      ])}
    </div>
  );
}

function useChoices(filters: Filters, items: readonly ListedItem[]) {
  const me = useViewer();
  const query = useMemo(() => buildChoices(filters, me), [filters, me]);
  const { data } = useQuery({
    queryKey: [INBOX, "facets", query],
    queryFn: ({ signal }) => countChoices(query, signal),
    placeholderData: keepPreviousData,
    refetchInterval: RECOUNT_MS,
  });
  const names = new Map(useAssistants().map(({ assistant_id: id, name }) => [id, name]));
  const actions = useMemo(() => [...new Set(items.flatMap(({ action }) => action ?? []))].sort(), [items]);
  const snoozed = data?.snoozed.find(({ value }) => value)?.count;
  return {
    kind: all(KINDS, kindLabel, data?.kind),
    graph: data?.graph_id ?? [],
    node: data?.node ?? [],
    action: actions.map((value) => ({ value })),
    assistant: (data?.assistant_id ?? []).map((one) => ({ ...one, label: names.get(one.value) ?? one.value })),
    claim: claims(data, me.name),
    metadata: data?.metadata ?? [],
    due: all(DUES, (one) => DUE_LABELS[one], data?.deadline),
    snoozed: [
      { value: "only", label: "Only snoozed", count: snoozed ?? 0 },
      { value: "all", label: "Shown with the others" },
    ],
  };
}

/** Every choice, also those without an item. */
function all<Name extends string>(
  names: readonly Name[],
  formatLabel: (name: Name) => string,
  counted: readonly Choice[] = [],
): readonly Choice[] {
  return names.map((value) => ({
    value,
    label: formatLabel(value),
    count: counted.find((one) => one.value === value)?.count ?? 0,
  }));
}

function claims(data: InboxFacets | undefined, me: string): readonly Choice[] {
  const counted = data?.claimed_by ?? [];
  const findCount = (name: string | null): number => counted.find(({ value }) => value === name)?.count ?? 0;
  return [
    { value: "me", label: "Claimed by me", count: findCount(me) },
    { value: "nobody", label: "Unclaimed", count: findCount(null) },
    ...counted.flatMap(({ value, count }) => (value === null || value === me ? [] : [{ value, count }])),
  ];
}

function Choices({
  label,
  any,
  value,
  of,
  onChange,
}: {
  readonly label: string;
  readonly any: string;
  readonly value: string;
  readonly of: readonly Choice[];
  readonly onChange: (value: string) => void;
}): ReactNode {
  const known = value === "" || of.some((one) => one.value === value);
  const shown = known ? of : [...of, { value }];
  return (
    <Field label={label}>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{any}</option>
        {shown.map((one) => (
          <option key={one.value} value={one.value}>
            {one.label ?? one.value}
            {one.count === undefined ? "" : ` (${one.count})`}
          </option>
        ))}
      </select>
    </Field>
  );
}
