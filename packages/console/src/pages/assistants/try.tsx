// Try: runs an assistant with input from a form, on a new or an existing thread. The thread's page then shows the
// progress.
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { call } from "../../api/client.ts";
import { problemMessage } from "../../api/problem.ts";
import type { Assistant, GraphSchemas, Run, Thread } from "../../api/types.ts";
import { takesMessages } from "../../graph/graph-input.ts";
import { readList } from "../../hooks/search-params.ts";
import { type JsonObject, isObject } from "../../json/json.ts";
import { Button, Failure, Field, Loading } from "../../ui/controls.tsx";
import { CopyCurl } from "../../ui/copy.tsx";
import { useSchemas } from "./schemas.tsx";
import { type Entry, type TryOptions, tryBody, enterValue } from "./try-body.ts";
import { ValueEntry } from "./value-entry.tsx";

const assistantsRoute = getRouteApi("/assistants");

export function TryTab({ assistant }: { readonly assistant: Assistant }): ReactNode {
  const schemas = useSchemas(assistant);
  if (schemas.isPending) return <Loading />;
  if (schemas.isError) return <Failure error={schemas.error} onRetry={() => void schemas.refetch()} />;
  return <TryForm assistant={assistant} schemas={schemas.data} />;
}

const NO_SCHEMA: JsonObject = {};

function TryForm({ assistant, schemas }: { readonly assistant: Assistant; readonly schemas: GraphSchemas }): ReactNode {
  const inputSchema = isObject(schemas.input_schema) ? schemas.input_schema : NO_SCHEMA;
  const contextSchema = isObject(schemas.context_schema) ? schemas.context_schema : null;
  const [input, setInput] = useState<Entry>(() =>
    takesMessages(inputSchema) ? { kind: "message", text: "" } : { kind: "none" },
  );
  const [context, setContext] = useState<Entry>({ kind: "none" });
  const [options, setOptions] = useState<TryOptions>({ thread: "", durability: "", multitask: "", onPaused: "" });
  const [failure, setFailure] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const search = assistantsRoute.useSearch();
  const navigate = useNavigate();
  const stops = useMemo(
    () => ({ before: readList(search.before), after: readList(search.after) }),
    [search.before, search.after],
  );
  const body = tryBody({
    assistantId: assistant.assistant_id,
    input,
    context: contextSchema === null ? { kind: "none" } : context,
    options,
    stops,
  });
  const isReady = enterValue(input).ok && enterValue(context).ok && !sending;
  const thread = options.thread.trim();
  const run = async (): Promise<void> => {
    if (!isReady) return;
    setFailure(null);
    setSending(true);
    try {
      const id = thread === "" ? (await call<Thread>("POST", "/threads", { body: {} })).thread_id : thread;
      await call<Run>("POST", `/threads/${encodeURIComponent(id)}/runs`, { body });
      await navigate({ to: "/threads/$threadId", params: { threadId: id } });
    } catch (error) {
      setFailure(problemMessage(error));
      setSending(false);
    }
  };
  return (
    <form
      className="page-body try"
      aria-label={`Try ${assistant.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <section className="card state-card">
        <ValueEntry title="Input" schema={inputSchema} value={input} onChange={setInput} />
      </section>
      {contextSchema === null ? null : (
        <section className="card state-card">
          <ValueEntry title="Context" schema={contextSchema} value={context} onChange={setContext} />
        </section>
      )}
      <Options options={options} onChange={setOptions} />
      {failure === null ? null : (
        <p className="field-error" role="alert">
          {failure}
        </p>
      )}
      <div className="actions">
        <Button kind="primary" submit needs="threads:create_run" disabled={!isReady} hint="Ctrl ⏎">
          Run
        </Button>
        <CopyCurl
          method="POST"
          path={thread === "" ? "/runs/stream" : `/threads/${encodeURIComponent(thread)}/runs/stream`}
          body={body}
        />
      </div>
    </form>
  );
}

function Options({
  options,
  onChange,
}: {
  readonly options: TryOptions;
  readonly onChange: (options: TryOptions) => void;
}): ReactNode {
  const set = (change: Partial<TryOptions>): void => onChange({ ...options, ...change });
  return (
    <section className="card state-card">
      <h3>Run options</h3>
      <div className="try-options">
        <Field label="Thread" hint="Thread id. Leave empty to create a thread.">
          <input value={options.thread} onChange={(event) => set({ thread: event.target.value })} />
        </Field>
        <Stop side="before" />
        <Stop side="after" />
        <Field label="Durability" hint="When checkpoints are written.">
          <select value={options.durability} onChange={(event) => set({ durability: event.target.value })}>
            <option value="">server default</option>
            <option value="sync">sync: before the next step</option>
            <option value="async">async: during the next step</option>
            <option value="exit">exit: at the end</option>
          </select>
        </Field>
        <Field label="When the thread is busy" hint="Only for an existing thread.">
          <select value={options.multitask} onChange={(event) => set({ multitask: event.target.value })}>
            <option value="">server default</option>
            {["enqueue", "reject", "interrupt", "rollback"].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Field>
        <Field label="When the thread waits for a person" hint="Only for an existing thread.">
          <select value={options.onPaused} onChange={(event) => set({ onPaused: event.target.value })}>
            <option value="">as the assistant says</option>
            <option value="abandon">abandon: give the questions up</option>
            <option value="reject">reject: do not run</option>
            <option value="enqueue">enqueue: run after the answer</option>
            <option value="answer">answer: the input is the answer</option>
          </select>
        </Field>
      </div>
    </section>
  );
}

function Stop({ side }: { readonly side: "before" | "after" }): ReactNode {
  const search = assistantsRoute.useSearch();
  const navigate = useNavigate();
  return (
    <Field label={`Stop ${side}`} hint="Node names, separated by commas, or * for all.">
      <input
        value={search[side] ?? ""}
        onChange={(event) => {
          const nodes = event.target.value === "" ? undefined : event.target.value;
          void navigate({ to: "/assistants", search: { ...search, [side]: nodes }, replace: true });
        }}
      />
    </Field>
  );
}
