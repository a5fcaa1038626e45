// Slack channel: rows of the outbox → messages of the app, and their updates.
// Invariants:
//   - An item that is no longer open is not asked about. Its messages are updated instead.
//   - Questions for a channel that takes no messages (archived, deleted, without the app) go to the administrators who
//     have signed in, with the reason; what waits at the same time leaves as one message.
//   - A message and its record are two steps: after a crash in between it is sent again. Both messages lead to the same
//     item, which takes one answer.
import { visible } from "@holdpoint/api/text/visible-text.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import type { PeopleTx, SlackApi, Storage, WebhookTx } from "@holdpoint/server/ports/ports.ts";
import type { Deliver, DeliveryOutcome } from "@holdpoint/server/webhooks/delivery.ts";
import { messageRow } from "@holdpoint/server/webhooks/notice-row.ts";
import { mrkdwn, type SlackMessage } from "@holdpoint/server/webhooks/slack-message.ts";
import type { MessageBody } from "../items/open-items.ts";
import { openItems } from "../items/open-items.ts";
import type { Directory } from "../rules/directory.ts";
import type { Members } from "./members.ts";
import { askMessage, endMessage, listMessage } from "./messages.ts";
import { recordNotice, type UpdateBody } from "./notices.ts";

export interface SlackChannelPorts {
  readonly storage: Pick<Storage, "transaction">;
  readonly slack: SlackApi;
  readonly members: Members;
  readonly directory: Pick<Directory, "withRole">;
  readonly clock: Clock;
  readonly buildLink: (item: Pick<Interrupt, "threadId" | "interruptId">) => string;
  /** People may answer in Slack. */
  readonly answers: boolean;
}

export function createSlackChannel(ports: SlackChannelPorts): Deliver {
  return async (rows, signal) => {
    const bodies = rows.map(({ body }) => JSON.parse(body) as MessageBody | UpdateBody);
    const [first] = bodies;
    if (first === undefined) return { kind: "sent" };
    if ("update" in first) return update(ports, first, signal);
    return ask(ports, bodies as readonly MessageBody[], signal);
  };
}

async function update(
  { storage, slack, buildLink, answers }: SlackChannelPorts,
  { thread_id: threadId, interrupt_id: interruptId, channel, ts }: UpdateBody,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const item = await storage.transaction((tx) => tx.interrupt(threadId, interruptId));
  const link = buildLink({ threadId, interruptId });
  const message = item?.state === "open" ? askMessage(item, link, answers) : endMessage(item, link);
  const reply = await slack.call("chat.update", { channel, ts, ...message }, signal);
  return reply.kind === "ok" ? { kind: "sent" } : failed(reply);
}

async function ask(
  ports: SlackChannelPorts,
  bodies: readonly MessageBody[],
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const { storage, slack, members, clock, buildLink, answers } = ports;
  const items = await openItems(storage, bodies);
  const [only] = items;
  if (only === undefined) return { kind: "sent" };
  let channel = bodies[0]?.to ?? "";
  if (channel.includes("@")) {
    const found = await members.findMemberId(channel, signal);
    if (found.kind !== "found") return failed(found);
    channel = found.id;
  }
  const message: SlackMessage =
    items.length === 1 ? askMessage(only, buildLink(only), answers) : listMessage(items, buildLink);
  const sent = explain(message, bodies);
  const reply = await slack.call("chat.postMessage", { channel, unfurl_links: false, ...sent }, signal);
  if (reply.kind === "refused") {
    const reason = `${channel}: ${reply.reason}`;
    const isPlace = bodies[0]?.person === null && bodies[0].instead === undefined;
    if (!isPlace) return { kind: "refused", reason };
    return { kind: "refused", reason, record: (tx) => tellAdministrators(ports, tx, bodies, reply.reason) };
  }
  if (reply.kind !== "ok") return failed(reply);
  const { channel: where, ts } = reply.body;
  if (items.length > 1 || typeof where !== "string" || typeof ts !== "string") return { kind: "sent" };
  const at = clock.now();
  return { kind: "sent", record: (tx) => recordNotice(tx, only, { channel: where, ts }, { host: slack.host, at }) };
}

async function tellAdministrators(
  { slack, directory, clock }: SlackChannelPorts,
  tx: PeopleTx & WebhookTx,
  bodies: readonly MessageBody[],
  reason: string,
): Promise<void> {
  const address = { channel: "slack", host: slack.host } as const;
  for (const { slack: member, email, name } of await directory.withRole(tx, "admin")) {
    const to = member ?? email;
    if (to === null) continue;
    for (const body of bodies) {
      const instead = { place: body.to, reason };
      const told: MessageBody = { ...body, to, person: name, instead };
      const id = `instead ${body.event} ${body.thread_id} ${body.interrupt_id} ${body.to} ${to}`;
      const row = messageRow(id, address, { ...told }, clock.now());
      await tx.putWebhook({ ...row, batch: `instead ${body.to} ${to}` });
    }
  }
}

/** The message with the reason why it came here. */
function explain(message: SlackMessage, bodies: readonly MessageBody[]): SlackMessage {
  const instead = bodies[0]?.instead;
  if (instead === undefined) return message;
  const words = `Slack does not take messages to ${instead.place} (${instead.reason}), so this came to the administrators. Correct the notification rules, or the channel.`;
  const text = mrkdwn(visible(words), 1000);
  return { ...message, blocks: [{ type: "section", text: { type: "mrkdwn", text } }, ...message.blocks] };
}

function failed(
  reply: Exclude<Awaited<ReturnType<SlackApi["call"]>>, { kind: "ok" }> | { kind: "ok" },
): DeliveryOutcome {
  if (reply.kind === "failed") return { ...reply, replied: false };
  return reply.kind === "ok" ? { kind: "sent" } : reply;
}
