// Notices: messages in Slack that follow their items. A message is a row of `notices` from its delivery on.
// Invariants:
//   - A message that shows an open item is updated after the item has ended, however it ended: the rows are compared
//     with the items, so no end is missed, also not in a crash.
//   - An update is stored in the outbox in the transaction that marks its row: it is neither lost nor repeated without
//     end.
//   - A message whose delivery was not recorded is known from the first click on it.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Notice } from "@holdpoint/server/model/model.ts";
import type { InterruptTx, NoticeTx, WebhookTx } from "@holdpoint/server/ports/ports.ts";
import { messageRow } from "@holdpoint/server/webhooks/notice-row.ts";
import { outboxId } from "@holdpoint/server/webhooks/outbox-id.ts";

/** Address of a message in Slack. */
export interface MessagePlace {
  readonly channel: string;
  readonly ts: string;
}

/** Body of an update in the outbox. */
export interface UpdateBody extends MessagePlace {
  readonly update: true;
  readonly thread_id: string;
  readonly interrupt_id: string;
}

export function readPlace(value: Json | undefined): MessagePlace | null {
  if (!isJsonObject(value)) return null;
  const { channel, ts } = value;
  return typeof channel === "string" && typeof ts === "string" ? { channel, ts } : null;
}

/** Records a message that shows its item as open, and its update if the item has ended meanwhile. */
export async function recordNotice(
  tx: InterruptTx & NoticeTx & WebhookTx,
  item: Pick<Notice, "threadId" | "interruptId">,
  place: MessagePlace,
  { host, at }: { readonly host: string; readonly at: number },
): Promise<void> {
  const noticeId = outboxId(`slack ${place.channel} ${place.ts}`);
  const known = await tx.listNotices(item.threadId, item.interruptId);
  if (known.some((one) => one.noticeId === noticeId)) return;
  const target: JsonObject = { ...place };
  const notice: Notice = { ...item, noticeId, target, shown: "open", createdAt: at };
  await tx.putNotice(notice);
  const current = await tx.interrupt(item.threadId, item.interruptId);
  if (current?.state !== "open") await showState(tx, notice, "closed", { host, at });
}

/** Requests the update of a message. */
export async function showState(
  tx: NoticeTx & WebhookTx,
  notice: Notice,
  shown: Notice["shown"],
  { host, at }: { readonly host: string; readonly at: number },
): Promise<void> {
  const place = readPlace(notice.target);
  await tx.putNotice({ ...notice, shown });
  if (place === null) return;
  const body: UpdateBody = { update: true, thread_id: notice.threadId, interrupt_id: notice.interruptId, ...place };
  const id = `${notice.noticeId} ${shown} ${at}`;
  await tx.putWebhook(messageRow(id, { channel: "slack", host }, { ...body }, at));
}
