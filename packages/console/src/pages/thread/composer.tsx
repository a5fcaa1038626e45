// Composer: the next run of the thread: a message if the graph has messages, JSON otherwise.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call } from "../../api/client.ts";
import { LIVE_STREAM } from "../../api/live-stream.ts";
import { problemMessage } from "../../api/problem.ts";
import type { GraphSchemas, Run, Thread } from "../../api/types.ts";
import { AssistantSelect } from "../../graph/assistant-select.tsx";
import { buildExample, takesMessages } from "../../graph/graph-input.ts";
import { useAssistants } from "../../graph/graph-names.ts";
import { breakpointWords, readList } from "../../hooks/search-params.ts";
import { JsonEditor } from "../../json/editor.tsx";
import { parseJson } from "../../json/parse-json.ts";
import { Button, Chip, Loading } from "../../ui/controls.tsx";
import { CopyCurl } from "../../ui/copy.tsx";
import { showToast } from "../../ui/toast.tsx";
import { useRefresh } from "./use-thread.ts";

const threadRoute = getRouteApi("/threads/$threadId");

export function Composer({
  thread,
  busy,
  next,
}: {
  readonly thread: Thread;
  readonly busy: boolean;
  /** Next nodes of a paused thread; empty after the end. */
  readonly next: readonly string[];
}): ReactNode {
  const { assistantId, setChosen, schemas, isPending } = useThreadAssistant(thread);
  const [text, setText] = useState("");
  const [asJson, setAsJson] = useState<boolean | null>(null);
  const [unfolded, setUnfolded] = useState(false);
  const [jsonText, setJsonText] = useState<string | null>(null);
  const json = asJson ?? (schemas !== undefined && !takesMessages(schemas.input_schema));
  const example = JSON.stringify(buildExample(schemas?.input_schema), null, 2);
  const parsed = parseJson(jsonText ?? example);
  const input = json ? (parsed.ok ? parsed.value : null) : { messages: [{ role: "user", content: text }] };
  const { path, buildBody, send, sending } = useSend(thread, { assistantId, busy, onSent: () => setText("") });
  const open = thread.status === "interrupted" ? Object.values(thread.interrupts).flat().length : 0;
  const isReady = !sending && assistantId !== "" && (json ? parsed.ok : text.trim() !== "");
  const submit = (): void => {
    if (isReady) void send(input);
  };
  return (
    <form
      className={open > 0 && !unfolded ? "composer folded" : "composer"}
      aria-label="Next run"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {isAtBreakpoint(thread, next) ? (
        <div className="row composer-paused">
          <Chip tone="amber">stopped before {next.join(", ")}</Chip>
          <Button kind="primary" needs="threads:create_run" disabled={sending} onClick={() => void send(null)}>
            Continue
          </Button>
        </div>
      ) : null}
      <AbandonsNote open={open} onUnfold={() => setUnfolded(true)} />
      <div className="composer-input">
        {isPending && asJson === null ? (
          <Loading label="Loading the input's schema" />
        ) : json ? (
          <JsonEditor key={`${assistantId}${example}`} initial={example} label="Input as JSON" onChange={setJsonText} />
        ) : (
          <MessageInput text={text} onChange={setText} onSubmit={submit} />
        )}
      </div>
      <div className="composer-tools">
        <AssistantSelect
          label="Assistant"
          value={assistantId}
          onChange={(id) => {
            setChosen(id);
            setJsonText(null);
          }}
        />
        <Button kind="quiet" onClick={() => setAsJson(!json)} aria-pressed={json}>
          {json ? "Write a message" : "JSON"}
        </Button>
        <Breakpoints />
        <span className="spread row">
          <CopyCurl method="POST" path={path} body={buildBody(input)} />
          <Button kind="primary" submit needs="threads:create_run" disabled={!isReady}>
            {busy ? "Enqueue" : open > 0 ? "Abandon and run" : "Run"}
          </Button>
        </span>
      </div>
    </form>
  );
}

/** @param open number of questions of the paused thread */
function AbandonsNote({ open, onUnfold }: { readonly open: number; readonly onUnfold: () => void }): ReactNode {
  if (open === 0) return null;
  return (
    <div className="note amber" role="note">
      <p>
        This thread is waiting for {open === 1 ? "an answer" : `${open} answers`}. A new run abandons{" "}
        {open === 1 ? "the question" : "the questions"}: answer above instead.
      </p>
      <Button kind="quiet" onClick={onUnfold}>
        Run anyway
      </Button>
    </div>
  );
}

function isAtBreakpoint(thread: Thread, next: readonly string[]): boolean {
  return thread.status === "interrupted" && Object.values(thread.interrupts).flat().length === 0 && next.length > 0;
}

/** The selected assistant; at first the one of the thread's last run. */
function useThreadAssistant(thread: Thread) {
  const known = thread.metadata["assistant_id"];
  const assistants = useAssistants();
  const [chosen, setChosen] = useState<string | null>(null);
  const assistantId = chosen ?? (typeof known === "string" ? known : (assistants[0]?.assistant_id ?? ""));
  const { data: schemas, isLoading: isPending } = useQuery({
    queryKey: ["schemas", assistantId],
    enabled: assistantId !== "",
    queryFn: ({ signal }) => call<GraphSchemas>("GET", `/assistants/${assistantId}/schemas`, { signal }),
  });
  return { assistantId, setChosen, schemas, isPending };
}

/** The call that starts the next run, with the breakpoints of the URL. */
function useSend(
  thread: Thread,
  run: { readonly assistantId: string; readonly busy: boolean; readonly onSent: () => void },
) {
  const [sending, setSending] = useState(false);
  const refresh = useRefresh(thread.thread_id);
  const { before, after } = threadRoute.useSearch();
  const path = `/threads/${thread.thread_id}/runs`;
  const buildBody = (input: unknown): Readonly<Record<string, unknown>> => ({
    assistant_id: run.assistantId,
    input,
    ...(before === undefined ? {} : { interrupt_before: readList(before) }),
    ...(after === undefined ? {} : { interrupt_after: readList(after) }),
    ...(run.busy ? { multitask_strategy: "enqueue" } : {}),
    ...LIVE_STREAM,
  });
  const send = async (input: unknown): Promise<void> => {
    setSending(true);
    try {
      await call<Run>("POST", path, { body: buildBody(input) });
      run.onSent();
    } catch (error) {
      showToast(problemMessage(error), { tone: "red", ms: null });
    }
    setSending(false);
    await refresh();
  };
  return { path, buildBody, send, sending };
}

/** Enter submits, Shift+Enter starts a line. */
function MessageInput({
  text,
  onChange,
  onSubmit,
}: {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onSubmit: () => void;
}): ReactNode {
  return (
    <textarea
      aria-label="Message"
      placeholder="Write a message"
      value={text}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
        event.preventDefault();
        onSubmit();
      }}
    />
  );
}

/** Breakpoints of the next run, as set in the drawing of the graph. */
function Breakpoints(): ReactNode {
  const search = threadRoute.useSearch();
  const params = threadRoute.useParams();
  const navigate = useNavigate();
  const { before, after, ...rest } = search;
  if (before === undefined && after === undefined) return null;
  return (
    <span className="row">
      <Chip tone="amber">stops {breakpointWords(search).join(", ")}</Chip>
      <Button
        kind="quiet"
        onClick={() => void navigate({ to: "/threads/$threadId", params, search: rest, replace: true })}
      >
        Clear
      </Button>
    </span>
  );
}
