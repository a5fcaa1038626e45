// Edit dialog: changes the state as a node would have, at the newest checkpoint or, as a fork, at an earlier one, from
// where a run then goes on.
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { call } from "../../api/client.ts";
import { sayProblem } from "../../api/problem.ts";
import type { Drawing, Thread, ThreadState } from "../../api/types.ts";
import { Button, Field } from "../../parts/controls.tsx";
import { CopyCurl } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { JsonEditor } from "../../parts/editor.tsx";
import { parseJson } from "../../parts/parse-json.ts";
import { JsonDiff } from "../../parts/json-diff.tsx";
import { tell } from "../../parts/toast.tsx";
import { changedMembers } from "./history.ts";
import { useRefresh } from "./use-thread.ts";

export function EditDialog({
  thread,
  state,
  kind,
  onClose,
}: {
  readonly thread: Thread;
  readonly state: ThreadState;
  readonly kind: "edit" | "fork";
  readonly onClose: () => void;
}): ReactNode {
  const assistant = thread.metadata["assistant_id"] ?? thread.metadata["graph_id"];
  const drawing = useQuery({
    queryKey: ["drawing", assistant],
    enabled: typeof assistant === "string",
    queryFn: ({ signal }) => call<Drawing>("GET", `/assistants/${String(assistant)}/graph`, { signal }),
  });
  const initial = JSON.stringify(state.values ?? {}, null, 2);
  const [text, setText] = useState(initial);
  const [node, setNode] = useState("");
  const [runs, setRuns] = useState(kind === "fork");
  const [failure, setFailure] = useState<string | null>(null);
  const refresh = useRefresh(thread.thread_id);
  const parsed = parseJson(text);
  const changed = parsed.ok ? changedMembers(state.values, parsed.value) : {};
  const checkpointId = state.checkpoint?.checkpoint_id ?? undefined;
  const path = `/threads/${thread.thread_id}/state`;
  const body = {
    values: changed,
    ...(node === "" ? {} : { as_node: node }),
    ...(kind === "fork" ? { checkpoint_id: checkpointId } : {}),
  };
  const save = async (): Promise<void> => {
    setFailure(null);
    try {
      const { checkpoint } = await call<{ readonly checkpoint: { readonly checkpoint_id: string } }>("POST", path, {
        body,
      });
      if (runs) await startFrom(thread, checkpoint.checkpoint_id);
      tell(runs ? "A run goes on from the changed state." : "The state is changed.", { tone: "green" });
      await refresh();
      onClose();
    } catch (error) {
      setFailure(sayProblem(error));
    }
  };
  const nothing = Object.keys(changed).length === 0;
  return (
    <Dialog
      title={kind === "fork" ? "Fork from this checkpoint" : "Edit the state"}
      description="What you change passes through the graph's reducers, as if a node had written it. A message replaces the one with its id."
      onClose={onClose}
      wide
      footer={
        <>
          <CopyCurl method="POST" path={path} body={body} />
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={!parsed.ok || (nothing && !runs)} onClick={() => void save()}>
            {runs ? "Save and run" : "Save"}
          </Button>
        </>
      }
    >
      <div className="stack">
        <JsonEditor initial={initial} label="Values" onChange={setText} />
        {parsed.ok ? null : <p className="field-error">{parsed.error}</p>}
        <Field label="As node" hint="The graph goes on with what comes after this node.">
          <select value={node} onChange={(event) => setNode(event.target.value)}>
            <option value="">the one that wrote last</option>
            {(drawing.data?.nodes ?? [])
              .filter(({ id }) => id !== "__end__")
              .map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
          </select>
        </Field>
        <label className="check">
          <input type="checkbox" checked={runs} onChange={(event) => setRuns(event.target.checked)} />
          Run from there at once
        </label>
        <section>
          <h3>What changes</h3>
          {parsed.ok ? <JsonDiff before={state.values} after={parsed.value} /> : null}
        </section>
        {failure === null ? null : (
          <p className="field-error" role="alert">
            {failure}
          </p>
        )}
      </div>
    </Dialog>
  );
}

/** @throws {ApiProblem} */
export async function startFrom(thread: Thread, checkpointId: string): Promise<void> {
  await call("POST", `/threads/${thread.thread_id}/runs`, { body: runFrom(thread, checkpointId) });
}

export function runFrom(thread: Thread, checkpointId: string): Readonly<Record<string, unknown>> {
  return {
    assistant_id: thread.metadata["assistant_id"] ?? thread.metadata["graph_id"],
    input: null,
    checkpoint_id: checkpointId,
    stream_mode: ["values", "updates", "messages-tuple"],
    stream_resumable: true,
  };
}
