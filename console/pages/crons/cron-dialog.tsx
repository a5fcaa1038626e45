// Cron dialog: a new cron, or another schedule, end and input for one that is there.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { call } from "../../api/client.ts";
import { sayProblem } from "../../api/problem.ts";
import type { Cron } from "../../api/types.ts";
import { Button, Field } from "../../parts/controls.tsx";
import { CopyCurl } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { JsonEditor } from "../../parts/editor.tsx";
import { useAssistants } from "../../parts/graph-names.ts";
import { tell } from "../../parts/toast.tsx";
import { bodyOf, draftOf, faultOf, NEW_DRAFT, type Draft } from "./draft.ts";
import { cronsRoute } from "./route.ts";

export function CronDialog({
  cron,
  onClose,
}: {
  /** Null: a new one. */
  readonly cron: Cron | null;
  readonly onClose: () => void;
}): ReactNode {
  const assistants = useAssistants();
  const [draft, setDraft] = useState<Draft>(() => (cron === null ? NEW_DRAFT : draftOf(cron)));
  const [failure, setFailure] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const navigate = useNavigate();
  const search = cronsRoute.useSearch();
  const queries = useQueryClient();
  const set = (change: Partial<Draft>): void => setDraft((now) => ({ ...now, ...change }));
  const assistant = draft.assistant === "" ? (assistants[0]?.assistant_id ?? "") : draft.assistant;
  const fault = faultOf({ ...draft, assistant });
  const { method, path, body } = callFor(cron, { ...draft, assistant });
  const save = async (): Promise<void> => {
    setFailure(null);
    setSending(true);
    try {
      const saved = await call<Cron>(method, path, { body });
      tell(cron === null ? "The cron is there." : "The cron is changed.", { tone: "green" });
      await queries.invalidateQueries({ queryKey: ["crons"] });
      onClose();
      await navigate({ to: "/crons", search: { ...search, cron: saved.cron_id }, replace: true });
    } catch (error) {
      setFailure(sayProblem(error));
      setSending(false);
    }
  };
  return (
    <Dialog
      title={cron === null ? "New cron" : "Change the cron"}
      description="A change counts from the moment it is made; runs that were started go on."
      onClose={onClose}
      wide
      footer={
        <>
          <CopyCurl method={method} path={path} body={body} />
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={fault !== null || sending} onClick={() => void save()}>
            {cron === null ? "Make it" : "Save"}
          </Button>
        </>
      }
    >
      <div className="stack">
        {cron === null ? (
          <>
            <Field label="Assistant">
              <select value={assistant} onChange={(event) => set({ assistant: event.target.value })}>
                {assistants.map((one) => (
                  <option key={one.assistant_id} value={one.assistant_id}>
                    {one.name === one.graph_id ? one.name : `${one.name} (${one.graph_id})`}
                  </option>
                ))}
              </select>
            </Field>
            <Field label="Thread" hint="Its id; left empty, every run has a thread of its own.">
              <input value={draft.thread} onChange={(event) => set({ thread: event.target.value })} />
            </Field>
          </>
        ) : null}
        <div className="form-pair">
          <Field label="Schedule" hint="minute hour day month weekday; or six fields, seconds first; or @daily">
            <input
              className="mono"
              value={draft.schedule}
              onChange={(event) => set({ schedule: event.target.value })}
              autoFocus
            />
          </Field>
          <Field label="Time zone" hint="such as Europe/Berlin; empty is UTC">
            <input value={draft.timezone} onChange={(event) => set({ timezone: event.target.value })} />
          </Field>
        </div>
        <Field label="End" hint="No run at or after it, in your time.">
          <input type="datetime-local" value={draft.end} onChange={(event) => set({ end: event.target.value })} />
        </Field>
        <div className="field">
          <span className="field-label" aria-hidden="true">
            Input
          </span>
          <JsonEditor initial={draft.input} label="Input" onChange={(input) => set({ input })} />
        </div>
        <label className="check">
          <input type="checkbox" checked={draft.keeps} onChange={(event) => set({ keeps: event.target.checked })} />
          Keep the threads that runs have of their own
        </label>
        {fault === null ? null : <p className="field-error">{fault}</p>}
        {failure === null ? null : (
          <p className="field-error" role="alert">
            {failure}
          </p>
        )}
      </div>
    </Dialog>
  );
}

function callFor(
  cron: Cron | null,
  draft: Draft,
): { readonly method: "POST" | "PATCH"; readonly path: string; readonly body: Readonly<Record<string, unknown>> } {
  if (cron !== null) return { method: "PATCH", path: `/runs/crons/${cron.cron_id}`, body: bodyOf(draft) };
  const thread = draft.thread.trim();
  return {
    method: "POST",
    path: thread === "" ? "/runs/crons" : `/threads/${encodeURIComponent(thread)}/runs/crons`,
    body: { assistant_id: draft.assistant, ...bodyOf(draft) },
  };
}
