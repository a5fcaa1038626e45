// Assistant dialog: creates an assistant of a graph, or a new version of an existing one, with a preview of the
// changes.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call } from "../../api/client.ts";
import type { Assistant } from "../../api/types.ts";
import { Field } from "../../ui/controls.tsx";
import { EditDialog, JsonField } from "../../frames/edit-dialog.tsx";
import { useGraphNames } from "../../graph/graph-names.ts";
import { JsonDiff } from "../../diff/json-diff.tsx";
import { parseJson } from "../../json/parse-json.ts";
import { showToast } from "../../ui/toast.tsx";

/** The fields as typed. */
interface Draft {
  readonly graph: string;
  readonly name: string;
  readonly description: string;
  readonly config: string;
  readonly context: string;
}

export function AssistantDialog({
  assistant,
  onClose,
}: {
  /** Null: create. */
  readonly assistant: Assistant | null;
  readonly onClose: () => void;
}): ReactNode {
  const graphs = useGraphNames();
  const [draft, setDraft] = useState(() => startDraft(assistant));
  const [initial] = useState(draft);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const set = (change: Partial<Draft>): void => setDraft((now) => ({ ...now, ...change }));
  const { body, fault } = buildBody(draft, graphs);
  const [method, path] =
    assistant === null
      ? (["POST", "/assistants"] as const)
      : (["PATCH", `/assistants/${assistant.assistant_id}`] as const);
  const save = async (): Promise<void> => {
    const saved = await call<Assistant>(method, path, { body });
    showToast(assistant === null ? "Assistant created." : `Saved as version ${saved.version}.`, { tone: "green" });
    onClose();
    await navigate({ to: "/assistants", search: { assistant: saved.assistant_id }, replace: true });
    await queries.invalidateQueries({ queryKey: ["assistants"] });
  };
  return (
    <EditDialog
      title={assistant === null ? "New assistant" : `Edit ${assistant.name}`}
      description="A graph with its own config and context. Every change creates a version; you can restore earlier versions."
      call={{ method, path, body }}
      save={{
        label: assistant === null ? "Create" : "Save",
        ready: fault === null && body.name !== "",
        run: save,
      }}
      onClose={onClose}
    >
      <Field label="Name">
        <input autoFocus value={draft.name} onChange={(event) => set({ name: event.target.value })} />
      </Field>
      <Field label="Graph">
        <select value={body.graph_id} onChange={(event) => set({ graph: event.target.value })}>
          {graphs.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </Field>
      <Field label="Description">
        <input value={draft.description} onChange={(event) => set({ description: event.target.value })} />
      </Field>
      <JsonField label="Config" initial={initial.config} onChange={(config) => set({ config })} />
      <JsonField label="Context" initial={initial.context} onChange={(context) => set({ context })} />
      {fault === null ? null : <p className="field-error">{fault}</p>}
      {assistant === null || fault !== null ? null : (
        <section>
          <h3>Changes</h3>
          <JsonDiff before={selectShown(assistant)} after={body} />
        </section>
      )}
    </EditDialog>
  );
}

function startDraft(assistant: Assistant | null): Draft {
  return {
    graph: assistant?.graph_id ?? "",
    name: assistant?.name ?? "",
    description: assistant?.description ?? "",
    config: JSON.stringify(assistant?.config ?? {}, null, 2),
    context: JSON.stringify(assistant?.context ?? {}, null, 2),
  };
}

/** The body of the call, and the first invalid field; @param graphs the first one is the default. */
function buildBody(draft: Draft, graphs: readonly string[]) {
  const [config, context] = [parseJson(draft.config), parseJson(draft.context)];
  const description = draft.description.trim();
  return {
    fault: !config.ok ? `Config: ${config.error}` : !context.ok ? `Context: ${context.error}` : null,
    body: {
      graph_id: draft.graph === "" ? graphs[0] : draft.graph,
      name: draft.name.trim(),
      description: description === "" ? null : description,
      config: config.ok ? config.value : null,
      context: context.ok ? context.value : null,
    },
  };
}

const selectShown = ({ graph_id, name, description, config, context }: Assistant): object => ({
  graph_id,
  name,
  description,
  config,
  context,
});
