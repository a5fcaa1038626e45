// Row: one item of the list. Columns if wide, two lines if narrow.
import { Link } from "@tanstack/react-router";
import { memo, type ReactNode } from "react";
import { formatHint } from "@holdpoint/api/text/payload-excerpt.ts";
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { formatEnd, buildKey, kindLabel, type ListedItem } from "../../../data/inbox/item.ts";
import { outbox, findPendingAnswer } from "../../../data/inbox/outbox.ts";
import { seen } from "../../../data/inbox/seen.ts";
import { columns, readColumns } from "../../../hooks/preferences.ts";
import { glance } from "../../../json/excerpt.ts";
import { useNow } from "../../../hooks/clock.ts";
import { readDirection } from "../../../text/direction.ts";
import { Chip, DangerChip, type Tone } from "../../../ui/controls.tsx";
import { absoluteTime, relativeTime } from "../../../ui/format.ts";
import { Age } from "../../../ui/time.tsx";
import { useValue } from "../../../hooks/value.ts";
import type { Filters } from "./filters.ts";

interface RowProps {
  readonly item: ListedItem;
  readonly filters: Filters;
  readonly narrow: boolean;
  readonly active: boolean;
  readonly open: boolean;
  readonly selected: boolean;
  /** @param range from the last selected item to this one. */
  readonly onSelect: (range: boolean) => void;
}

/** The chosen columns stand between the place and the age. */
function layOut(names: readonly string[]): { readonly gridTemplateColumns: string } {
  const more = names.map(() => "minmax(0, 120px)").join(" ");
  return { gridTemplateColumns: `16px minmax(0, 1fr) 88px minmax(0, 190px) ${more} 44px` };
}

export function Headings(): ReactNode {
  const names = readColumns(useValue(columns));
  return (
    <div className="inbox-row headings" aria-hidden="true" style={layOut(names)}>
      <span />
      <span>Interrupt</span>
      <span>Kind</span>
      <span>Graph › node</span>
      {names.map((name) => (
        <span key={name} className="truncate">
          {name}
        </span>
      ))}
      <span className="numeric">Age</span>
    </div>
  );
}

/** `claim`, `run`, a member of the metadata, or an argument as the excerpt of the row has it. */
function Cell({ item, name }: { readonly item: ListedItem; readonly name: string }): ReactNode {
  if (name === "claim") return <Claim item={item} />;
  if (name === "run") return <span className="mono muted">{item.run_id === null ? "–" : shortId(item.run_id)}</span>;
  const given = item.metadata[name];
  if (given !== undefined) return glance(given, 40);
  const part = item.excerpt.split(" · ").find((one) => one.startsWith(`${name}: `));
  return part?.slice(name.length + 2) ?? "";
}

export const Row = memo(RowView);

function RowView({ item, filters, narrow, active, open, selected, onSelect }: RowProps): ReactNode {
  const ended = item.state !== "open";
  const unread = !useValue(seen).has(buildKey(item)) && !ended;
  const className = [
    "inbox-row",
    narrow ? "narrow" : "",
    active ? "active" : "",
    open ? "open" : "",
    ended ? "ended" : "",
    unread ? "unread" : "",
  ];
  const params = { threadId: item.thread_id, interruptId: item.id };
  const names = readColumns(useValue(columns));
  const hint = formatHint(item);
  return (
    <div
      role="listitem"
      className={className.filter((one) => one !== "").join(" ")}
      {...(narrow ? {} : { style: layOut(names) })}
    >
      <input
        type="checkbox"
        aria-label={`Select ${item.title}`}
        checked={selected}
        disabled={ended}
        onChange={() => undefined}
        onClick={(event) => onSelect(event.shiftKey)}
      />
      <div className="row-title">
        {item.dangerous && !ended && !narrow ? <DangerChip /> : null}
        <Link
          to="/inbox/$threadId/$interruptId"
          params={params}
          search={filters}
          className="row-link"
          dir={readDirection(item.title)}
          aria-current={open ? "true" : undefined}
        >
          {item.title}
          {unread ? <span className="visually-hidden"> (unread)</span> : null}
        </Link>
        {narrow ? null : <Hint text={hint} />}
        {item.actions > 1 ? <Chip title={`${item.actions} actions in one item`}>{item.actions} actions</Chip> : null}
        {narrow ? null : <State item={item} />}
        {narrow || ended || names.includes("claim") ? null : <Claim item={item} />}
      </div>
      {narrow ? (
        <div className="row-second">
          {item.dangerous && !ended ? <DangerChip /> : null}
          {ended ? null : <KindChip kind={item.kind} />}
          <State item={item} />
          {hint === "" ? <Place item={item} /> : <Hint text={hint} />}
          {ended ? null : <Claim item={item} />}
        </div>
      ) : (
        <>
          <span>
            <KindChip kind={item.kind} />
          </span>
          <Place item={item} />
          {names.map((name) => (
            <span key={name} className="truncate">
              <Cell item={item} name={name} />
            </span>
          ))}
        </>
      )}
      <WaitingAge at={item.created_at} />
    </div>
  );
}

const KIND_TONES: Readonly<Record<ListedItem["kind"], Tone | "violet">> = {
  tool_approval: "accent",
  form: "violet",
  question: "neutral",
  breakpoint: "amber",
};

export function KindChip({ kind }: { readonly kind: ListedItem["kind"] }): ReactNode {
  return <span className={`chip ${KIND_TONES[kind]}`}>{kindLabel(kind)}</span>;
}

function Hint({ text }: { readonly text: string }): ReactNode {
  return (
    <span className="row-hint truncate" dir="auto">
      {text}
    </span>
  );
}

function Place({ item }: { readonly item: ListedItem }): ReactNode {
  return (
    <span className="muted truncate" title={`${item.graph_id} › ${item.node}`}>
      {item.graph_id} › {item.node}
    </span>
  );
}

function Claim({ item: { claim } }: { readonly item: ListedItem }): ReactNode {
  return claim === null ? null : <Chip title={`since ${absoluteTime(Date.parse(claim.at))}`}>{claim.by}</Chip>;
}

function State({ item }: { readonly item: ListedItem }): ReactNode {
  const pendingAnswer = findPendingAnswer(item, useValue(outbox));
  if (item.state !== "open") {
    const time = (at: string): string => new Date(at).toLocaleTimeString();
    return <Chip tone={item.state === "answered" ? "green" : "neutral"}>{formatEnd(item, time)}</Chip>;
  }
  if (pendingAnswer?.state === "failed") return <Chip tone="red">not sent</Chip>;
  if (pendingAnswer !== undefined) return <Chip tone="accent">sending</Chip>;
  return (
    <>
      <Priority item={item} />
      <Snoozed until={item.snoozed_until} />
      <Deadline item={item} />
    </>
  );
}

const PRIORITY_TONES = { urgent: "red", high: "amber", low: "neutral" } as const;

export function Priority({ item: { priority } }: { readonly item: Pick<ListedItem, "priority"> }): ReactNode {
  return priority === "normal" ? null : (
    <Chip tone={PRIORITY_TONES[priority]} title="Priority, as the graph says">
      {priority}
    </Chip>
  );
}

function Snoozed({ until }: { readonly until: string | undefined }): ReactNode {
  const now = useNow();
  const at = Date.parse(until ?? "");
  return at > now ? <Chip title={`until ${absoluteTime(at)}, ${relativeTime(at, now)}`}>snoozed</Chip> : null;
}

export function Deadline({ item }: { readonly item: Pick<ListedItem, "deadline" | "overdue"> }): ReactNode {
  const now = useNow();
  if (item.deadline === null) return null;
  const at = Date.parse(item.deadline.expires_at);
  const then = { fail: "then its run fails", answer: "then the default answer applies" };
  const what = item.deadline.on_expiry === null ? "then it is overdue" : then[item.deadline.on_expiry];
  const overdue = item.overdue || at <= now;
  return (
    <Chip tone={overdue ? "red" : "amber"} title={`${absoluteTime(at)}, ${what}`}>
      {overdue ? "overdue" : `due ${relativeTime(at, now)}`}
    </Chip>
  );
}

const LONG_MS = 60 * 60 * 1000;
const TOO_LONG_MS = 24 * LONG_MS;

/** Amber after an hour, red after a day. */
function WaitingAge({ at }: { readonly at: string }): ReactNode {
  const waited = useNow() - Date.parse(at);
  const tone = waited > TOO_LONG_MS ? "too-long" : waited > LONG_MS ? "long" : "";
  return <Age at={at} className={`row-age numeric ${tone}`} />;
}
