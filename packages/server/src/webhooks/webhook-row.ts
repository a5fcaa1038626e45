// Webhook row: one delivery by HTTP in the outbox.
import type { Run, Webhook } from "../model/model.ts";

interface Delivery extends Pick<Webhook, "url" | "headers" | "body"> {
  readonly id: string;
}

export function buildWebhookRow(
  { updatedAt: at }: Pick<Run, "updatedAt">,
  { id, url, headers, body }: Delivery,
): Webhook {
  const host = url.startsWith("/") ? "" : new URL(url).host; // "": a route of the custom app
  return { runId: id, url, host, body, headers, channel: "http", batch: null, attempts: 0, dueAt: at, createdAt: at };
}

/** First member of an event, filled in with the time of each attempt by webhook-sender.ts. */
export const STAMPED = '{"webhook_sent_at":"",';
