// Answering: the draft answer of one item, and its way into the outbox.
// Invariants:
//   - An answer can be taken back: the outbox holds it for undo. A confirmation comes first where the request is
//     dangerous, and where the person has switched the undo off. It shows exactly the answer to send.
//   - An answer goes to the interrupt of its draft, by id.
//   - An undone answer is the draft again.
//   - Only a rejection, a message or an ignore passes while a part of the request is folded.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { type Answer, answersBody } from "../data/inbox/calls.ts";
import { buildKey } from "../data/inbox/item.ts";
import { INBOX } from "../data/inbox/live.ts";
import { findPendingAnswer, post, undoneAnswer } from "../data/inbox/outbox.ts";
import { holdSecs } from "../hooks/preferences.ts";
import { ANSWER_FORM, useShortcuts } from "../hooks/shortcuts.ts";
import { useValue } from "../hooks/value.ts";
import { Folds, useUnfolded } from "../text/folds.tsx";
import { Button } from "../ui/controls.tsx";
import { CopyCurl } from "../ui/copy.tsx";
import { showToast } from "../ui/toast.tsx";
import type { Draft } from "./model/draft.ts";
import { type IntentKind, intent, takeIntent } from "./model/intent.ts";
import { reportOne } from "./model/report.ts";
import type { Request } from "./model/request.ts";
import "./answering.css";
import { ActionsAnswer } from "./actions-answer.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import type { EditorProps } from "./editor-props.ts";
import { FormAnswer } from "./form-answer.tsx";
import { PlainAnswer } from "./plain-answer.tsx";
import { NOT_REMEMBERED, Remember, type RememberChoice } from "./remember.tsx";

export function Answering({
  item,
  request,
  onAnswered,
}: {
  readonly item: InboxItem;
  readonly request: Request;
  /** The answer is in the outbox. */
  readonly onAnswered?: () => void;
}): ReactNode {
  const queries = useQueryClient();
  const [draft, setDraft] = useState<Draft | null>(null);
  const wanted = useIntent(buildKey(item));
  const confirms = useValue(holdSecs) === 0 || item.dangerous;
  const [chosen, setChosen] = useState(NOT_REMEMBERED);
  const { remember } = chosen;
  const [undone] = useState(() => undoneAnswer(buildKey(item)));
  const send = (given: Draft): void => {
    setDraft(null);
    if (findPendingAnswer(item) !== undefined) return; // a second key press
    const done = (): void => void queries.invalidateQueries({ queryKey: [INBOX, "item", buildKey(item)] });
    post(given.label, [answerTo(item, given, remember)], holdSecs.get() * 1000, (results) => {
      reportOne(given, results[0]);
      done();
    });
    onAnswered?.();
  };
  const isUnfolded = useUnfolded();
  const review = (given: Draft): void => {
    if (chosen.fault !== null) showToast(chosen.fault, { tone: "red" });
    else if (!letsAct(given) || isUnfolded()) (confirms ? setDraft : send)(given);
  };
  const props = { item, onReview: review, confirms, wanted, undone };
  return (
    <>
      <Editor request={request} {...props} />
      <Remember item={item} request={request} onChange={setChosen} />
      {draft === null ? null : (
        <Folds>
          <ConfirmDialog
            title={draft.label}
            draft={draft}
            dangerous={item.dangerous}
            curl={
              <CopyCurl method="POST" path="/inbox/answers" body={answersBody([answerTo(item, draft, remember)])} />
            }
            onConfirm={() => send(draft)}
            onClose={() => setDraft(null)}
          />
        </Folds>
      )}
    </>
  );
}

/** An approval, an edit, an answer, a breakpoint passed: the graph goes on with what was asked. */
function letsAct({ parts }: Draft): boolean {
  return parts.some(
    (part) => part.kind !== "decision" || !["reject", "respond", "ignore"].includes(part.decision.type),
  );
}

function Editor({ request, ...props }: EditorProps & { readonly request: Request }): ReactNode {
  switch (request.kind) {
    case "actions":
      return <ActionsAnswer request={request} {...props} />;
    case "form":
      return <FormAnswer schema={request.schema} {...props} />;
    case "plain":
      return <PlainAnswer payload={request.payload} {...props} />;
    case "breakpoint":
      return <Continue {...props} />;
    default:
      return request satisfies never;
  }
}

/** A breakpoint has no answer and only continues. */
function answerTo(item: InboxItem, { resume }: Draft, remember: RememberChoice["remember"]): Answer {
  const ids = { thread_id: item.thread_id, interrupt_id: item.id };
  return resume === undefined ? ids : { ...ids, resume, ...(remember === null ? {} : { remember }) };
}

function useIntent(key: string): IntentKind | null {
  const current = useValue(intent);
  const [wanted, setWanted] = useState<IntentKind | null>(null);
  useEffect(() => {
    const nextIntent = current === null ? null : takeIntent(key);
    if (nextIntent !== null) setWanted(nextIntent);
  }, [current, key]);
  return wanted;
}

function Continue({ item, onReview, wanted }: EditorProps): ReactNode {
  const review = (): void =>
    onReview({
      label: `Continue at ${item.node}`,
      resume: undefined,
      parts: [{ kind: "text", title: item.node, text: "The run continues." }],
    });
  useShortcuts("This item", [{ keys: "a", label: "Continue", run: review, once: true, form: ANSWER_FORM }]);
  useEffect(() => {
    if (wanted === "approve") review();
    // Depends on the intent only, not on the identity of `review`.
  }, [wanted]);
  return (
    <div className="answer">
      <h3>Continue?</h3>
      <p className="muted">The thread stays paused until someone continues it.</p>
      <div className="actions">
        <Button kind="primary" hint="a" onClick={review}>
          Continue
        </Button>
      </div>
    </div>
  );
}
