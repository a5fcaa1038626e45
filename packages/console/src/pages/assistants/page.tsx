// Page Assistants: the deployed graphs and their assistants; for each the drawing, schemas, versions, and a form to try
// it.
import { useQuery } from "@tanstack/react-query";
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy, useRef, useState } from "react";
import { ListFilters, SearchFilter } from "../../frames/list-filters.tsx";
import { useAbout } from "../../api/about.ts";
import { call } from "../../api/client.ts";
import type { Assistant } from "../../api/types.ts";
import { ChoiceRow, ListBody, PageHeader, Rows, moveKeys, nearest, usePagedList } from "../../frames/list-page.tsx";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { Chip, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { guarded } from "../../ui/guarded.ts";
import { AssistantActions } from "./actions.tsx";
import { AssistantDialog } from "./assistant-dialog.tsx";
import "./assistants.css";
import { isBuiltIn } from "./built-in.ts";
import { SchemasTab } from "./schemas.tsx";
import { TryTab } from "./try.tsx";
import { VersionsTab } from "./versions.tsx";

const assistantsRoute = getRouteApi("/assistants");

export const page = createLazyRoute("/assistants")({ component: AssistantsPage });

const DrawingTab = lazy(() => import("./drawing.tsx"));

const ROW_HEIGHT = 52;
const TABS = ["graph", "schemas", "versions", "try"] as const;
type Tab = (typeof TABS)[number];
const TAB_NAMES: Readonly<Record<Tab, string>> = {
  graph: "Graph",
  schemas: "Schemas",
  versions: "Versions",
  try: "Try it",
};

const CREATE = { label: "New assistant", needs: "assistants:create" } as const;

function AssistantsPage(): ReactNode {
  const search = assistantsRoute.useSearch();
  const navigate = useNavigate();
  const [making, setMaking] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const list = usePagedList({
    key: ["assistants", "search", search.find],
    path: "/assistants/search",
    body: (limit, offset) => ({
      limit,
      offset,
      sort_by: "name",
      sort_order: "asc",
      ...(search.find === undefined ? {} : { name: search.find }),
    }),
    listItems: (reply: readonly Assistant[]) => reply,
  });
  const assistants = list.items;
  const wanted = search.assistant ?? search.graph ?? assistants[0]?.assistant_id;
  const place = assistants.findIndex(
    ({ assistant_id: id, graph_id: graph, name }) => id === wanted || (graph === wanted && name === wanted),
  );
  const choose = (at: number): void => {
    const one = nearest(assistants, at);
    if (one === undefined) return;
    const { find, tab } = search;
    void navigate({ to: "/assistants", search: { find, tab, assistant: one.assistant_id }, replace: true });
  };
  useShortcuts("Assistants", [
    ...moveKeys("assistant", place, choose),
    { keys: "n", label: CREATE.label, run: guarded(CREATE.needs, () => setMaking(true)) },
    { keys: "/", label: "Find an assistant", run: () => field.current?.focus() },
    ...TABS.map((tab, at) => ({
      keys: `${at + 1}`,
      label: `Show ${TAB_NAMES[tab]}`,
      run: () => void navigate({ to: "/assistants", search: { ...search, tab }, replace: true }),
    })),
  ]);
  return (
    <>
      <PageHeader title="Assistants" call={list.call} create={{ ...CREATE, run: () => setMaking(true) }} />
      <FailedGraphs />
      <ListBody list={list}>
        <div className="split assistants">
          <div className="split-list">
            <ListFilters onClear={null}>
              <SearchFilter
                field={field}
                label="Find an assistant"
                placeholder="Find by name"
                value={search.find}
                onChange={(text) => {
                  const find = text === "" ? undefined : text;
                  void navigate({ to: "/assistants", search: { ...search, find }, replace: true });
                }}
              />
            </ListFilters>
            {assistants.length === 0 ? (
              <EmptyState icon="filter" title="No matching assistants" />
            ) : (
              <Rows
                list={list}
                rowHeight={ROW_HEIGHT}
                label="Assistants"
                buildKey={(one) => one.assistant_id}
                active={place}
                renderRow={(one, at) => <Row assistant={one} chosen={at === place} onChoose={() => choose(at)} />}
              />
            )}
          </div>
          {wanted === undefined ? null : <Chosen key={wanted} id={wanted} />}
        </div>
      </ListBody>
      {making ? <AssistantDialog assistant={null} onClose={() => setMaking(false)} /> : null}
    </>
  );
}

function Row({
  assistant,
  chosen,
  onChoose,
}: {
  readonly assistant: Assistant;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}): ReactNode {
  return (
    <ChoiceRow chosen={chosen} onChoose={onChoose}>
      <span className="assistant-words">
        <span className="truncate assistant-name">{assistant.name}</span>
        <span className="muted truncate">
          {isBuiltIn(assistant) ? "graph" : `of ${assistant.graph_id}, version ${assistant.version}`}
          {assistant.description === null ? "" : ` · ${assistant.description}`}
        </span>
      </span>
    </ChoiceRow>
  );
}

/** Graphs of the configuration file that do not load: `holdpoint dev` starts without them. */
function FailedGraphs(): ReactNode {
  const about = useAbout();
  return about.data?.graphs.flatMap(({ graph_id: id, problem }) =>
    problem === null ? [] : <Failure key={id} error={new Error(problem)} onRetry={() => void about.refetch()} />,
  );
}

/** The file of a graph, if visible to the caller. */
function Source({ graph }: { readonly graph: string }): ReactNode {
  const about = useAbout();
  const source = about.data?.graphs.find(({ graph_id: id }) => id === graph)?.source;
  // Its line is there before it: the tabs below do not move.
  return source === undefined && !about.isPending ? null : <code className="muted assistant-source">{source}</code>;
}

/** @param id of an assistant, or the name of a graph. */
function Chosen({ id }: { readonly id: string }): ReactNode {
  const search = assistantsRoute.useSearch();
  const found = useQuery({
    queryKey: ["assistants", "one", id],
    queryFn: ({ signal }) => call<Assistant>("GET", `/assistants/${encodeURIComponent(id)}`, { signal }),
  });
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failure error={found.error} onRetry={() => void found.refetch()} />;
  const assistant = found.data;
  const tab = TABS.find((one) => one === search.tab) ?? "graph";
  return (
    <div className="assistant" role="region" aria-label={assistant.name}>
      <header className="assistant-header">
        <h2>{assistant.name}</h2>
        <CopyButton text={assistant.assistant_id} what="the assistant's id" />
        <Chip tone="accent">{assistant.graph_id}</Chip>
        <Chip>version {assistant.version}</Chip>
        <AssistantActions assistant={assistant} />
        <Source graph={assistant.graph_id} />
        {assistant.description === null ? null : <p className="muted assistant-about">{assistant.description}</p>}
      </header>
      <nav className="tabs" aria-label="Views of the assistant">
        {TABS.map((one) => (
          <Link
            key={one}
            to="/assistants"
            search={{ ...search, tab: one }}
            replace
            className="tab"
            activeProps={{}}
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={one === tab ? "page" : undefined}
          >
            {TAB_NAMES[one]}
          </Link>
        ))}
      </nav>
      {tab === "graph" ? (
        <Suspense fallback={<Loading label="Loading the drawing" />}>
          <DrawingTab assistant={assistant} />
        </Suspense>
      ) : null}
      {tab === "schemas" ? <SchemasTab assistant={assistant} /> : null}
      {tab === "versions" ? <VersionsTab assistant={assistant} /> : null}
      {tab === "try" ? <TryTab assistant={assistant} /> : null}
    </div>
  );
}
