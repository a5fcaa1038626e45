// Chat: the messages of the thread as they stream, and the composer for the next run.
// Invariants:
//   thread/chat.1. Nothing moves below the pointer of a person who answers: open interrupts show after the state, and the
//        view follows new messages only without a focus in an answer. A click on a button that moves between press and
//        release is lost.
import { useEffect, useMemo, useRef, type ReactNode } from "react";
import { FailedAnswerOfThread } from "../../answering/failed-answer.tsx";
import type { Run, Thread } from "../../api/types.ts";
import { EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { Conversation } from "../../messages/conversation.tsx";
import { JsonView } from "../../json/json-view.tsx";
import { readMessages } from "../../messages/messages.ts";
import { Composer } from "./composer.tsx";
import { mergeMessages, NOTHING_YET, type Live } from "./live.ts";
import { Questions } from "./question/questions.tsx";
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
  const isShown = useRef(false);
  const values = state.data?.values;
  const messages = useMemo(() => readMessages(mergeMessages(output ?? NOTHING_YET, values)), [output, values]);
  useEffect(() => {
    const element = scroller.current;
    if (element === null || state.isPending) return;
    if (document.activeElement?.closest(".question-card") != null) return; // thread/chat.1
    const distance = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (distance < NEAR_END_PX || !isShown.current) element.scrollTop = element.scrollHeight;
    isShown.current = true;
  }, [messages, live, state.isPending]);
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
          {thread.status === "error" ? <FailedAnswerOfThread threadId={thread.thread_id} /> : null}
          {state.isPending ? null : <Questions threadId={thread.thread_id} questions={questions} />}
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
  const last = live?.nodesDone.at(-1)?.replaceAll(":", " › ");
  return (
    <p className="chat-working muted" role="status">
      <span className="spinner" aria-hidden="true" />
      {running.status === "pending" ? "Queued" : last === undefined ? "Running" : `Running; ${last} finished`}
    </p>
  );
}
