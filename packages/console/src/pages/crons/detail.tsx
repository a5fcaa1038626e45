// Detail: one cron: its next run, its request, the threads of its runs, and its operations.
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call, request } from "../../api/client.ts";
import type { Cron, Thread } from "../../api/types.ts";
import { DeleteDialog } from "../../frames/delete-dialog.tsx";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { JsonCard } from "../../json/json-card.tsx";
import { Button, Chip, Failure } from "../../ui/controls.tsx";
import { CopyButton, CopyCurl } from "../../ui/copy.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { guarded } from "../../ui/guarded.ts";
import { absoluteTime } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { withToast } from "../../ui/with-toast.ts";
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
  const queries = useQueryClient();
  const path = `/runs/crons/${cron.cron_id}`;
  const toggle = async (): Promise<void> => {
    await withToast(
      () => call("PATCH", path, { body: { enabled: !cron.enabled } }),
      cron.enabled ? "Cron paused." : "Cron resumed.",
    );
    await queries.invalidateQueries({ queryKey: ["crons"] });
  };
  const close = (): void => setOpen(null);
  useShortcuts("Cron", [
    { keys: "e", label: "Edit the cron", run: guarded("crons:update", () => setOpen("edit")) },
    { keys: "p", label: cron.enabled ? "Pause" : "Resume", run: guarded("crons:update", () => void toggle()) },
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
        <Button hint="p" needs="crons:update" onClick={() => void toggle()}>
          {cron.enabled ? "Pause" : "Resume"}
        </Button>
        <Button hint="e" needs="crons:update" onClick={() => setOpen("edit")}>
          Edit
        </Button>
        <Button kind="danger" needs="crons:delete" onClick={() => setOpen("delete")}>
          Delete
        </Button>
        <CopyCurl method="PATCH" path={path} body={{ enabled: !cron.enabled }} />
      </div>
      <CronFacts cron={cron} assistantName={assistantName} />
      <JsonCard title="Request of every run" value={cron.payload} label="the request" openLevels={2} />
      {Object.keys(cron.metadata).length === 0 ? null : (
        <JsonCard title="Metadata" value={cron.metadata} openLevels={1} />
      )}
      {cron.thread_id === null ? <Threads cron={cron} /> : null}
      {open === "edit" ? <CronDialog cron={cron} onClose={close} /> : null}
      {open === "delete" ? <Deletion cron={cron} assistantName={assistantName} onClose={close} /> : null}
    </div>
  );
}

function Deletion({
  cron,
  assistantName,
  onClose,
}: {
  readonly cron: Cron;
  readonly assistantName: string;
  readonly onClose: () => void;
}): ReactNode {
  const navigate = useNavigate();
  const search = cronsRoute.useSearch();
  const queries = useQueryClient();
  const path = `/runs/crons/${cron.cron_id}`;
  const remove = async (): Promise<void> => {
    onClose();
    await withToast(async () => {
      await request("DELETE", path);
      await navigate({ to: "/crons", search: { ...search, cron: undefined }, replace: true });
    }, "Cron deleted.");
    await queries.invalidateQueries({ queryKey: ["crons"] });
  };
  return (
    <DeleteDialog
      title="Delete this cron?"
      description="Runs already started continue. This cannot be undone."
      call={{ path }}
      onDelete={() => void remove()}
      onClose={onClose}
    >
      <p>
        <code>{cron.schedule}</code> of {assistantName}
      </p>
    </DeleteDialog>
  );
}

const DISABLED: Readonly<Record<NonNullable<Cron["disabled_reason"]>, string>> = {
  caller_gone: "whose runs these were may not start them any more; whoever resumes the cron takes it over",
  assistant_not_found: "the assistant is gone",
  thread_not_found: "the thread is gone",
  cron_schedule_invalid: "the schedule is not valid any more",
  invalid_request: "the request is not valid any more",
};

function CronFacts({ cron, assistantName }: { readonly cron: Cron; readonly assistantName: string }): ReactNode {
  const { next_run_date: next, end_time: end } = cron;
  return (
    <Facts>
      <Fact name="Next run">
        {next === null ? (
          "never"
        ) : (
          <>
            <RelativeTime at={next} /> <span className="muted">{absoluteTime(Date.parse(next))}</span>
          </>
        )}
      </Fact>
      <Fact name="Time zone">{cron.timezone ?? "UTC"}</Fact>
      <Fact name="End">{end === null ? "none" : absoluteTime(Date.parse(end))}</Fact>
      <Fact name="Assistant">
        <Link to="/assistants" search={{ assistant: cron.assistant_id }}>
          {assistantName}
        </Link>
      </Fact>
      <Fact name="Thread">
        {cron.thread_id === null ? (
          `a new one for each run, ${cron.on_run_completed === "keep" ? "kept" : "deleted after the run"}`
        ) : (
          <Link to="/threads/$threadId" params={{ threadId: cron.thread_id }} className="mono">
            {shortId(cron.thread_id)}
          </Link>
        )}
      </Fact>
      <Fact name="Created">
        <RelativeTime at={cron.created_at} />
      </Fact>
      {cron.user_id === null ? null : <Fact name="Runs as">{cron.user_id}</Fact>}
      {cron.disabled_reason === null ? null : <Fact name="Disabled">{DISABLED[cron.disabled_reason]}</Fact>}
    </Facts>
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
