// State dialog: edits the state as a node would, at the newest checkpoint or, as a fork, at an earlier one.
import { skipToken, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { call } from "../../api/client.ts";
import { LIVE_STREAM } from "../../api/live-stream.ts";
import type { Drawing, Thread, ThreadState } from "../../api/types.ts";
import { Field } from "../../ui/controls.tsx";
import { EditDialog } from "../../frames/edit-dialog.tsx";
import { JsonEditor } from "../../json/editor.tsx";
import { JsonDiff } from "../../diff/json-diff.tsx";
import { parseJson } from "../../json/parse-json.ts";
import { showToast } from "../../ui/toast.tsx";
import { changedMembers } from "./history.ts";
import { useRefresh } from "./use-thread.ts";

export function StateDialog({
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
    queryFn:
      typeof assistant === "string"
        ? ({ signal }) => call<Drawing>("GET", `/assistants/${assistant}/graph`, { signal })
        : skipToken,
  });
  const initial = JSON.stringify(state.values ?? {}, null, 2);
  const [text, setText] = useState(initial);
  const [node, setNode] = useState("");
  const [runs, setRuns] = useState(kind === "fork");
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
    const { checkpoint } = await call<{ readonly checkpoint: { readonly checkpoint_id: string } }>("POST", path, {
      body,
    });
    if (runs) await startFrom(thread, checkpoint.checkpoint_id);
    showToast(runs ? "State saved. A run continues from it." : "State saved.", { tone: "green" });
    await refresh();
    onClose();
  };
  const nothing = Object.keys(changed).length === 0;
  return (
    <EditDialog
      title={kind === "fork" ? "Fork from this checkpoint" : "Edit the state"}
      description="Your changes pass through the graph's reducers, as if a node had written them. A message replaces the one with the same id."
      call={{ method: "POST", path, body }}
      save={{ label: runs ? "Save and run" : "Save", ready: parsed.ok && (!nothing || runs), run: save }}
      onClose={onClose}
    >
      <JsonEditor initial={initial} label="Values" onChange={setText} />
      {parsed.ok ? null : <p className="field-error">{parsed.error}</p>}
      <Field label="As node" hint="The graph continues after this node.">
        <select value={node} onChange={(event) => setNode(event.target.value)}>
          <option value="">the last node that wrote</option>
          {(drawing.data?.nodes ?? [])
            .filter(({ id }) => id !== "__end__")
            .map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
        </select>
      </Field>
      <label className="check">
        <input type="checkbox" checked={runs} onChange={(event) => setRuns(event.target.checked)} />
        Start a run from this state
      </label>
      <section>
        <h3>Changes</h3>
        {parsed.ok ? <JsonDiff before={state.values} after={parsed.value} /> : null}
      </section>
    </EditDialog>
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
    ...LIVE_STREAM,
  };
}
