// Page Crons: schedules that start runs, and their next due time.
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Assistant, Cron } from "../../api/types.ts";
import { FilterFields, NoItems } from "../../frames/filtered-list.tsx";
import { ChoiceRow, ListBody, PageHeader, Rows, moveKeys, nearest, usePagedList } from "../../frames/list-page.tsx";
import { useAssistants } from "../../graph/graph-names.ts";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { EmptyState } from "../../ui/controls.tsx";
import { glance } from "../../json/excerpt.ts";
import { guarded } from "../../ui/guarded.ts";
import { RelativeTime } from "../../ui/time.tsx";
import { CronDialog } from "./cron-dialog.tsx";
import "./crons.css";
import { CronDetail } from "./detail.tsx";

const cronsRoute = getRouteApi("/crons");

export const page = createLazyRoute("/crons")({ component: CronsPage });

const REFRESH_MS = 10_000;
const ROW_HEIGHT = 58;
const STATES = [
  ["true", "Active"],
  ["false", "Paused"],
] as const;

type Filters = ReturnType<typeof cronsRoute.useSearch>;

function buildFilter({ assistant, enabled, thread }: Filters): Readonly<Record<string, unknown>> {
  return {
    sort_by: "next_run_date",
    sort_order: "asc",
    ...(assistant === undefined ? {} : { assistant_id: assistant }),
    ...(thread === undefined ? {} : { thread_id: thread }),
    ...(enabled === undefined ? {} : { enabled: enabled === "true" }),
  };
}

function CronsPage(): ReactNode {
  const search = cronsRoute.useSearch();
  const navigate = useNavigate();
  const [making, setMaking] = useState(false);
  const { cron: chosenId, ...filters } = search;
  const list = usePagedList({
    key: ["crons", filters],
    path: "/runs/crons/search",
    body: (limit, offset) => ({ limit, offset, ...buildFilter(filters) }),
    listItems: (reply: readonly Cron[]) => reply,
    refreshMs: REFRESH_MS,
  });
  const crons = list.items;
  const assistants = useAssistants();
  const place = crons.findIndex(({ cron_id: id }) => id === chosenId);
  const choose = (at: number): void => {
    const cron = nearest(crons, at);
    if (cron !== undefined) void navigate({ to: "/crons", search: { ...search, cron: cron.cron_id }, replace: true });
  };
  useShortcuts("Crons", [
    ...moveKeys("cron", place, choose),
    { keys: "n", label: "New cron", run: guarded("crons:create", () => setMaking(true)) },
  ]);
  const chosen = crons[place];
  return (
    <>
      <PageHeader
        title="Crons"
        call={list.call}
        create={{ label: "New cron", needs: "crons:create", run: () => setMaking(true) }}
      />
      <FilterBar filters={filters} assistants={assistants} />
      <ListBody list={list}>
        {crons.length === 0 ? (
          <None filters={filters} />
        ) : (
          <div className="split">
            <div className="split-list">
              <Rows
                list={list}
                rowHeight={ROW_HEIGHT}
                label="Crons, by due time"
                buildKey={(cron) => cron.cron_id}
                active={place}
                renderRow={(cron, at) => (
                  <Row
                    cron={cron}
                    name={findAssistantName(assistants, cron.assistant_id)}
                    chosen={at === place}
                    onChoose={() => choose(at)}
                  />
                )}
              />
            </div>
            {chosen === undefined ? (
              <EmptyState icon="crons" title="Select a cron" />
            ) : (
              <CronDetail
                key={chosen.cron_id}
                cron={chosen}
                assistantName={findAssistantName(assistants, chosen.assistant_id)}
              />
            )}
          </div>
        )}
      </ListBody>
      {making ? <CronDialog cron={null} onClose={() => setMaking(false)} /> : null}
    </>
  );
}

function findAssistantName(assistants: readonly Assistant[], id: string): string {
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
    <ChoiceRow chosen={chosen} onChoose={onChoose}>
      <span className={`status-dot cron-dot ${cron.enabled ? "runs" : ""}`} aria-hidden="true" />
      <span className="cron-words">
        <span className="row">
          <code className="truncate cron-schedule">{cron.schedule}</code>
          <span className="muted spread cron-due">
            {cron.enabled ? cron.next_run_date === null ? "ended" : <RelativeTime at={cron.next_run_date} /> : "paused"}
          </span>
        </span>
        <span className="muted truncate">
          {name} · {cron.timezone ?? "UTC"} · {glance(cron.payload["input"] ?? null, 80)}
        </span>
      </span>
    </ChoiceRow>
  );
}

function FilterBar({
  filters,
  assistants,
}: {
  readonly filters: Omit<Filters, "cron">;
  readonly assistants: readonly Assistant[];
}): ReactNode {
  const names = assistants.map((one) => [one.assistant_id, one.name] as const);
  return (
    <FilterFields
      path="/crons"
      filters={filters}
      fields={[
        { name: "assistant", label: "Assistant", any: "Any assistant", options: names },
        { name: "enabled", label: "Enabled", any: "Active and paused", options: STATES },
        { name: "thread", label: "Thread id" },
      ]}
    />
  );
}

function None({ filters }: { readonly filters: Omit<Filters, "cron"> }): ReactNode {
  return (
    <NoItems path="/crons" filters={filters} icon="crons" nouns="crons" title="No crons yet">
      <p>
        A cron starts runs of an assistant on a schedule: <code>0 9 * * MON-FRI</code>. Press{" "}
        <kbd className="key">n</kbd> to create one.
      </p>
    </NoItems>
  );
}
