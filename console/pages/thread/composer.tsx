// Composer: the next run of the thread: a message if the graph has messages, JSON otherwise.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call } from "../../api/client.ts";
import { problemMessage } from "../../api/problem.ts";
import type { GraphSchemas, Run, Thread } from "../../api/types.ts";
import { exampleOf, takesMessages } from "../../graph/graph-input.ts";
import { useAssistants } from "../../graph/graph-names.ts";
import { readList } from "../../hooks/search-params.ts";
import { JsonEditor } from "../../json/editor.tsx";
import { parseJson } from "../../json/parse-json.ts";
import { Button, Chip } from "../../ui/controls.tsx";
import { CopyCurl } from "../../ui/copy.tsx";
import { tell } from "../../ui/toast.tsx";
import { useRefresh } from "./use-thread.ts";

const threadRoute = getRouteApi("/threads/$threadId");

/** Initial data for the page to show a running run. */
const STREAMED = { stream_mode: ["values", "updates", "messages-tuple"], stream_resumable: true } as const;

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
  const known = thread.metadata["assistant_id"];
  const assistants = useAssistants();
  const [chosen, setChosen] = useState<string | null>(null);
  const assistantId = chosen ?? (typeof known === "string" ? known : (assistants[0]?.assistant_id ?? ""));
  const schemas = useQuery({
    queryKey: ["schemas", assistantId],
    enabled: assistantId !== "",
    queryFn: ({ signal }) => call<GraphSchemas>("GET", `/assistants/${assistantId}/schemas`, { signal }),
  });
  const [text, setText] = useState("");
  const [asJson, setAsJson] = useState<boolean | null>(null);
  const [sending, setSending] = useState(false);
  const refresh = useRefresh(thread.thread_id);
  const { before, after } = threadRoute.useSearch();
  const json = asJson ?? (schemas.data !== undefined && !takesMessages(schemas.data.input_schema));
  const path = `/threads/${thread.thread_id}/runs`;
  const example = JSON.stringify(exampleOf(schemas.data?.input_schema), null, 2);
  const [jsonText, setJsonText] = useState<string | null>(null);
  const parsed = parseJson(jsonText ?? example);
  const input = json ? (parsed.ok ? parsed.value : null) : { messages: [{ role: "user", content: text }] };
  const bodyOf = (given: unknown): Readonly<Record<string, unknown>> => ({
    assistant_id: assistantId,
    input: given,
    ...(before === undefined ? {} : { interrupt_before: readList(before) }),
    ...(after === undefined ? {} : { interrupt_after: readList(after) }),
    ...(busy ? { multitask_strategy: "enqueue" } : {}),
    ...STREAMED,
  });
  const send = async (given: unknown): Promise<void> => {
    setSending(true);
    try {
      await call<Run>("POST", path, { body: bodyOf(given) });
      setText("");
    } catch (error) {
      tell(problemMessage(error), { tone: "red", ms: null });
    }
    setSending(false);
    await refresh();
  };
  const isReady = !sending && assistantId !== "" && (json ? parsed.ok : text.trim() !== "");
  const pausedAtBreakpoint =
    thread.status === "interrupted" && Object.values(thread.interrupts).flat().length === 0 && next.length > 0;
  return (
    <form
      className="composer"
      aria-label="Next run"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void send(input);
      }}
    >
      {pausedAtBreakpoint ? (
        <div className="row composer-paused">
          <Chip tone="amber">stopped before {next.join(", ")}</Chip>
          <Button kind="primary" disabled={sending} onClick={() => void send(null)}>
            Continue
          </Button>
        </div>
      ) : null}
      {json ? (
        <JsonEditor key={`${assistantId}${example}`} initial={example} label="Input as JSON" onChange={setJsonText} />
      ) : (
        <textarea
          aria-label="Message"
          placeholder="Write a message"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            if (isReady) void send(input);
          }}
        />
      )}
      <div className="composer-tools">
        <select
          aria-label="Assistant"
          value={assistantId}
          onChange={(event) => {
            setChosen(event.target.value);
            setJsonText(null);
          }}
        >
          {assistants.map((one) => (
            <option key={one.assistant_id} value={one.assistant_id}>
              {one.name === one.graph_id ? one.name : `${one.name} (${one.graph_id})`}
            </option>
          ))}
        </select>
        <Button kind="quiet" onClick={() => setAsJson(!json)} aria-pressed={json}>
          {json ? "Write a message" : "JSON"}
        </Button>
        <Breakpoints />
        <span className="spread row">
          <CopyCurl method="POST" path={path} body={bodyOf(input)} />
          <Button kind="primary" submit disabled={!isReady}>
            {busy ? "Enqueue" : "Run"}
          </Button>
        </span>
      </div>
    </form>
  );
}

/** Breakpoints of the next run, as set in the drawing of the graph. */
function Breakpoints(): ReactNode {
  const search = threadRoute.useSearch();
  const params = threadRoute.useParams();
  const navigate = useNavigate();
  const { before, after, ...rest } = search;
  if (before === undefined && after === undefined) return null;
  const words = [
    ...readList(before).map((node) => `before ${node}`),
    ...readList(after).map((node) => `after ${node}`),
  ];
  return (
    <span className="row">
      <Chip tone="amber">stops {words.join(", ")}</Chip>
      <Button
        kind="quiet"
        onClick={() => void navigate({ to: "/threads/$threadId", params, search: rest, replace: true })}
      >
        Clear
      </Button>
    </span>
  );
}
