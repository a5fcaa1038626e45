// Filter bar: the filters of the trace list, all in the URL.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, type ReactNode } from "react";
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { TRACE_STATUSES, type TraceItem } from "@holdpoint/api/traces/traces.ts";
import { call } from "../../api/client.ts";
import { ChoiceFilter, ListFilters, SearchFilter, TextFilter } from "../../frames/list-filters.tsx";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { Button, Chip } from "../../ui/controls.tsx";
import { absoluteTime, duration } from "../../ui/format.ts";
import { PATH, SINCE, SLOW_SHARE, type TraceFilters, US_IN_MS, latencyAt } from "./query.ts";

export function FilterBar({
  filters,
  traces,
}: {
  readonly filters: TraceFilters;
  readonly traces: readonly TraceItem[];
}): ReactNode {
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  useShortcuts("Filters", [{ keys: "/", label: "Search", run: () => field.current?.focus() }]);
  const projects = useQuery({
    queryKey: ["trace-projects"],
    queryFn: ({ signal }) => call<readonly { readonly name: string }[]>("GET", `${PATH}/projects`, { signal }),
  });
  const models = [
    ...new Set([...traces.flatMap((trace) => trace.models), ...(filters.model === undefined ? [] : [filters.model])]),
  ];
  const set = (change: TraceFilters): void => {
    const search = Object.fromEntries(Object.entries({ ...filters, ...change }).filter(([, value]) => value !== ""));
    void navigate({ to: "/traces", search, replace: true });
  };
  return (
    <ListFilters
      onClear={Object.keys(filters).length === 0 ? null : () => void navigate({ to: "/traces", search: {} })}
    >
      <SearchFilter
        field={field}
        label="Search"
        value={filters.q}
        placeholder="search content"
        onChange={(q) => set({ q })}
      />
      <QuickFilters filters={filters} traces={traces} onChange={set} />
      <ChoiceFilter
        label="Status"
        any="Any status"
        value={filters.status}
        options={TRACE_STATUSES}
        onChange={(status) => set({ status })}
      />
      <ChoiceFilter
        label="Model"
        any="Any model"
        value={filters.model}
        options={models}
        onChange={(model) => set({ model })}
      />
      <TextFilter label="Tool" value={filters.tool} onChange={(tool) => set({ tool })} />
      <ChoiceFilter
        label="Project"
        any="Any project"
        value={filters.project}
        options={projects.data?.map(({ name }) => name) ?? []}
        onChange={(project) => set({ project })}
      />
      <ChoiceFilter
        label="Time"
        any="Any time"
        value={filters.since}
        options={SINCE}
        onChange={(since) => set({ since, from: undefined, to: undefined })}
      />
      {filters.from === undefined ? null : (
        <Chip tone="accent">
          {absoluteTime(Number(filters.from))} – {filters.to === undefined ? "now" : absoluteTime(Number(filters.to))}
        </Chip>
      )}
      {filters.name === undefined ? null : <Chip tone="accent">name {filters.name}</Chip>}
      {filters.thread === undefined ? null : <Chip tone="accent">thread {shortId(filters.thread)}</Chip>}
    </ListFilters>
  );
}

/** Buttons for failed and for slow traces. */
function QuickFilters({
  filters,
  traces,
  onChange,
}: {
  readonly filters: TraceFilters;
  readonly traces: readonly TraceItem[];
  readonly onChange: (change: TraceFilters) => void;
}): ReactNode {
  const slow = latencyAt(traces, SLOW_SHARE);
  const slowMs = slow === null ? "1000" : String(Math.floor(slow / US_IN_MS));
  const toggle = (name: "status" | "slow", value: string): void =>
    onChange({ [name]: filters[name] === undefined ? value : undefined });
  return (
    <>
      <Button
        className={filters.status === "error" ? "button pressed" : "button"}
        aria-pressed={filters.status === "error"}
        onClick={() => toggle("status", "error")}
      >
        Errors
      </Button>
      <Button
        className={filters.slow === undefined ? "button" : "button pressed"}
        aria-pressed={filters.slow !== undefined}
        onClick={() => toggle("slow", slowMs)}
        title="95th percentile of the listed traces, without waits for people"
      >
        {filters.slow === undefined ? "Slow" : `≥ ${duration(Number(filters.slow))}`}
      </Button>
    </>
  );
}
