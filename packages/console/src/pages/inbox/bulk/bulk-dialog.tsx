// Bulk dialog: one approval or rejection for many items. It lists all of them before it sends.
// Invariants:
//   bulk-dialog.1. Only items of one graph and one action are decided together: the dialog excludes the others and
//        reports them.
//   bulk-dialog.2. Many items are always confirmed, and the answers can be undone as any other.
import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { answersBody, type Answer } from "../../../data/inbox/calls.ts";
import type { ListedItem } from "../../../data/inbox/item.ts";
import { INBOX } from "../../../data/inbox/live.ts";
import { post } from "../../../data/inbox/outbox.ts";
import { holdSecs } from "../../../hooks/preferences.ts";
import { Button, Failure, Field, Loading } from "../../../ui/controls.tsx";
import { CopyCurl } from "../../../ui/copy.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { glance } from "../../../json/excerpt.ts";
import { BulkRows, reportBulk } from "./bulk-results.tsx";
import { buildPlan, type Plan } from "./bulk.ts";
import { useWholeItems } from "./load-items.ts";

type Kind = "approve" | "reject";

const FORM = "bulk";

const WORDS = {
  approve: {
    verb: "Approve",
    done: "approved",
    list: "Arguments to approve",
    effect: "Approves all of these unchanged.",
  },
  reject: { verb: "Reject", done: "rejected", list: "Arguments to reject", effect: "Rejects all of these." },
} as const satisfies Readonly<Record<Kind, object>>;

interface BulkProps {
  readonly kind: Kind;
  readonly onClose: () => void;
}

export function BulkDialog({ items, ...props }: BulkProps & { readonly items: readonly ListedItem[] }): ReactNode {
  const { items: whole, error } = useWholeItems(items);
  if (whole !== undefined) return <Loaded items={whole} {...props} />;
  return (
    <Dialog title={`${WORDS[props.kind].verb} ${items.length}`} onClose={props.onClose}>
      {error === null ? <Loading /> : <Failure error={error} />}
    </Dialog>
  );
}

function Loaded({ kind, items, onClose }: BulkProps & { readonly items: readonly InboxItem[] }): ReactNode {
  const [message, setMessage] = useState("");
  const plan = useMemo(
    () => buildPlan(items, kind === "approve" ? { type: kind } : { type: kind, message }),
    [items, kind, message],
  );
  const answers = useMemo(() => listAnswers(plan), [plan]);
  const sendPlan = useSend(kind);
  const { verb, list, effect } = WORDS[kind];
  const title = `${verb} ${plan.planned.length} × ${plan.what}`;
  const send = (): void => {
    if (plan.planned.length === 0) return;
    onClose();
    sendPlan(title, plan, answers);
  };
  const left = `${plan.left.length} selected items belong to another graph or action, or do not allow this, and are excluded.`;
  return (
    <Dialog
      title={title}
      description={plan.left.length === 0 ? effect : left}
      wide
      onClose={onClose}
      shortcuts={[{ keys: "Enter", label: "Confirm", run: send, once: true }]}
      footer={
        <>
          <CopyCurl method="POST" path="/inbox/answers" body={answersBody(answers)} />
          <span className="spread" />
          <Button hint="Esc" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="primary" icon="check" autoFocus submit form={FORM} disabled={plan.planned.length === 0}>
            Confirm
          </Button>
        </>
      }
    >
      <form
        id={FORM}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        {kind === "approve" ? null : (
          <Field label="Why" hint="For each of them; optional unless the request needs a message.">
            <textarea rows={2} value={message} onChange={(event) => setMessage(event.target.value)} />
          </Field>
        )}
        <BulkRows
          rows={plan.planned}
          label={list}
          second={({ args }) => (
            <code className="truncate muted" title={glance(args, 2000)}>
              {glance(args, 200)}
            </code>
          )}
        />
      </form>
    </Dialog>
  );
}

function listAnswers({ planned }: Plan): readonly Answer[] {
  return planned.map(({ item, resume }) => ({
    thread_id: item.thread_id,
    interrupt_id: item.id,
    ...(resume === undefined ? {} : { resume }),
  }));
}

function useSend(kind: Kind): (label: string, plan: Plan, answers: readonly Answer[]) => void {
  const queries = useQueryClient();
  return (label, plan, answers) =>
    post(label, answers, holdSecs.get() * 1000, (results) => {
      reportBulk(
        WORDS[kind].done,
        plan.planned.map(({ item }, at) => ({ item, problem: results[at]?.problem ?? null })),
      );
      void queries.invalidateQueries({ queryKey: [INBOX, "item"] });
    });
}
