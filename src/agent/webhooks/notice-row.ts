// Notice row: the outbox row of an event about an inbox item, which the notification rules turn into deliveries.
// Invariant notice-row.1: the transaction of the event stores the row, so neither exists without the other.
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
  return {
    runId: outboxId(`notice ${event} ${threadId} ${interruptId} ${runId} ${at}`),
    url: "",
    host: "notice",
    channel: "notice",
    batch: null,
    body: JSON.stringify(body),
    headers: {},
    attempts: 0,
    dueAt: at,
    createdAt: at,
  };
}
