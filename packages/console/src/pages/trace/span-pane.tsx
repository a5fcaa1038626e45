// Span pane: one span with all its uploaded data: messages, fields, and their source attributes.
import { dollars } from "@holdpoint/api/traces/trace-costs.ts";
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { SpanDetail } from "@holdpoint/api/traces/traces.ts";
import { call } from "../../api/client.ts";
import { useJsonFinder } from "../../json/json-finder.tsx";
import { JsonView } from "../../json/json-view.tsx";
import { RunOfMessages, saveAttachment } from "../../messages/attachment.tsx";
import { Conversation } from "../../messages/conversation.tsx";
import { messagesIn, readMessages } from "../../messages/messages.ts";
import { Chip, Failure, Loading } from "../../ui/controls.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { glance } from "../../json/excerpt.ts";
import { bytes, count } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { classifySpan } from "./kind.ts";
import { microTime } from "./waterfall.ts";
import { Translated } from "./translator-view.tsx";

const traceRoute = getRouteApi("/traces/$traceId");

const VIEWS = ["messages", "fields", "translator", "raw"] as const;
type View = (typeof VIEWS)[number];
const NAMES: Readonly<Record<View, string>> = {
  messages: "Input and output",
  fields: "Attributes",
  translator: "Translator",
  raw: "Raw",
};
const FOUND_MAX = 100;

export function SpanPane({ spanId }: { readonly spanId: string }): ReactNode {
  const search = traceRoute.useSearch();
  const { traceId } = traceRoute.useParams();
  const view = VIEWS.find((one) => one === search.view) ?? "messages";
  const span = useQuery({
    queryKey: ["span", spanId],
    queryFn: ({ signal }) => call<SpanDetail>("GET", `/console/api/traces/runs/${spanId}`, { signal }),
  });
  return (
    <section className="span-pane" aria-label="Span">
      {span.isPending ? <Loading /> : null}
      {span.isError ? <Failure error={span.error} onRetry={() => void span.refetch()} /> : null}
      {span.data === undefined ? null : (
        <>
          <Head span={span.data} />
          <nav className="tabs" aria-label="Views of the span">
            {VIEWS.map((one) => (
              <Link
                key={one}
                to="/traces/$traceId"
                params={{ traceId }}
                search={{ ...search, view: one }}
                replace
                className="tab"
                activeProps={{}}
                aria-current={one === view ? "page" : undefined}
              >
                {NAMES[one]}
              </Link>
            ))}
          </nav>
          <div className="span-body" tabIndex={0} role="region" aria-label={NAMES[view]}>
            {view === "messages" ? <Content span={span.data} /> : null}
            {view === "fields" ? <Fields span={span.data} /> : null}
            {view === "translator" ? <Translated span={span.data} /> : null}
            {view === "raw" ? <JsonView value={span.data} label="the run as uploaded" /> : null}
          </div>
        </>
      )}
    </section>
  );
}

function Head({ span }: { readonly span: SpanDetail }): ReactNode {
  const kind = classifySpan(span);
  const length = span.end_us === null ? null : span.end_us - span.start_us;
  const firstToken = span.first_token_us === undefined ? null : span.first_token_us - span.start_us;
  const checkpoint = span.extra?.metadata?.["thread_id"];
  return (
    <header className="span-head">
      <h2 className="truncate">{visible(span.name ?? "span")}</h2>
      <div className="row span-head-facts">
        <span className={`span-kind ${kind.tone}`} aria-hidden="true">
          {kind.sign}
        </span>
        <span>{kind.name}</span>
        <Status status={span.status} />
        <span className="numeric">{length === null ? "has not ended" : microTime(length)}</span>
        {firstToken === null ? null : <span className="muted numeric">first token after {microTime(firstToken)}</span>}
        {span.model === undefined ? null : <Chip tone="accent">{span.model}</Chip>}
        {span.input_tokens === undefined ? null : (
          <span className="muted numeric">
            {count(span.input_tokens)} in · {count(span.output_tokens ?? 0)} out
          </span>
        )}
        {span.total_cost === undefined ? null : (
          <span className="muted numeric" title="cost, with everything below">
            {dollars(span.total_cost)}
          </span>
        )}
        {typeof checkpoint === "string" ? (
          <Link to="/threads/$threadId" params={{ threadId: checkpoint }} search={{ tab: "history" }}>
            thread
          </Link>
        ) : null}
        <CopyButton text={span.id} what="the span's id" />
      </div>
      {(span.tags ?? []).length === 0 ? null : (
        <div className="row">
          {span.tags?.map((tag) => (
            <Chip key={tag}>{tag}</Chip>
          ))}
        </div>
      )}
      {span.error === undefined ? null : (
        <pre className="span-failure" role="alert" aria-label="Error">
          {visible(span.error)}
        </pre>
      )}
    </header>
  );
}

function Content({ span }: { readonly span: SpanDetail }): ReactNode {
  return (
    <RunOfMessages.Provider value={span.id}>
      <div className="stack">
        <Side name="Input" value={span.inputs} />
        {span.final_output === undefined ? null : <Result from={span.final_output} />}
        {span.final_output !== undefined && span.outputs === undefined ? null : (
          <Side name={span.final_output === undefined ? "Output" : "Own output"} value={span.outputs} />
        )}
        {span.events === undefined ? null : (
          <section className="span-side">
            <h3>Events</h3>
            <JsonView value={span.events} label="events" openLevels={1} />
          </section>
        )}
        {(span.attachments ?? []).length === 0 ? null : (
          <section className="span-side">
            <h3>Attachments</h3>
            <ul>
              {span.attachments?.map((file) => (
                <li key={file.name}>
                  <code>{file.name}</code> <span className="muted">{`${file.type}, ${bytes(file.bytes)}`}</span>{" "}
                  <button
                    type="button"
                    className="text-button"
                    aria-label={`Download ${file.name}`}
                    onClick={() => void saveAttachment(span.id, file.name)}
                  >
                    Download
                  </button>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </RunOfMessages.Provider>
  );
}

/** The root of a trace shows the trace's result, and the span that it is from. */
function Result({ from }: { readonly from: NonNullable<SpanDetail["final_output"]> }): ReactNode {
  const search = traceRoute.useSearch();
  const { traceId } = traceRoute.useParams();
  return (
    <div>
      <RunOfMessages.Provider value={from.run_id}>
        <Side name="Output" value={from.outputs} />
      </RunOfMessages.Provider>
      <p className="muted small">
        {"of the span "}
        <Link to="/traces/$traceId" params={{ traceId }} search={{ ...search, span: from.run_id }} replace>
          {visible(from.name ?? from.run_id)}
        </Link>
        , which ended the trace
      </p>
    </div>
  );
}

function Side({ name, value }: { readonly name: string; readonly value: unknown }): ReactNode {
  const [asJson, setAsJson] = useState(false);
  const list = messagesIn(value);
  const messages = list === null ? [] : readMessages(list);
  return (
    <section className="span-side">
      <div className="row">
        <h3>{name}</h3>
        {messages.length === 0 ? null : (
          <button type="button" className="text-button spread" onClick={() => setAsJson(!asJson)}>
            {asJson ? "as a conversation" : "as JSON"}
          </button>
        )}
      </div>
      {value === undefined ? (
        <p className="muted">Nothing recorded.</p>
      ) : messages.length > 0 && !asJson ? (
        <Conversation messages={messages} />
      ) : (
        <JsonView value={value} label={name} openLevels={3} />
      )}
    </section>
  );
}

function Fields({ span }: { readonly span: SpanDetail }): ReactNode {
  const extra = span.extra ?? {};
  const finder = { label: "Search the attributes", placeholder: "Search names and values", most: FOUND_MAX };
  const { found, input } = useJsonFinder(extra, finder);
  return (
    <div className="stack">
      {input}
      {found === null ? (
        <JsonView value={extra} label="attributes" openLevels={3} />
      ) : (
        <dl className="span-table">
          {found.map(({ path, value }) => (
            <div key={path}>
              <dt>
                <code>{path}</code>
              </dt>
              <dd>
                <code>{glance(value, 400)}</code>
              </dd>
            </div>
          ))}
          {found.length === 0 ? <p className="muted">No matches.</p> : null}
        </dl>
      )}
    </div>
  );
}
