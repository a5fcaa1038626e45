// Item calls: assignments, follow-up dates and comments of one item.
import type { AuditEntry, InboxItem } from "@holdpoint/api/inbox.ts";
import { call } from "../../api/client.ts";
import { author } from "./calls.ts";

type Named = Pick<InboxItem, "thread_id" | "id">;

const buildItemPath = ({ thread_id, id }: Named): string =>
  `/inbox/${encodeURIComponent(thread_id)}/${encodeURIComponent(id)}`;

/** @param force replaces another person's claim */
export function assignItem(item: Named, to: string, force: boolean): Promise<InboxItem> {
  return call("POST", `${buildItemPath(item)}/assign`, { body: { ...author(), to, force } });
}

/** @param until null clears the date */
export function snoozeItem(item: Named, until: string | null): Promise<InboxItem> {
  return call("POST", `${buildItemPath(item)}/snooze`, { body: { ...author(), until } });
}

/** A question whose answer failed more often than the server asks again by itself. */
export function askAgain(item: Named): Promise<InboxItem> {
  return call("POST", `${buildItemPath(item)}/ask-again`, { body: { ...author() } });
}

export function addComment(item: Named, text: string): Promise<InboxItem> {
  return call("POST", `${buildItemPath(item)}/comments`, { body: { ...author(), text } });
}

export function listComments(
  item: Named,
  signal?: AbortSignal,
): Promise<{ readonly items: readonly AuditEntry[]; readonly next_after: number | null }> {
  return call("GET", `${buildItemPath(item)}/comments`, { query: { limit: 1000 }, signal });
}
