// Assistant dialog: a new assistant of a graph, or a new version of one that is there, with what changes shown before.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { call } from "../../api/client.ts";
import { sayProblem } from "../../api/problem.ts";
import type { Assistant } from "../../api/types.ts";
import { Button, Field } from "../../parts/controls.tsx";
import { CopyCurl } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { JsonEditor } from "../../parts/editor.tsx";
import { useGraphNames } from "../../parts/graph-names.ts";
import { JsonDiff } from "../../parts/json-diff.tsx";
import { parseJson } from "../../parts/parse-json.ts";
import { tell } from "../../parts/toast.tsx";

interface Texts {
  readonly config: string;
  readonly context: string;
}

export function AssistantDialog({
  assistant,
  onClose,
}: {
  /** Null: a new one. */
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
  const [failure, setFailure] = useState<string | null>(null);
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
    setFailure(null);
    try {
      const saved = await call<Assistant>(method, path, { body });
      tell(assistant === null ? "The assistant is there." : `This is version ${saved.version}.`, { tone: "green" });
      onClose();
      await navigate({ to: "/assistants", search: { assistant: saved.assistant_id }, replace: true });
      await queries.invalidateQueries({ queryKey: ["assistants"] });
    } catch (error) {
      setFailure(sayProblem(error));
    }
  };
  return (
    <Dialog
      title={assistant === null ? "New assistant" : `Change ${assistant.name}`}
      description="A graph with a config and context of its own. Every change makes a version; earlier ones can be brought back."
      onClose={onClose}
      wide
      footer={
        <>
          <CopyCurl method={method} path={path} body={body} />
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={fault !== null || body.name === ""} onClick={() => void save()}>
            {assistant === null ? "Make it" : "Save"}
          </Button>
        </>
      }
    >
      <div className="stack">
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
          <div key={member} className="field">
            <span className="field-label" aria-hidden="true">
              {LABELS[member]}
            </span>
            <JsonEditor
              initial={begun[member]}
              label={LABELS[member]}
              onChange={(text) => setTexts((now) => ({ ...now, [member]: text }))}
            />
          </div>
        ))}
        {fault === null ? null : <p className="field-error">{fault}</p>}
        {assistant === null || fault !== null ? null : (
          <section>
            <h3>What changes</h3>
            <JsonDiff before={shownOf(assistant)} after={body} />
          </section>
        )}
        {failure === null ? null : (
          <p className="field-error" role="alert">
            {failure}
          </p>
        )}
      </div>
    </Dialog>
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
