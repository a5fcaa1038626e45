// State: the values of the thread as a tree, the changes of the last step, and an editor that writes as a node.
import { useState, type ReactNode } from "react";
import type { Thread } from "../../api/types.ts";
import { Button, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { CopyCurl } from "../../ui/copy.tsx";
import { JsonDiff } from "../../diff/json-diff.tsx";
import { JsonView } from "../../json/json-view.tsx";
import { useJsonFinder } from "../../json/json-finder.tsx";
import { StateDialog } from "./state-dialog.tsx";
import { useCheckpoint } from "./use-history.ts";
import { useThreadState } from "./use-thread.ts";

const FOUND_MAX = 50;

export function StateTab({ thread }: { readonly thread: Thread }): ReactNode {
  const state = useThreadState(thread);
  const parent = useCheckpoint(thread.thread_id, state.data?.parent_checkpoint?.checkpoint_id ?? null);
  const [editing, setEditing] = useState(false);
  const finder = { label: "Search the state", placeholder: "Search keys and values", most: FOUND_MAX };
  const { found, input } = useJsonFinder(state.data?.values, finder);
  if (state.isPending) return <Loading />;
  if (state.isError) return <Failure error={state.error} onRetry={() => void state.refetch()} />;
  const { values } = state.data;
  const isEmpty = typeof values !== "object" || values === null || Object.keys(values).length === 0;
  return (
    <div className="page-body">
      <div className="state-tools">
        {input}
        <span className="row spread">
          <CopyCurl method="GET" path={`/threads/${thread.thread_id}/state`} />
          <Button needs="threads:update" onClick={() => setEditing(true)} disabled={thread.status === "busy"}>
            Edit state
          </Button>
        </span>
      </div>
      {isEmpty ? (
        <EmptyState icon="threads" title="The state is empty">
          <p>The first run or an edit fills it.</p>
        </EmptyState>
      ) : (
        <div className="state-columns">
          <section className="card state-card">
            <h2>Values</h2>
            {found === null ? (
              <JsonView value={values} label="the state" openLevels={3} />
            ) : found.length === 0 ? (
              <p className="muted">No matches in the state.</p>
            ) : (
              <dl className="state-found">
                {found.map(({ path, value }) => (
                  <div key={path}>
                    <dt>
                      <code>{path}</code>
                    </dt>
                    <dd>
                      <JsonView value={value} label={path} openLevels={0} />
                    </dd>
                  </div>
                ))}
              </dl>
            )}
          </section>
          <section className="card state-card">
            <h2>Changed by the last step</h2>
            {parent.data === undefined ? (
              <p className="muted">No previous step.</p>
            ) : (
              <JsonDiff before={parent.data.values} after={values} />
            )}
          </section>
        </div>
      )}
      {editing ? (
        <StateDialog thread={thread} state={state.data} kind="edit" onClose={() => setEditing(false)} />
      ) : null}
    </div>
  );
}
