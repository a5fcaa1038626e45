// Inbox items: one item of the inbox, and its page.
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { ApiRefusal, type OwnApi } from "./own-api.ts";

/** Page of the console that shows the item. */
export function linkTo(publicUrl: string, item: Pick<InboxItem, "thread_id" | "id">): string {
  return `${publicUrl}/console/inbox/${item.thread_id}/${item.id}`;
}

/** Null for an item out of reach. */
export async function findItem(api: OwnApi, threadId: string, interruptId: string): Promise<InboxItem | null> {
  try {
    return (await api.call("GET", `/inbox/${threadId}/${interruptId}`)) as unknown as InboxItem;
  } catch (error) {
    if (error instanceof ApiRefusal && error.status < 500) return null;
    throw error;
  }
}

/** The outcome of an item that is no longer open. */
export function elsewhere({ title, state, answered }: InboxItem): string {
  return state === "answered"
    ? `"${title}" was already answered by ${answered?.by ?? "another person"}.`
    : `"${title}" is no longer open.`;
}
