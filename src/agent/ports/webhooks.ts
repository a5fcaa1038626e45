// Storage port for the webhook outbox, and the policy for destinations.
import type { RunWebhook, Webhook } from "../model/model.ts";
import type { Awaitable } from "./awaitable.ts";

export interface WebhookTx {
  /** Idempotent per run. */
  putWebhook(webhook: Webhook): Awaitable<void>;
  /** Claims the longest-due webhook outside these hosts: counts the attempt and moves the row to `until`. */
  claimWebhook(at: number, until: number, hostsExcepted: readonly string[]): Awaitable<Webhook | null>;
  /** Next due time outside these hosts. */
  nextWebhookAt(hostsExcepted: readonly string[]): Awaitable<number | null>;
  delayWebhook(runId: string, dueAt: number): Awaitable<void>;
  deleteWebhook(runId: string): Awaitable<void>;
  countWebhooks(): Awaitable<number>;
  /** Replaces one with the same id. */
  putRunWebhook(webhook: RunWebhook): Awaitable<void>;
  /** Of a run and the runs that continue it, by the first of them; oldest first. */
  runWebhooks(threadId: string, runId: string): Awaitable<readonly RunWebhook[]>;
  deleteRunWebhook(threadId: string, runId: string, webhookId: string): Awaitable<void>;
}

/** Allowed destinations and their headers. By default: public addresses over https. */
export interface WebhookPolicy {
  readonly requireHttps: boolean;
  readonly domains: readonly string[] | null;
  readonly ports: readonly number[] | null;
  readonly urlUnitsMax: number;
  /** Allowed private networks in CIDR form. */
  readonly networks: readonly string[];
  /** A path without a host refers to a route of the custom app. */
  readonly ownRoutes: boolean;
  /** Sent only to `headerDomains`, because they may contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Same syntax as `domains`. */
  readonly headerDomains: readonly string[];
}
