// Chat: the messages of the thread as they stream, and the composer for the next run.
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, type ReactNode } from "react";
import type { Interrupt, Run, Thread } from "../../api/types.ts";
import { Chip, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { Conversation } from "../../messages/conversation.tsx";
import { recognise } from "../../../src/api/dialects.ts";
import { callText } from "../../../src/api/text/payload-text.ts";
import type { Json } from "../../json/json.ts";
import { JsonView } from "../../json/json-view.tsx";
import { readMessages } from "../../messages/messages.ts";
import { Composer } from "./composer.tsx";
import { messagesOf, NOTHING_YET, type Live } from "./live.ts";
import { useThreadState, useUntilStored } from "./use-thread.ts";

const NEAR_END_PX = 120;

export function ChatTab({
  thread,
  live,
  running,
}: {
  readonly thread: Thread;
  readonly live: Live | null;
  readonly running: Run | null;
}): ReactNode {
  const state = useThreadState(thread);
  const isStored = thread.status !== "busy" && !state.isPlaceholderData && !state.isFetching;
  const output = useUntilStored(live, isStored);
  const scroller = useRef<HTMLDivElement>(null);
  const values = state.data?.values;
  const messages = useMemo(() => readMessages(messagesOf(output ?? NOTHING_YET, values)), [output, values]);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const distance = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (distance < NEAR_END_PX || live === null) element.scrollTop = element.scrollHeight;
  }, [messages, live]);
  const questions = Object.values(thread.interrupts).flat();
  return (
    <div className="chat">
      <div className="chat-scroller" ref={scroller} tabIndex={0} role="region" aria-label="Messages">
        <div className="chat-column">
          {state.isError ? <Failure error={state.error} onRetry={() => void state.refetch()} /> : null}
          {state.isPending ? <Loading /> : null}
          {messages.length > 0 ? (
            <Conversation messages={messages} live={live !== null && live.writing.size > 0} />
          ) : null}
          {messages.length === 0 && state.isSuccess ? <NoMessages values={live?.values ?? values} /> : null}
          {running === null ? null : <Working live={live} running={running} />}
          {live?.error == null ? null : <Failure error={new Error(live.error)} />}
          {thread.error === undefined || running !== null ? null : (
            <Failure error={new Error(`${thread.error.error}: ${thread.error.message}`)} />
          )}
          {questions.map((question) => (
            <QuestionCard key={question.id} threadId={thread.thread_id} question={question} />
          ))}
        </div>
      </div>
      <Composer thread={thread} busy={running !== null} next={state.data?.next ?? []} />
    </div>
  );
}

function NoMessages({ values }: { readonly values: unknown }): ReactNode {
  const isEmpty = values === null || values === undefined || Object.keys(values).length === 0;
  if (isEmpty) {
    return (
      <EmptyState icon="threads" title="No messages yet">
        <p>Enter the graph's input below.</p>
      </EmptyState>
    );
  }
  return (
    <section className="card chat-state">
      <h2>This graph has no messages. Its state:</h2>
      <JsonView value={values} label="the state" />
    </section>
  );
}

function Working({ live, running }: { readonly live: Live | null; readonly running: Run }): ReactNode {
  const last = live?.nodesDone.at(-1);
  return (
    <p className="chat-working muted" role="status">
      <span className="spinner" aria-hidden="true" />
      {running.status === "pending" ? "Queued" : last === undefined ? "Running" : `Running; ${last} finished`}
    </p>
  );
}

/** An open interrupt: the inbox answers it, with the forms. */
export function QuestionCard({
  threadId,
  question,
}: {
  readonly threadId: string;
  readonly question: Interrupt;
}): ReactNode {
  const node = question.ns.at(-1)?.split(":")[0] ?? "";
  const { title, actions } = recognise((question.value ?? null) as Json, null);
  const hint = actions.length > 1 ? actions.map(callText).join(" · ") : "";
  return (
    <section className="question-card" aria-label="Pending answer">
      <div className="row">
        <Chip tone="amber">pending answer</Chip>
        <span className="muted truncate">{node}</span>
      </div>
      <p className="question-text">{title}</p>
      <p className="muted small">{hint}</p>
      <Link
        to="/inbox/$threadId/$interruptId"
        params={{ threadId, interruptId: question.id }}
        className="button primary"
      >
        Answer
      </Link>
    </section>
  );
}
