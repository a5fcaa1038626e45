// Item pane: one item: the request and its context at the left, the answer at the right.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, type ReactNode } from "react";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { ApiProblem, problemMessage } from "../../api/problem.ts";
import { setTitle } from "../../browser/badge.ts";
import { claimItem, getItem, releaseItem } from "../../data/inbox/calls.ts";
import { buildKey } from "../../data/inbox/item.ts";
import { INBOX } from "../../data/inbox/live.ts";
import { outbox, findPendingAnswer } from "../../data/inbox/outbox.ts";
import { markSeen } from "../../data/inbox/seen.ts";
import { Button, Chip, DangerChip, EmptyState, Failure, IconButton, Loading } from "../../ui/controls.tsx";
import { copy } from "../../ui/copy.tsx";
import { glance } from "../../json/excerpt.ts";
import { JsonView } from "../../json/json-view.tsx";
import { READ_ONLY, useReadOnly } from "../../api/caller.ts";
import { apiKey } from "../../api/credentials.ts";
import { readDirection } from "../../text/direction.ts";
import { Folds } from "../../text/folds.tsx";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { RelativeTime } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";
import { useValue } from "../../hooks/value.ts";
import { Answering } from "../../answering/answering.tsx";
import { FailedAnswer } from "../../answering/failed-answer.tsx";
import { Audit } from "./audit.tsx";
import { Conversation } from "./conversation.tsx";
import { readRequest, type Request } from "../../answering/model/request.ts";
import { Outcome, ThreadLink } from "./outcome.tsx";
import { Comments } from "./review/comments.tsx";
import { ItemWork } from "./review/item-work.tsx";
import { ReviewPanel } from "./review/review-panel.tsx";
import { RequestView } from "../../answering/request-view.tsx";
import { Deadline, KindChip, Priority } from "./list/row.tsx";
import { knownAs, useMe } from "./list/use-list.ts";

export function ItemPane({
  threadId,
  interruptId,
  onClose,
  onMove,
  onAnswered,
}: {
  readonly threadId: string;
  readonly interruptId: string;
  readonly onClose: () => void;
  readonly onMove: (step: number) => void;
  readonly onAnswered: () => void;
}): ReactNode {
  const named = { thread_id: threadId, id: interruptId };
  const { data, error, refetch } = useQuery({
    queryKey: [INBOX, "item", buildKey(named)],
    queryFn: ({ signal }) => getItem(named, signal),
  });
  return (
    <section className="item" aria-label="Item">
      <header className="item-head">
        <div className="row">
          {/* The same button before and after the item arrives: a press on it is not lost. */}
          <IconButton icon="back" label="Back to the list" onClick={onClose} />
          {data === undefined ? null : <Heading item={data} onMove={onMove} />}
        </div>
        {data === undefined ? null : <ItemFacts item={data} />}
      </header>
      {error instanceof ApiProblem && error.status === 404 ? (
        <EmptyState icon="inbox" title="Item not found">
          <p>Its thread may have been deleted.</p>
          <Button onClick={onClose}>Go to the inbox</Button>
        </EmptyState>
      ) : error !== null ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : null}
      {data === undefined && error === null ? <Loading /> : null}
      {data === undefined ? null : <Body item={data} onAnswered={onAnswered} />}
    </section>
  );
}

function Heading({ item, onMove }: { readonly item: InboxItem; readonly onMove: (step: number) => void }): ReactNode {
  const readOnly = useReadOnly();
  useEffect(() => setTitle(item.title), [item.title]);
  useEffect(() => markSeen(buildKey(item)), [item.thread_id, item.id]);
  return (
    <>
      <h2 className="item-title" dir={readDirection(item.title)} title={item.title}>
        {item.title}
      </h2>
      <div className="row spread">
        <ClaimButton item={item} />
        <ItemWork item={item} readOnly={readOnly} />
        <IconButton icon="link" label="Copy a link to this item" onClick={() => void copy(readLink(), "the link")} />
        <IconButton icon="chevron" label="Next item" onClick={() => onMove(1)} />
      </div>
    </>
  );
}

function ItemFacts({ item }: { readonly item: InboxItem }): ReactNode {
  return (
    <div className="item-facts">
      {item.dangerous ? <DangerChip /> : null}
      <Priority item={item} />
      <KindChip kind={item.kind} />
      <span>
        {item.graph_id} <span className="muted">›</span> {item.node}
      </span>
      <span className="muted">
        asked <RelativeTime at={item.created_at} />
      </span>
      {item.state === "open" ? <Deadline item={item} /> : null}
      <ThreadLink item={item} />
      {Object.entries(item.metadata)
        .filter(([name]) => name !== "graph_id" && name !== "assistant_id")
        .filter(([name, value]) => name !== "priority" || value !== item.priority) // of a request, shown above
        .slice(0, 4)
        .map(([name, value]) => (
          <Chip key={name}>
            {glance(name)}={glance(value)}
          </Chip>
        ))}
    </div>
  );
}

/** Without the parameters of this window. */
const readLink = (): string => `${window.location.origin}${window.location.pathname}`;

function ClaimButton({ item }: { readonly item: InboxItem }): ReactNode {
  const queries = useQueryClient();
  const me = useMe();
  const readOnly = useReadOnly();
  const mine = item.claim !== null && item.claim.by === me;
  const change = async (work: Promise<InboxItem>, done: (changed: InboxItem) => string): Promise<void> => {
    try {
      const changed = await work;
      if (apiKey.get() !== null && changed.claim !== null) knownAs.set(changed.claim.by);
      queries.setQueryData([INBOX, "item", buildKey(item)], changed);
      showToast(done(changed));
    } catch (error) {
      showToast(problemMessage(error), { tone: "amber" });
      await queries.invalidateQueries({ queryKey: [INBOX, "item", buildKey(item)] });
    }
  };
  const claim = (): void => void change(claimItem(item), ({ claim: by }) => `Claimed by ${by?.by ?? "you"}.`);
  const release = (force: boolean): void => void change(releaseItem(item, force), () => "Released.");
  const toggle = (): void => {
    if (item.claim === null) claim();
    else release(!mine);
  };
  const open = item.state === "open";
  // A stray key press must not release another person's claim.
  const byKey = (): void => {
    if (mine || item.claim === null) toggle();
    else showToast(`Claimed by ${item.claim.by}. Use the button to release it anyway.`, { tone: "amber" });
  };
  useShortcuts("Claim", open && !readOnly ? [{ keys: "c", label: mine ? "Release" : "Claim", run: byKey }] : []);
  if (!open || (readOnly && item.claim === null)) return null;
  if (item.claim === null) {
    return (
      <Button icon="person" hint="c" onClick={toggle}>
        Claim
      </Button>
    );
  }
  return (
    <>
      <Chip tone={mine ? "accent" : "amber"}>{mine ? "claimed by you" : `claimed by ${item.claim.by}`}</Chip>
      <Button onClick={toggle} disabled={readOnly} {...(mine ? { hint: "c" } : {})}>
        {mine ? "Release" : "Release anyway"}
      </Button>
    </>
  );
}

function Body({ item, onAnswered }: { readonly item: InboxItem; readonly onAnswered: () => void }): ReactNode {
  const request = readRequest(item);
  const readOnly = useReadOnly();
  return (
    <Folds withKey>
      <div className="item-body">
        <div className="item-left">
          <RequestView request={request} item={item} />
          <Conversation item={item}>
            <details className="fold">
              <summary>Raw payload</summary>
              <JsonView value={item.value} label="the payload" />
            </details>
            <Comments item={item} readOnly={readOnly} />
            <Audit item={item} />
          </Conversation>
        </div>
        <aside className="item-right" aria-label="Answer">
          <ReviewPanel item={item} />
          <FailedAnswer item={item} />
          <Outcome item={item} request={request} />
          <Pending item={item}>
            <Answer key={buildKey(item)} item={item} request={request} onAnswered={onAnswered} />
          </Pending>
        </aside>
      </div>
    </Folds>
  );
}

function Answer(props: {
  readonly item: InboxItem;
  readonly request: Request;
  readonly onAnswered: () => void;
}): ReactNode {
  const readOnly = useReadOnly();
  if (props.item.state !== "open") return null;
  return readOnly ? (
    <p className="note amber">{READ_ONLY} A reviewer can answer this item.</p>
  ) : (
    <Answering {...props} />
  );
}

/** While an answer is being sent, nothing is editable. */
function Pending({ item, children }: { readonly item: InboxItem; readonly children: ReactNode }): ReactNode {
  const pendingAnswer = findPendingAnswer(item, useValue(outbox));
  if (pendingAnswer === undefined || item.state !== "open") return children;
  return (
    <div className="note accent">
      <strong>{pendingAnswer.label}</strong>
      <span>{pendingAnswer.state === "failed" ? "The answer could not be sent." : "Sent soon. Press u to undo."}</span>
      <div hidden>{children}</div>
    </div>
  );
}
