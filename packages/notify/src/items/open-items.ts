// Open items: the items of outbox rows that still wait for an answer when their message leaves.
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import type { Storage } from "@holdpoint/server/ports/ports.ts";
import type { NoticeBody } from "@holdpoint/server/webhooks/notice-row.ts";

/** Body of a message in the outbox: the item is read when the message leaves. */
export interface MessageBody extends NoticeBody {
  readonly to: string;
  readonly person: string | null;
  /** The place that took no message, and why: the message goes to an administrator instead. */
  readonly instead?: { readonly place: string; readonly reason: string };
}

/** The items of the messages that are still open, each once. */
export async function openItems(
  storage: Pick<Storage, "transaction">,
  bodies: readonly Pick<NoticeBody, "thread_id" | "interrupt_id">[],
): Promise<readonly Interrupt[]> {
  return storage.transaction(async (tx) => {
    const found = new Map<string, Interrupt>();
    for (const { thread_id: threadId, interrupt_id: interruptId } of bodies) {
      const item = await tx.interrupt(threadId, interruptId);
      if (item?.state === "open") found.set(`${threadId} ${interruptId}`, item);
    }
    return [...found.values()];
  });
}
