// Answering: the draft answer of one item, its confirmation, and its way into the outbox.
// Invariants:
//   answering.1. The confirmation shows exactly the answer to send.
//   answering.2. An answer goes to the interrupt of its draft, by id.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import type { InboxItem } from "../../../../src/api/inbox.ts";
import { type Answer, answersBody } from "../../../data/inbox/calls.ts";
import { keyOf } from "../../../data/inbox/item.ts";
import { INBOX } from "../../../data/inbox/live.ts";
import { post } from "../../../data/inbox/outbox.ts";
import { holdSecs } from "../../../hooks/preferences.ts";
import { useShortcuts } from "../../../hooks/shortcuts.ts";
import { useValue } from "../../../hooks/value.ts";
import { Button } from "../../../ui/controls.tsx";
import { CopyCurl } from "../../../ui/copy.tsx";
import type { Draft } from "../model/draft.ts";
import { type IntentKind, intent, takeIntent } from "../model/intent.ts";
import { reportOne } from "../model/report.ts";
import type { Request } from "../model/request.ts";
import { ActionsAnswer } from "./actions-answer.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import type { EditorProps } from "./editor-props.ts";
import { FormAnswer } from "./form-answer.tsx";
import { PlainAnswer } from "./plain-answer.tsx";

export function Answering({ item, request }: { readonly item: InboxItem; readonly request: Request }): ReactNode {
  const queries = useQueryClient();
  const [draft, setDraft] = useState<Draft | null>(null);
  const wanted = useIntent(keyOf(item));
  const send = (): void => {
    if (draft === null) return;
    setDraft(null);
    const done = (): void => void queries.invalidateQueries({ queryKey: [INBOX, "item", keyOf(item)] });
    post(draft.label, [answerTo(item, draft)], holdSecs.get() * 1000, (results) => {
      reportOne(draft, results[0]);
      done();
    });
  };
  const props = { item, onReview: setDraft, wanted };
  return (
    <>
      <Editor request={request} {...props} />
      {draft === null ? null : (
        <ConfirmDialog
          title={draft.label}
          draft={draft}
          curl={<CopyCurl method="POST" path="/inbox/answers" body={answersBody([answerTo(item, draft)])} />}
          onConfirm={send}
          onClose={() => setDraft(null)}
        />
      )}
    </>
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

/** answering.2. A breakpoint has no answer and only continues. */
function answerTo(item: InboxItem, { resume }: Draft): Answer {
  const ids = { thread_id: item.thread_id, interrupt_id: item.id };
  return resume === undefined ? ids : { ...ids, resume };
}

function useIntent(key: string): IntentKind | null {
  const current = useValue(intent);
  const [wanted, setWanted] = useState<IntentKind | null>(null);
  useEffect(() => {
    const taken = current === null ? null : takeIntent(key);
    if (taken !== null) setWanted(taken);
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
  useShortcuts("This item", [{ keys: "a", label: "Continue", run: review }]);
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
