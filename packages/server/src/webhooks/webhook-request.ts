// Webhook request: body, headers and signature of one HTTP delivery. Pure.
// Invariant:
//   - The deployment's headers go only to the domains listed for them, never to an address that only a caller named.
import { createHmac } from "node:crypto";
import { isoTime } from "@holdpoint/base/clock.ts";
import type { Post } from "@holdpoint/base/http/outbound/guarded-post.ts";
import { isNamed } from "@holdpoint/base/http/outbound/outbound-url.ts";
import type { Webhook } from "../model/model.ts";
import type { WebhookPolicy } from "../ports/ports.ts";
import { STAMPED } from "./webhook-row.ts";

export interface RequestOptions {
  readonly policy: WebhookPolicy;
  /** null: unsigned. */
  readonly secret: string | null;
  readonly userAgent: string;
}

/** Follows the Standard Webhooks specification, so that receivers can use its libraries. */
export function webhookRequest(webhook: Webhook, { policy, secret, userAgent }: RequestOptions, now: number): Post {
  const id = webhook.runId;
  const timestamp = Math.floor(now / 1000);
  const stamp = `{"webhook_sent_at":"${isoTime(now)}",`;
  const body = webhook.body.startsWith(STAMPED) ? `${stamp}${webhook.body.slice(STAMPED.length)}` : webhook.body;
  const signature = secret === null ? null : sign(secret, `${id}.${timestamp}.${body}`);
  return {
    url: webhook.url,
    body,
    headers: {
      ...lowerCased(webhook.headers),
      ...(isNamed(webhook.url, policy.headerDomains) ? lowerCased(policy.headers) : {}),
      "content-type": "application/json",
      "user-agent": userAgent,
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      ...(signature === null ? {} : { "webhook-signature": `v1,${signature}` }),
    },
  };
}

/** Two spellings of a name would be two headers. */
function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const SECRET_PREFIX = "whsec_";

/** @param secret any text, or `whsec_` and base64 as other senders issue it */
function sign(secret: string, text: string): string {
  const key = secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), "base64")
    : Buffer.from(secret);
  return createHmac("sha256", key).update(text).digest("base64");
}
