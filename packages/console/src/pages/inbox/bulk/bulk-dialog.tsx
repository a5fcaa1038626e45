// Bulk dialog: one approval or rejection for many items. It lists all of them before it sends.
// Invariants:
//   bulk-dialog.1. Items are listed by graph and action, each with its arguments; those that do not allow the decision are
//        left out and counted.
//   - Many items are always confirmed, and the answers can be undone as any other. A cancelled decision keeps
//     the selection.
//   - An approval waits until the arguments of every item have been open.
import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { answersBody, type Answer, type InboxQuery } from "../../../data/inbox/calls.ts";
import { type ListedItem, buildKey } from "../../../data/inbox/item.ts";
import { INBOX } from "../../../data/inbox/live.ts";
import { post } from "../../../data/inbox/outbox.ts";
import { ConfirmFrame } from "../../../frames/confirm-frame.tsx";
import { holdSecs, typesName } from "../../../hooks/preferences.ts";
import { useValue } from "../../../hooks/value.ts";
import { DangerChip, Failure, Field, Loading } from "../../../ui/controls.tsx";
import { CopyCurl } from "../../../ui/copy.tsx";
import { count } from "../../../ui/format.ts";
import { Folds, useFold, useUnfolded } from "../../../text/folds.tsx";
import { reportBulk } from "./bulk-results.tsx";
import { type Group, type Plan, type Planned, buildPlan } from "./bulk.ts";
import { useWholeItems } from "./load-items.ts";
import { glance } from "../../../json/excerpt.ts";
import { ValueTable } from "../../../json/value-table.tsx";
import { readDirection } from "../../../text/direction.ts";
import { Visible } from "../../../text/visible.tsx";

type Kind = "approve" | "reject";

const WORDS = {
  approve: { verb: "Approve", done: "approved", effect: "Approves all of these unchanged." },
  reject: { verb: "Reject", done: "rejected", effect: "Rejects all of these." },
} as const satisfies Readonly<Record<Kind, object>>;

interface BulkProps {
  readonly kind: Kind;
  readonly items: readonly ListedItem[];
  /** The list that they are from. */
  readonly query: InboxQuery;
  readonly onClose: () => void;
  /** The answers are on their way. */
  readonly onDone: () => void;
}

export function BulkDialog(props: BulkProps): ReactNode {
  return (
    <Folds>
      <Decision {...props} />
    </Folds>
  );
}

function Decision({ kind, items, query, onClose, onDone }: BulkProps): ReactNode {
  const { items: whole, error } = useWholeItems(items, query);
  const [message, setMessage] = useState("");
  const onlySafe = useValue(typesName); // a name is typed for one item
  const plan = useMemo(
    () => buildPlan(whole ?? [], kind === "approve" ? { type: kind, onlySafe } : { type: kind, message }),
    [whole, kind, message, onlySafe],
  );
  const answers = useMemo(() => listAnswers(plan), [plan]);
  const sendPlan = useSend(kind);
  const isUnfolded = useUnfolded();
  const { verb, effect } = WORDS[kind];
  const title = whole === undefined ? `${verb} ${items.length}` : nameTitle(verb, plan);
  const isReady = plan.planned.length > 0;
  const isDangerous = kind === "approve" && items.some(({ dangerous }) => dangerous);
  const send = (): void => {
    if (!isReady || (kind === "approve" && !isUnfolded())) return;
    onDone();
    sendPlan(title, plan, answers);
  };
  const left = `${count(plan.left.length)} selected items do not allow this, and are left out.`;
  return (
    <ConfirmFrame
      title={title}
      description={plan.left.length === 0 ? effect : left}
      dangerous={isDangerous}
      button={{ "aria-disabled": !isReady }} // it keeps the focus while the items are read: a press is not lost
      curl={<CopyCurl method="POST" path="/inbox/answers" body={answersBody(answers)} />}
      onConfirm={send}
      onClose={onClose}
    >
      {error === null ? whole === undefined ? <Loading /> : null : <Failure error={error} />}
      {kind === "approve" ? null : (
        <Field label="Why" hint="For each of them; optional unless the request needs a message.">
          <textarea rows={2} value={message} onChange={(event) => setMessage(event.target.value)} />
        </Field>
      )}
      <BulkGroups groups={plan.groups} />
    </ConfirmFrame>
  );
}

/** `Approve 3 × refund`, `Approve 14 items of 2 groups` */
function nameTitle(verb: string, { groups, planned }: Plan): string {
  const [only] = groups;
  if (only === undefined) return `${verb}: no selected item allows it`;
  if (groups.length === 1) return `${verb} ${count(planned.length)} × ${only.what}`;
  return `${verb} ${count(planned.length)} items of ${groups.length} groups`;
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

// The items of a bulk decision by graph and action, each with its arguments, in one line where they fit.

/** What fits beside a title. */
const LINE_UNITS = 160;

function BulkGroups({ groups }: { readonly groups: readonly Group[] }): ReactNode {
  return groups.map(({ graph, what, planned }) => (
    <section
      key={`${graph} ${what} ${planned[0] === undefined ? "" : buildKey(planned[0].item)}`}
      aria-label={`${what} of ${graph}`}
    >
      <h3 className="row">
        <code>{what}</code>
        <span className="muted">
          {graph} · {count(planned.length)}
        </span>
      </h3>
      <ol className="bulk-items">
        {planned.map((one) => (
          <Entry key={buildKey(one.item)} planned={one} />
        ))}
      </ol>
    </section>
  ));
}

function Entry({ planned: { item, args } }: { readonly planned: Planned }): ReactNode {
  const text = args === "" ? "" : glance(args, LINE_UNITS + 1);
  const { isFolded, open, place } = useFold<HTMLLIElement>(text.length > LINE_UNITS);
  return (
    <li ref={place} tabIndex={-1}>
      <span className="row">
        {item.dangerous ? <DangerChip /> : null}
        <span dir={readDirection(item.title)}>{item.title}</span>
      </span>
      {text.length <= LINE_UNITS ? (
        <code className="muted">
          <Visible text={text} />
        </code>
      ) : isFolded ? (
        <button type="button" className="fold-button" onClick={open}>
          Show the arguments
        </button>
      ) : (
        <ValueTable value={args} label={`Arguments of ${item.title}`} />
      )}
    </li>
  );
}
