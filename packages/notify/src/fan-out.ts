// Fan-out: the channel of events: an event about an item → one outbox row for each message, by the rules.
// Invariants:
//   - The messages are stored in the transaction that deletes the event: an event is neither lost nor doubled.
//   - The id of a message depends on the event and the recipient only: a repetition stores nothing.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Interrupt, Webhook } from "@holdpoint/server/model/model.ts";
import type { AssistantTx, InterruptTx, PeopleTx, Storage } from "@holdpoint/server/ports/ports.ts";
import type { Deliver } from "@holdpoint/server/webhooks/delivery.ts";
import type { NoticeBody } from "@holdpoint/server/webhooks/notice-row.ts";
import type { MessageBody } from "./items/open-items.ts";
import { outboxId } from "@holdpoint/server/webhooks/outbox-id.ts";
import { type DeliveryPlan, planDeliveries } from "./rules/deliveries.ts";
import type { Directory } from "./rules/directory.ts";
import type { Notifications } from "./rules/notifications.ts";

export interface FanOutPorts {
  readonly storage: Pick<Storage, "transaction">;
  readonly clock: Clock;
  /** Host of each channel's service; absent without it. */
  readonly hosts: Partial<Readonly<Record<DeliveryPlan["channel"], string>>>;
}

export function createFanOut(notifications: Notifications, directory: Directory, ports: FanOutPorts): Deliver {
  return async ([row]) => ({
    kind: "sent",
    record: async (tx) => {
      if (row !== undefined) for (const message of await buildMessages(tx, row)) await tx.putWebhook(message);
    },
  });

  async function buildMessages(tx: InterruptTx & AssistantTx & PeopleTx, row: Webhook): Promise<readonly Webhook[]> {
    const body = JSON.parse(row.body) as NoticeBody;
    const item = await tx.interrupt(body.thread_id, body.interrupt_id);
    if (item === null || item.state !== "open") return []; // answered meanwhile
    const assistant = await tx.assistant(item.assistantId);
    const at = ports.clock.now();
    const asked = { event: body.event, item, assistantName: assistant?.name ?? null, at };
    const plans = await planDeliveries(tx, notifications, directory, asked);
    return plans.flatMap((plan) => {
      const host = ports.hosts[plan.channel];
      return host === undefined ? [] : [messageRow(row, item, plan, { host, body, at })];
    });
  }
}

function messageRow(
  event: Webhook,
  { threadId, interruptId }: Interrupt,
  { channel, to, person, dueAt, batch }: DeliveryPlan,
  { host, body, at }: { readonly host: string; readonly body: NoticeBody; readonly at: number },
): Webhook {
  const message: MessageBody = { ...body, thread_id: threadId, interrupt_id: interruptId, to, person };
  return {
    runId: outboxId(`${event.runId} ${channel} ${to}`),
    url: "",
    host,
    channel,
    batch,
    body: JSON.stringify(message),
    headers: {},
    attempts: 0,
    dueAt,
    createdAt: at,
  };
}
