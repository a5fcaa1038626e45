// Item: a pending interrupt in lists and pages. Pure.
// Invariant: thread and interrupt identify an item; a copied thread has the same interrupts.
import type { InboxItem } from "@holdpoint/api/inbox.ts";

/** The part of an item that an event carries: all but its value and its thread. */
export type ItemSummary = Omit<
  InboxItem,
  "state" | "overdue" | "thread_status" | "metadata" | "value" | "response_schema" | "answered"
>;

/** An item in a list, with its later state. */
export interface ListedItem extends ItemSummary {
  readonly state: InboxItem["state"] | "expired";
  readonly overdue: boolean;
  /** Rows have none, except for a search in values. */
  readonly value?: unknown;
  readonly metadata: InboxItem["metadata"];
  readonly answered?: { readonly by: string; readonly at: string; readonly run_id: string } | undefined;
}

export function buildKey({ thread_id, id }: Pick<InboxItem, "thread_id" | "id">): string {
  return `${thread_id}/${id}`;
}

export function buildItemPath({ thread_id, id }: Pick<InboxItem, "thread_id" | "id">): string {
  return `/inbox/${encodeURIComponent(thread_id)}/${encodeURIComponent(id)}`;
}

export type InboxEvent =
  | { readonly type: "added" | "expired"; readonly item: ItemSummary }
  | { readonly type: "claimed" | "released" | "updated"; readonly item: ItemSummary }
  | {
      readonly type: "answered";
      readonly item: ItemSummary;
      readonly by: string;
      readonly at: string;
      readonly runId: string;
    }
  | { readonly type: "removed"; readonly item: ItemSummary; readonly reason: string };

/** An event of GET /inbox/events → its change of an item; null for other events. */
export function readEvent(event: string, data: unknown): InboxEvent | null {
  const item = data as ItemSummary & Readonly<Record<"by" | "at" | "answer_run_id" | "reason", string>>;
  switch (event) {
    case "added":
    case "claimed":
    case "released":
    case "updated":
    case "expired":
      return { type: event, item };
    case "answered":
      return { type: event, item, by: item.by, at: item.at, runId: item.answer_run_id };
    case "removed":
      return { type: event, item, reason: item.reason };
    default:
      return null;
  }
}

/** Applies an event to its item. */
export function applied(item: ListedItem, event: InboxEvent): ListedItem {
  switch (event.type) {
    case "added":
      return { ...item, ...event.item, state: "open" };
    case "claimed":
    case "released":
      return { ...item, claim: event.item.claim };
    case "updated":
      return { ...item, ...event.item };
    case "answered":
      return { ...item, state: "answered", answered: { by: event.by, at: event.at, run_id: event.runId } };
    case "expired":
      return { ...item, state: "expired" };
    case "removed":
      return { ...item, state: "abandoned" };
    default:
      return event satisfies never;
  }
}

const KIND_LABELS: Readonly<Record<InboxItem["kind"], string>> = {
  tool_approval: "Approval",
  form: "Form",
  question: "Question",
  breakpoint: "Breakpoint",
};

export function kindLabel(kind: InboxItem["kind"]): string {
  return KIND_LABELS[kind];
}

/** The reason why an item is no longer pending. */
export function formatEnd(
  { state, answered }: Pick<ListedItem, "state" | "answered">,
  time: (at: string) => string,
): string {
  if (state === "open") return "";
  if (state === "answered") {
    return answered === undefined ? "answered" : `answered by ${answered.by} at ${time(answered.at)}`;
  }
  return state === "expired" ? "its deadline has passed" : "no longer pending";
}
