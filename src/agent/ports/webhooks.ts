// Webhooks: what is still to be told, and to whom it may be.
import type { Webhook } from "../model/model.ts";
import type { Awaitable } from "./awaitable.ts";

export interface WebhookTx {
  /** Once per run. */
  putWebhook(webhook: Webhook): Awaitable<void>;
  /** The webhook that is due longest, on none of these hosts, as it is after counting this try and moving it to `until`. */
  claimWebhook(at: number, until: number, hostsExcepted: readonly string[]): Awaitable<Webhook | null>;
  /** When the next webhook is due, on none of these hosts. */
  nextWebhookAt(hostsExcepted: readonly string[]): Awaitable<number | null>;
  delayWebhook(runId: string, dueAt: number): Awaitable<void>;
  deleteWebhook(runId: string): Awaitable<void>;
  countWebhooks(): Awaitable<number>;
}

/** Where webhooks may go, and what goes along. Unless it is opened: public addresses, over https. */
export interface WebhookPolicy {
  readonly requireHttps: boolean;
  readonly domains: readonly string[] | null;
  readonly ports: readonly number[] | null;
  readonly urlUnitsMax: number;
  /** Networks in CIDR form that are allowed although they are not public. */
  readonly networks: readonly string[];
  /** A path without a host names a route of the custom app. */
  readonly ownRoutes: boolean;
  /** Sent to `headerDomains` only: they may hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names as in `domains`. */
  readonly headerDomains: readonly string[];
}
