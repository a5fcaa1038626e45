// Detail: one cron: its next run, its request, the threads of its runs, and its operations.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call, request } from "../../api/client.ts";
import { problemMessage } from "../../api/problem.ts";
import type { Cron, Thread } from "../../api/types.ts";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { JsonView } from "../../json/json-view.tsx";
import { Button, Chip, Failure } from "../../ui/controls.tsx";
import { CopyButton, CopyCurl } from "../../ui/copy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { absoluteTime, shortId } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";
import { CronDialog } from "./cron-dialog.tsx";

const cronsRoute = getRouteApi("/crons");

const THREADS_SHOWN_MAX = 10;

export function CronDetail({
  cron,
  assistantName,
}: {
  readonly cron: Cron;
  readonly assistantName: string;
}): ReactNode {
  const [open, setOpen] = useState<"edit" | "delete" | null>(null);
  const navigate = useNavigate();
  const search = cronsRoute.useSearch();
  const queries = useQueryClient();
  const path = `/runs/crons/${cron.cron_id}`;
  const act = async (work: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await work();
      tell(done);
    } catch (error) {
      tell(problemMessage(error), { tone: "red" });
    }
    await queries.invalidateQueries({ queryKey: ["crons"] });
  };
  const toggle = (): Promise<void> =>
    act(
      () => call("PATCH", path, { body: { enabled: !cron.enabled } }),
      cron.enabled ? "Cron paused." : "Cron resumed.",
    );
  useShortcuts("Cron", [
    { keys: "e", label: "Edit the cron", run: () => setOpen("edit") },
    { keys: "p", label: cron.enabled ? "Pause" : "Resume", run: () => void toggle() },
  ]);
  return (
    <div className="split-detail" role="region" aria-label="Cron" tabIndex={0}>
      <div className="row detail-head">
        <h2>
          <code>{cron.schedule}</code>
        </h2>
        <CopyButton text={cron.cron_id} what="the cron's id" />
        <Chip tone={cron.enabled ? "green" : "neutral"}>{cron.enabled ? "active" : "paused"}</Chip>
      </div>
      <div className="actions">
        <Button hint="p" onClick={() => void toggle()}>
          {cron.enabled ? "Pause" : "Resume"}
        </Button>
        <Button hint="e" onClick={() => setOpen("edit")}>
          Change
        </Button>
        <Button kind="danger" onClick={() => setOpen("delete")}>
          Delete
        </Button>
        <CopyCurl method="PATCH" path={path} body={{ enabled: !cron.enabled }} />
      </div>
      <Facts cron={cron} assistantName={assistantName} />
      <section className="card state-card">
        <h3>Request of every run</h3>
        <JsonView value={cron.payload} label="the request" openLevels={2} />
      </section>
      {Object.keys(cron.metadata).length === 0 ? null : (
        <section className="card state-card">
          <h3>Metadata</h3>
          <JsonView value={cron.metadata} label="the metadata" openLevels={1} />
        </section>
      )}
      {cron.thread_id === null ? <Threads cron={cron} /> : null}
      {open === "edit" ? <CronDialog cron={cron} onClose={() => setOpen(null)} /> : null}
      {open === "delete" ? (
        <Dialog
          title="Delete this cron?"
          description="Runs already started continue. This cannot be undone."
          onClose={() => setOpen(null)}
          footer={
            <>
              <CopyCurl method="DELETE" path={path} />
              <Button onClick={() => setOpen(null)}>Keep it</Button>
              <Button
                kind="danger"
                onClick={() => {
                  setOpen(null);
                  void act(async () => {
                    await request("DELETE", path);
                    await navigate({ to: "/crons", search: { ...search, cron: undefined }, replace: true });
                  }, "Cron deleted.");
                }}
              >
                Delete
              </Button>
            </>
          }
        >
          <p>
            <code>{cron.schedule}</code> of {assistantName}
          </p>
        </Dialog>
      ) : null}
    </div>
  );
}

function Facts({ cron, assistantName }: { readonly cron: Cron; readonly assistantName: string }): ReactNode {
  const { next_run_date: next, end_time: end } = cron;
  return (
    <dl className="facts">
      <div>
        <dt>Next run</dt>
        <dd>
          {next === null ? (
            "never"
          ) : (
            <>
              <RelativeTime at={next} /> <span className="muted">{absoluteTime(Date.parse(next))}</span>
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>Time zone</dt>
        <dd>{cron.timezone ?? "UTC"}</dd>
      </div>
      <div>
        <dt>End</dt>
        <dd>{end === null ? "none" : absoluteTime(Date.parse(end))}</dd>
      </div>
      <div>
        <dt>Assistant</dt>
        <dd>
          <Link to="/assistants" search={{ assistant: cron.assistant_id }}>
            {assistantName}
          </Link>
        </dd>
      </div>
      <div>
        <dt>Thread</dt>
        <dd>
          {cron.thread_id === null ? (
            `one for each run, ${cron.on_run_completed === "keep" ? "kept" : "deleted after the run"}`
          ) : (
            <Link to="/threads/$threadId" params={{ threadId: cron.thread_id }} className="mono">
              {shortId(cron.thread_id)}
            </Link>
          )}
        </dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <RelativeTime at={cron.created_at} />
          {cron.user_id === null ? "" : ` by ${cron.user_id}`}
        </dd>
      </div>
    </dl>
  );
}

/** Remaining threads of the cron's runs: retained ones and those with pending interrupts. */
function Threads({ cron }: { readonly cron: Cron }): ReactNode {
  const threads = useQuery({
    queryKey: ["crons", "threads", cron.cron_id],
    queryFn: ({ signal }) =>
      call<readonly Thread[]>("POST", "/threads/search", {
        body: {
          metadata: { cron_id: cron.cron_id },
          limit: THREADS_SHOWN_MAX,
          select: ["thread_id", "status", "updated_at"],
        },
        signal,
      }),
  });
  return (
    <section className="card state-card">
      <h3>Threads of this cron's runs</h3>
      {threads.isError ? <Failure error={threads.error} onRetry={() => void threads.refetch()} /> : null}
      {threads.data?.length === 0 ? <p className="muted">None.</p> : null}
      <ul className="stack">
        {threads.data?.map((thread) => (
          <li key={thread.thread_id} className="row">
            <Status status={thread.status} />
            <Link to="/threads/$threadId" params={{ threadId: thread.thread_id }} className="mono">
              {shortId(thread.thread_id)}
            </Link>
            <span className="muted">
              <RelativeTime at={thread.updated_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
