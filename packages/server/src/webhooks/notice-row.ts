// Notice row: the outbox row of an event about an inbox item, which the notification rules turn into deliveries.
// The transaction of the event stores the row, so neither exists without the other.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Interrupt, Webhook } from "../model/model.ts";
import { outboxId } from "./outbox-id.ts";

/** `asked`: the item is new. `escalated`: its deadline called others. */
export type NoticeEvent = "asked" | "escalated";

export interface NoticeBody {
  readonly event: NoticeEvent;
  readonly thread_id: string;
  readonly interrupt_id: string;
}

/** @param at time of the event: an item may escalate several times */
export function noticeRow(
  { threadId, interruptId, runId }: Pick<Interrupt, "threadId" | "interruptId" | "runId">,
  event: NoticeEvent,
  at: number,
): Webhook {
  const body: NoticeBody = { event, thread_id: threadId, interrupt_id: interruptId };
  const id = `notice ${event} ${threadId} ${interruptId} ${runId} ${at}`;
  return messageRow(id, { channel: "notice", host: "notice" }, { ...body }, at);
}

/** The outbox row of a message by a channel other than HTTP. @param id the same for a repeat of the same message */
export function messageRow(
  id: string,
  { channel, host }: Pick<Webhook, "channel" | "host">,
  body: JsonObject,
  at: number,
): Webhook {
  return {
    runId: outboxId(id),
    url: "",
    host,
    channel,
    batch: null,
    body: JSON.stringify(body),
    headers: {},
    attempts: 0,
    dueAt: at,
    createdAt: at,
  };
}
