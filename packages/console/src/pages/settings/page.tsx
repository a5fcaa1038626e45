// Page Settings: the configuration of this process, with the source and the meaning of each value.
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useRef } from "react";
import { ListFilters, SearchFilter } from "../../frames/list-filters.tsx";
import { PageHeader } from "../../frames/list-page.tsx";
import { type About, type SettingLine, useAbout } from "../../api/about.ts";
import { request } from "../../api/client.ts";
import { problemMessage } from "../../api/problem.ts";
import { API_URL } from "../../browser/address.ts";
import { figuresIn, sumFigures } from "../../charts/prometheus.ts";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { Button, Chip, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { Fact } from "../../ui/facts.tsx";
import { count } from "../../ui/format.ts";
import "./settings.css";

const settingsRoute = getRouteApi("/settings");

export const page = createLazyRoute("/settings")({ component: SettingsPage });

function SettingsPage(): ReactNode {
  const about = useAbout();
  return (
    <>
      <PageHeader title="Settings" call={{ method: "GET", path: "/console/api/about" }} />
      {about.isPending ? (
        <Loading />
      ) : about.isError ? (
        <Failure error={about.error} onRetry={() => void about.refetch()} />
      ) : (
        <Loaded about={about.data} />
      )}
    </>
  );
}

function Loaded({ about }: { readonly about: About }): ReactNode {
  return (
    <>
      <FilterBar settings={about.settings} />
      <div className="page-body settings">
        <Facts about={about} />
        <List settings={about.settings} />
      </div>
    </>
  );
}

const KINDS = { set: "Modified", secret: "Secrets" } as const;

function FilterBar({ settings }: { readonly settings: readonly SettingLine[] }): ReactNode {
  const { find = "", only } = settingsRoute.useSearch();
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const set = (change: { readonly find?: string; readonly only?: string | undefined }): void => {
    const search = { find, only, ...change };
    void navigate({
      to: "/settings",
      search: { ...search, find: search.find === "" ? undefined : search.find },
      replace: true,
    });
  };
  useShortcuts("Settings", [{ keys: "/", label: "Find a setting", run: () => field.current?.focus() }]);
  return (
    <ListFilters onClear={null}>
      <SearchFilter field={field} label="Find a setting" value={find} onChange={(text) => set({ find: text })} />
      {(["set", "secret"] as const).map((kind) => (
        <Button key={kind} pressed={only === kind} onClick={() => set({ only: only === kind ? undefined : kind })}>
          {KINDS[kind]}
        </Button>
      ))}
      <span className="muted spread">{count(settings.length)} settings</span>
    </ListFilters>
  );
}

function Facts({ about }: { readonly about: About }): ReactNode {
  const ready = useQuery({ queryKey: ["ready"], queryFn: ({ signal }) => request("GET", "/ready", { signal }) });
  const { holdpoint, ...others } = about.versions;
  return (
    <section className="card settings-facts" aria-label="This process">
      <dl>
        <Fact name="Holdpoint">
          {holdpoint ?? "unknown"} <span className="muted">Apache-2.0</span>
        </Fact>
        {Object.entries(others).map(([name, version]) => (
          <Fact key={name} name={name}>
            {version}
          </Fact>
        ))}
        <Fact name="Health">
          {ready.isPending ? (
            "…"
          ) : ready.isError ? (
            <Chip tone="red">{problemMessage(ready.error)}</Chip>
          ) : (
            <Chip tone="green">ready</Chip>
          )}
        </Fact>
        <Workers />
        <Fact name="Collector">{about.collector === null ? "not in this process" : about.collector.url}</Fact>
        <Fact name="Trace store">{about.traces ? "in this process" : "not in this process"}</Fact>
        <Fact name="API">
          <a href={`${API_URL}/docs`}>Reference</a> · <a href={`${API_URL}/openapi.json`}>OpenAPI</a> ·{" "}
          <a href={`${API_URL}/metrics`}>Metrics</a>
        </Fact>
      </dl>
    </section>
  );
}

const LOOK_MS = 5000;

/** Load of the workers of this process. */
function Workers(): ReactNode {
  const figures = useQuery({
    queryKey: ["metrics"],
    queryFn: async ({ signal }) => figuresIn(await (await request("GET", "/metrics", { signal })).text()),
    refetchInterval: LOOK_MS,
  });
  const value = (name: string): string => count(sumFigures(figures.data ?? [], `agent_${name}`));
  return (
    <Fact name="Workers">
      {figures.data === undefined ? (
        "…"
      ) : (
        <>
          {value("workers_active")} of {value("workers_max")} busy,{" "}
          <span className="muted">{value("runs_pending")} runs wait</span>
        </>
      )}
    </Fact>
  );
}

function List({ settings }: { readonly settings: readonly SettingLine[] }): ReactNode {
  const { find = "", only } = settingsRoute.useSearch();
  const words = find.toLowerCase().split(/\s+/);
  const found = settings.filter(
    ({ name, value, meaning, origin, secret }) =>
      words.every((word) => `${name} ${value} ${meaning}`.toLowerCase().includes(word)) &&
      (only !== "set" || origin !== "default") &&
      (only !== "secret" || secret),
  );
  if (found.length === 0) return <EmptyState icon="filter" title="No matching settings" />;
  const isChanged = ({ origin }: SettingLine): boolean => origin !== "default";
  const groups = Map.groupBy(found, (one) => (isChanged(one) ? "Changed" : nameSubject(one.name)));
  return (
    <section className="stack" aria-label="Settings">
      {["Changed", ...SUBJECTS.map(([subject]) => subject), OTHERS].map((subject) => {
        const list = groups.get(subject);
        return list === undefined ? null : <Group key={subject} subject={subject} settings={list} />;
      })}
    </section>
  );
}

/** By the words of their names; the first that fits. */
const SUBJECTS = [
  [
    "Sign-in and access",
    /^(?!TRAC|REDACT|.*ENCRYPTION).*(?:OIDC|KEYS?$|KEYS?_|AUTH|ROLE|SESSION|ALLOWED|COOKIE|UNAUTHENTICATED)/,
  ],
  [
    "Traces and collector",
    /TRAC|OTEL|SPOOL|SPAN|COLLECT|^HTTP_|GRPC|DEAD_LETTER|PRICES|BATCH|QUEUE_BYTES|BUFFER|FLUSH|INGEST|GENAI|RULES|REDACT|FORWARD_HEADERS|^MAX_RETR|^RETR/,
  ],
  ["Storage and retention", /ENCRYPTION|DATA_DIR|DATABASE|POSTGRES|RETENTION|TTL|KEEP|BACKUP|SQLITE/],
  ["Messages and webhooks", /NOTIF|SLACK|SMTP|MAIL|WEBHOOK/],
  ["Runs and limits", /MAX|LIMIT|TIMEOUT|JOBS|WORKER|_SECS|_MS|BYTES/],
] as const;
const OTHERS = "Server";

function nameSubject(name: string): string {
  return SUBJECTS.find(([, words]) => words.test(name))?.[0] ?? OTHERS;
}

function Group({
  subject,
  settings,
}: {
  readonly subject: string;
  readonly settings: readonly SettingLine[];
}): ReactNode {
  return (
    <section className="card" aria-label={subject}>
      <h2>{subject}</h2>
      <ul className="settings-list">
        {settings.map((one) => (
          <li key={one.name}>
            <div className="setting-head">
              <code className="setting-name">{one.name}</code>
              <Value setting={one} />
              <Chip tone={one.origin === "default" ? "neutral" : "accent"}>{one.origin}</Chip>
            </div>
            <p className="muted">
              <Coded text={describeSetting(one)} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Some meanings say the default in words. */
function describeSetting({ origin, meaning, fallback }: SettingLine): string {
  return origin === "default" || meaning.includes("Default: ") ? meaning : `${meaning} Default: ${fallback}.`;
}

/** Words between back-ticks as code. */
function Coded({ text }: { readonly text: string }): ReactNode {
  // Parts have no identity except their index; every second one was between back-ticks.
  return text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
}

function Value({ setting: { value, secret } }: { readonly setting: SettingLine }): ReactNode {
  if (value === "") return <span className="muted setting-value">not set</span>;
  return (
    <code className="setting-value" title={secret ? "Secret, never shown" : undefined}>
      {secret ? "••••••" : value}
    </code>
  );
}
