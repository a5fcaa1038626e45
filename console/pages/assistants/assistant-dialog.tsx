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
import { JsonDiff } from "../../json/json-diff.tsx";
import { parseJson } from "../../json/parse-json.ts";
import { tell } from "../../ui/toast.tsx";

interface Texts {
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
  const [graph, setGraph] = useState(assistant?.graph_id ?? "");
  const [name, setName] = useState(assistant?.name ?? "");
  const [description, setDescription] = useState(assistant?.description ?? "");
  const [texts, setTexts] = useState<Texts>({
    config: JSON.stringify(assistant?.config ?? {}, null, 2),
    context: JSON.stringify(assistant?.context ?? {}, null, 2),
  });
  const [begun] = useState(texts);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [config, context] = [parseJson(texts.config), parseJson(texts.context)];
  const fault = !config.ok ? `Config: ${config.error}` : !context.ok ? `Context: ${context.error}` : null;
  const body = {
    graph_id: graph === "" ? graphs[0] : graph,
    name: name.trim(),
    description: description.trim() === "" ? null : description.trim(),
    config: config.ok ? config.value : null,
    context: context.ok ? context.value : null,
  };
  const [method, path] =
    assistant === null
      ? (["POST", "/assistants"] as const)
      : (["PATCH", `/assistants/${assistant.assistant_id}`] as const);
  const save = async (): Promise<void> => {
    const saved = await call<Assistant>(method, path, { body });
    tell(assistant === null ? "Assistant created." : `Saved as version ${saved.version}.`, { tone: "green" });
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
        <input autoFocus value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Graph">
        <select value={body.graph_id} onChange={(event) => setGraph(event.target.value)}>
          {graphs.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </Field>
      <Field label="Description">
        <input value={description} onChange={(event) => setDescription(event.target.value)} />
      </Field>
      {(["config", "context"] as const).map((member) => (
        <JsonField
          key={member}
          label={LABELS[member]}
          initial={begun[member]}
          onChange={(text) => setTexts((now) => ({ ...now, [member]: text }))}
        />
      ))}
      {fault === null ? null : <p className="field-error">{fault}</p>}
      {assistant === null || fault !== null ? null : (
        <section>
          <h3>Changes</h3>
          <JsonDiff before={shownOf(assistant)} after={body} />
        </section>
      )}
    </EditDialog>
  );
}

const LABELS: Readonly<Record<keyof Texts, string>> = { config: "Config", context: "Context" };

const shownOf = ({ graph_id, name, description, config, context }: Assistant): object => ({
  graph_id,
  name,
  description,
  config,
  context,
});
