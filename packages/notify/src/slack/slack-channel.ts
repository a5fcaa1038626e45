// Slack channel: rows of the outbox → messages of the app, and their updates.
// Invariants:
//   slack-channel.1. An item that is no longer open is not asked about. Its messages are updated instead.
//   slack-channel.2. A message and its record are two steps: after a crash in between it is sent again. Both messages
//     lead to the same item, which takes one answer.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Interrupt } from "@holdpoint/server/model/model.ts";
import type { SlackApi, Storage } from "@holdpoint/server/ports/ports.ts";
import type { Deliver, DeliveryOutcome } from "@holdpoint/server/webhooks/delivery.ts";
import type { SlackMessage } from "@holdpoint/server/webhooks/slack-message.ts";
import type { MessageBody } from "../items/open-items.ts";
import { openItems } from "../items/open-items.ts";
import type { Members } from "./members.ts";
import { askMessage, endMessage, listMessage } from "./messages.ts";
import { recordNotice, type UpdateBody } from "./notices.ts";

export interface SlackChannelPorts {
  readonly storage: Pick<Storage, "transaction">;
  readonly slack: SlackApi;
  readonly members: Members;
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
  if (only === undefined) return { kind: "sent" }; // slack-channel.1
  let channel = bodies[0]?.to ?? "";
  if (channel.includes("@")) {
    const found = await members.findMemberId(channel, signal);
    if (found.kind !== "found") return failed(found);
    channel = found.id;
  }
  const message: SlackMessage =
    items.length === 1 ? askMessage(only, buildLink(only), answers) : listMessage(items, buildLink);
  const reply = await slack.call("chat.postMessage", { channel, unfurl_links: false, ...message }, signal);
  if (reply.kind !== "ok") return failed(reply);
  const { channel: where, ts } = reply.body;
  if (items.length > 1 || typeof where !== "string" || typeof ts !== "string") return { kind: "sent" };
  const at = clock.now();
  return { kind: "sent", record: (tx) => recordNotice(tx, only, { channel: where, ts }, { host: slack.host, at }) };
}

function failed(
  reply: Exclude<Awaited<ReturnType<SlackApi["call"]>>, { kind: "ok" }> | { kind: "ok" },
): DeliveryOutcome {
  if (reply.kind === "failed") return { ...reply, replied: false };
  return reply.kind === "ok" ? { kind: "sent" } : reply;
}
