// Page Crons: what starts runs by itself, and when it does so next.
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { createLazyRoute, useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { call } from "../../api/client.ts";
import type { Assistant, Cron } from "../../api/types.ts";
import { setTitle } from "../../badge.ts";
import { Button, EmptyState, Failure, Loading } from "../../parts/controls.tsx";
import { CopyCurl } from "../../parts/copy.tsx";
import { glance, shortId } from "../../parts/format.ts";
import { useAssistants } from "../../parts/graph-names.ts";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { RelativeTime } from "../../parts/time.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { CronDetail } from "./detail.tsx";
import { CronDialog } from "./cron-dialog.tsx";
import { cronsRoute } from "./route.ts";
import "./crons.css";

export const page = createLazyRoute("/crons")({ component: CronsPage });

const PAGE_SIZE = 100;
const REFRESH_MS = 10_000;
const ROW_HEIGHT = 58;
const PATH = "/runs/crons/search";

type Filters = ReturnType<typeof cronsRoute.useSearch>;

function bodyOf({ assistant, enabled, thread }: Filters): Readonly<Record<string, unknown>> {
  return {
    limit: PAGE_SIZE,
    sort_by: "next_run_date",
    sort_order: "asc",
    ...(assistant === undefined ? {} : { assistant_id: assistant }),
    ...(thread === undefined ? {} : { thread_id: thread }),
    ...(enabled === undefined ? {} : { enabled: enabled === "true" }),
  };
}

function CronsPage(): ReactNode {
  useEffect(() => setTitle("Crons"), []);
  const search = cronsRoute.useSearch();
  const navigate = useNavigate();
  const [making, setMaking] = useState(false);
  const { cron: chosenId, ...filters } = search;
  const list = useInfiniteQuery({
    queryKey: ["crons", filters],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      call<readonly Cron[]>("POST", PATH, { body: { ...bodyOf(filters), offset: pageParam }, signal }),
    getNextPageParam: (last, all) => (last.length < PAGE_SIZE ? null : all.length * PAGE_SIZE),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
  const crons = useMemo(() => list.data?.pages.flat() ?? [], [list.data]);
  const assistants = useAssistants();
  const place = crons.findIndex(({ cron_id: id }) => id === chosenId);
  const choose = (at: number): void => {
    const cron = crons[Math.max(0, Math.min(crons.length - 1, at))];
    if (cron !== undefined) void navigate({ to: "/crons", search: { ...search, cron: cron.cron_id }, replace: true });
  };
  useShortcuts("Crons", [
    { keys: "j", label: "Next cron", run: () => choose(place + 1) },
    { keys: "k", label: "Cron before", run: () => choose(place - 1) },
    { keys: "n", label: "New cron", run: () => setMaking(true) },
  ]);
  const chosen = crons[place];
  return (
    <>
      <header className="page-header">
        <h1>Crons</h1>
        <span className="row spread">
          <CopyCurl method="POST" path={PATH} body={bodyOf(filters)} />
          <Button kind="primary" hint="n" onClick={() => setMaking(true)}>
            New cron
          </Button>
        </span>
      </header>
      <FilterBar filters={filters} assistants={assistants} />
      {list.isError && crons.length === 0 ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : list.isPending ? (
        <Loading />
      ) : crons.length === 0 ? (
        <None filtered={Object.keys(filters).length > 0} />
      ) : (
        <div className="split">
          <div className="split-list">
            <VirtualList
              items={crons}
              rowHeight={ROW_HEIGHT}
              label="Crons, by when they are due"
              keyOf={(cron) => cron.cron_id}
              active={place}
              onNearEnd={list.hasNextPage && !list.isFetchingNextPage ? () => void list.fetchNextPage() : undefined}
              renderRow={(cron, at) => (
                <Row
                  cron={cron}
                  name={nameOf(assistants, cron.assistant_id)}
                  chosen={at === place}
                  onChoose={() => choose(at)}
                />
              )}
            />
          </div>
          {chosen === undefined ? (
            <EmptyState icon="crons" title="Choose a cron" />
          ) : (
            <CronDetail key={chosen.cron_id} cron={chosen} assistantName={nameOf(assistants, chosen.assistant_id)} />
          )}
        </div>
      )}
      {making ? <CronDialog cron={null} onClose={() => setMaking(false)} /> : null}
    </>
  );
}

function nameOf(assistants: readonly Assistant[], id: string): string {
  return assistants.find(({ assistant_id: own }) => own === id)?.name ?? shortId(id);
}

function Row({
  cron,
  name,
  chosen,
  onChoose,
}: {
  readonly cron: Cron;
  readonly name: string;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}): ReactNode {
  return (
    <div role="listitem" className="step-item">
      <button type="button" className={`step ${chosen ? "active" : ""}`} aria-pressed={chosen} onClick={onChoose}>
        <span className={`status-dot cron-dot ${cron.enabled ? "runs" : ""}`} aria-hidden="true" />
        <span className="cron-words">
          <span className="row">
            <code className="truncate cron-schedule">{cron.schedule}</code>
            <span className="muted spread cron-due">
              {cron.enabled ? cron.next_run_date === null ? "over" : <RelativeTime at={cron.next_run_date} /> : "rests"}
            </span>
          </span>
          <span className="muted truncate">
            {name} · {cron.timezone ?? "UTC"} · {glance(cron.payload["input"] ?? null, 80)}
          </span>
        </span>
      </button>
    </div>
  );
}

function FilterBar({
  filters,
  assistants,
}: {
  readonly filters: Omit<Filters, "cron">;
  readonly assistants: readonly Assistant[];
}): ReactNode {
  const navigate = useNavigate();
  const set = (name: keyof Filters, value: string): void =>
    void navigate({ to: "/crons", search: { ...filters, [name]: value === "" ? undefined : value }, replace: true });
  return (
    <search className="filter-bar" aria-label="Filters">
      <select
        aria-label="Assistant"
        value={filters.assistant ?? ""}
        onChange={(event) => set("assistant", event.target.value)}
      >
        <option value="">Any assistant</option>
        {assistants.map((one) => (
          <option key={one.assistant_id} value={one.assistant_id}>
            {one.name}
          </option>
        ))}
      </select>
      <select
        aria-label="Enabled"
        value={filters.enabled ?? ""}
        onChange={(event) => set("enabled", event.target.value)}
      >
        <option value="">Running and resting</option>
        <option value="true">Running</option>
        <option value="false">Resting</option>
      </select>
      <input
        aria-label="Thread id"
        placeholder="thread id"
        value={filters.thread ?? ""}
        onChange={(event) => set("thread", event.target.value)}
      />
      {Object.keys(filters).length === 0 ? null : (
        <Button kind="quiet" icon="cross" onClick={() => void navigate({ to: "/crons", search: {} })}>
          Clear
        </Button>
      )}
    </search>
  );
}

function None({ filtered }: { readonly filtered: boolean }): ReactNode {
  if (filtered) return <EmptyState icon="filter" title="No cron is like this" />;
  return (
    <EmptyState icon="crons" title="No cron is there">
      <p>
        A cron starts runs of an assistant at times that a schedule gives: <code>0 9 * * MON-FRI</code>. Press{" "}
        <kbd className="key">n</kbd> to make one.
      </p>
    </EmptyState>
  );
}
