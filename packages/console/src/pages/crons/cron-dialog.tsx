// Cron dialog: creates a cron, or edits the schedule, end and input of an existing one.
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call } from "../../api/client.ts";
import type { Cron } from "../../api/types.ts";
import { EditDialog, JsonField } from "../../frames/edit-dialog.tsx";
import { AssistantSelect } from "../../graph/assistant-select.tsx";
import { useAssistants } from "../../graph/graph-names.ts";
import { Field } from "../../ui/controls.tsx";
import { showToast } from "../../ui/toast.tsx";
import { type Draft, NEW_DRAFT, buildBody, toDraft, findFault } from "./draft.ts";

const cronsRoute = getRouteApi("/crons");

export function CronDialog({
  cron,
  onClose,
}: {
  /** Null: create. */
  readonly cron: Cron | null;
  readonly onClose: () => void;
}): ReactNode {
  const assistants = useAssistants();
  const [draft, setDraft] = useState<Draft>(() => (cron === null ? NEW_DRAFT : toDraft(cron)));
  const navigate = useNavigate();
  const search = cronsRoute.useSearch();
  const queries = useQueryClient();
  const set = (change: Partial<Draft>): void => setDraft((now) => ({ ...now, ...change }));
  const assistant = draft.assistant === "" ? (assistants[0]?.assistant_id ?? "") : draft.assistant;
  const fault = findFault({ ...draft, assistant });
  const { method, path, body } = callFor(cron, { ...draft, assistant });
  const save = async (): Promise<void> => {
    const saved = await call<Cron>(method, path, { body });
    showToast(cron === null ? "Cron created." : "Cron saved.", { tone: "green" });
    await queries.invalidateQueries({ queryKey: ["crons"] });
    onClose();
    await navigate({ to: "/crons", search: { ...search, cron: saved.cron_id }, replace: true });
  };
  return (
    <EditDialog
      title={cron === null ? "New cron" : "Edit cron"}
      description="Changes apply at once. Runs already started continue."
      call={{ method, path, body }}
      save={{ label: cron === null ? "Create" : "Save", ready: fault === null, run: save }}
      onClose={onClose}
    >
      {cron === null ? (
        <>
          <Field label="Assistant">
            <AssistantSelect value={assistant} onChange={(id) => set({ assistant: id })} />
          </Field>
          <Field label="Thread" hint="Thread id. Leave empty to give every run its own thread.">
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
      <Field label="End" hint="No run starts at or after this time (your time zone).">
        <input type="datetime-local" value={draft.end} onChange={(event) => set({ end: event.target.value })} />
      </Field>
      <JsonField label="Input" initial={draft.input} onChange={(input) => set({ input })} />
      <label className="check">
        <input type="checkbox" checked={draft.keeps} onChange={(event) => set({ keeps: event.target.checked })} />
        Keep the threads that runs create
      </label>
      {fault === null ? null : <p className="field-error">{fault}</p>}
    </EditDialog>
  );
}

function callFor(
  cron: Cron | null,
  draft: Draft,
): { readonly method: "POST" | "PATCH"; readonly path: string; readonly body: Readonly<Record<string, unknown>> } {
  if (cron !== null) return { method: "PATCH", path: `/runs/crons/${cron.cron_id}`, body: buildBody(draft) };
  const thread = draft.thread.trim();
  return {
    method: "POST",
    path: thread === "" ? "/runs/crons" : `/threads/${encodeURIComponent(thread)}/runs/crons`,
    body: { assistant_id: draft.assistant, ...buildBody(draft) },
  };
}
