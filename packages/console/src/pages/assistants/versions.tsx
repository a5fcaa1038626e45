// Versions: the versions of an assistant, their differences, and restoring one.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../../api/client.ts";
import type { Assistant, AssistantVersion } from "../../api/types.ts";
import { JsonDiff } from "../../diff/json-diff.tsx";
import { JsonCard } from "../../json/json-card.tsx";
import { Button, Chip, Failure, Loading } from "../../ui/controls.tsx";
import { CopyCurl } from "../../ui/copy.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { withToast } from "../../ui/with-toast.ts";
import { isBuiltIn } from "./built-in.ts";

const assistantsRoute = getRouteApi("/assistants");

const VERSIONS_MAX = 100;

export function VersionsTab({ assistant }: { readonly assistant: Assistant }): ReactNode {
  const search = assistantsRoute.useSearch();
  const navigate = useNavigate();
  const path = `/assistants/${assistant.assistant_id}`;
  const versions = useQuery({
    queryKey: ["assistants", "versions", assistant.assistant_id, assistant.version],
    queryFn: ({ signal }) =>
      call<readonly AssistantVersion[]>("POST", `${path}/versions`, { body: { limit: VERSIONS_MAX }, signal }),
  });
  if (versions.isPending) return <Loading />;
  if (versions.isError) return <Failure error={versions.error} onRetry={() => void versions.refetch()} />;
  const shown = versions.data.find(({ version }) => String(version) === search.version) ?? versions.data[0];
  const before = versions.data.find(({ version }) => shown !== undefined && version < shown.version);
  return (
    <div className="page-body versions">
      <ul className="card version-list" aria-label="Versions, newest first">
        {versions.data.map((one) => (
          <li key={one.version}>
            <button
              type="button"
              className={`step ${one === shown ? "active" : ""}`}
              aria-pressed={one === shown}
              onClick={() =>
                void navigate({
                  to: "/assistants",
                  search: { ...search, version: String(one.version) },
                  replace: true,
                })
              }
            >
              <span>{one.version}</span>
              <span className="truncate">{one.name}</span>
              {one.version === assistant.version ? <Chip tone="green">latest</Chip> : null}
              <span className="muted spread">
                <RelativeTime at={one.created_at} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {shown === undefined ? null : (
        <div className="stack">
          <div className="actions">
            <h3>Version {shown.version}</h3>
            {shown.version === assistant.version || isBuiltIn(assistant) ? null : (
              <MakeLatest path={path} version={shown.version} />
            )}
          </div>
          <section className="card state-card">
            <h3>{before === undefined ? "First version" : `Changes since version ${before.version}`}</h3>
            {before === undefined ? (
              <p className="muted">First version.</p>
            ) : (
              <JsonDiff before={selectContent(before)} after={selectContent(shown)} />
            )}
          </section>
          <JsonCard title="Full version" value={selectContent(shown)} label="the version" openLevels={2} />
        </div>
      )}
    </div>
  );
}

const selectContent = ({ graph_id, name, description, config, context, metadata }: AssistantVersion): object => ({
  graph_id,
  name,
  description,
  config,
  context,
  metadata,
});

function MakeLatest({ path, version }: { readonly path: string; readonly version: number }): ReactNode {
  const queries = useQueryClient();
  const restore = async (): Promise<void> => {
    const work = (): Promise<unknown> => call<Assistant>("POST", `${path}/latest`, { body: { version } });
    await withToast(work, `Version ${version} is now the latest.`, "green");
    await queries.invalidateQueries({ queryKey: ["assistants"] });
  };
  return (
    <>
      <Button kind="primary" needs="assistants:update" onClick={() => void restore()}>
        Set as latest
      </Button>
      <CopyCurl method="POST" path={`${path}/latest`} body={{ version }} />
    </>
  );
}
