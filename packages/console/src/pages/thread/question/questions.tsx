// Question: an open interrupt inside the chat of its thread: the request, and its answer in place. One of several is
// open at a time, and has the keys.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { Answering } from "../../../answering/answering.tsx";
import { FailedAnswer } from "../../../answering/failed-answer.tsx";
import { readRequest } from "../../../answering/model/request.ts";
import { RequestView } from "../../../answering/request-view.tsx";
import { READ_ONLY, useReadOnly } from "../../../api/caller.ts";
import type { Interrupt } from "../../../api/types.ts";
import { getItem } from "../../../data/inbox/calls.ts";
import { buildKey } from "../../../data/inbox/item.ts";
import { INBOX } from "../../../data/inbox/live.ts";
import { outbox, findPendingAnswer } from "../../../data/inbox/outbox.ts";
import { Folds } from "../../../text/folds.tsx";
import { useValue } from "../../../hooks/value.ts";
import { Button, Chip, Failure, Loading } from "../../../ui/controls.tsx";
import { QuestionCard } from "./question-card.tsx";

export function Questions({
  threadId,
  questions,
}: {
  readonly threadId: string;
  readonly questions: readonly Interrupt[];
}): ReactNode {
  const [chosen, setChosen] = useState<string | null>(null);
  const open = questions.find(({ id }) => id === chosen) ?? questions[0];
  return questions.map((question) => (
    <QuestionCard key={question.id} question={question} isShown={question === open}>
      {question === open ? (
        <AnswerHere threadId={threadId} id={question.id} />
      ) : (
        <Button kind="primary" onClick={() => setChosen(question.id)}>
          Answer
        </Button>
      )}
    </QuestionCard>
  ));
}

function AnswerHere({ threadId, id }: { readonly threadId: string; readonly id: string }): ReactNode {
  const named = { thread_id: threadId, id };
  const readOnly = useReadOnly();
  const pendingAnswer = findPendingAnswer(named, useValue(outbox));
  const { data: item, error } = useQuery({
    queryKey: [INBOX, "item", buildKey(named)],
    queryFn: ({ signal }) => getItem(named, signal),
  });
  if (error !== null) return <Failure error={error} />;
  if (item === undefined) return <Loading />;
  const request = readRequest(item);
  return (
    <Folds>
      <div className="stack">
        <RequestView request={request} item={item} />
        <FailedAnswer item={item} />
        {item.state !== "open" ? (
          <Chip tone="green">{item.state}</Chip>
        ) : readOnly ? (
          <p className="note amber">{READ_ONLY} A reviewer can answer this item.</p>
        ) : pendingAnswer === undefined ? (
          <Answering item={item} request={request} />
        ) : (
          <p className="note accent">
            <strong>{pendingAnswer.label}</strong>
            <span>
              {pendingAnswer.state === "failed" ? "The answer could not be sent." : "Sent soon. Press u to undo."}
            </span>
          </p>
        )}
        <Link to="/inbox/$threadId/$interruptId" params={{ threadId, interruptId: id }}>
          Open in the inbox
        </Link>
      </div>
    </Folds>
  );
}
