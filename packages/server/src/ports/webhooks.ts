// Storage port for the outbox and the messages that follow their items, and the policy for destinations of webhooks.
import type { Notice, RunWebhook, Webhook } from "../model/model.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

export interface WebhookTx {
  /** Idempotent per run. */
  putWebhook(webhook: Webhook): Awaitable<void>;
  /** Claims the longest-due webhook outside these hosts: counts the attempt and moves the row to `until`. */
  claimWebhook(at: number, until: number, hostsExcepted: readonly string[]): Awaitable<Webhook | null>;
  /** Claims further due rows of a batch, those that are due longest. @returns them in the order of their creation */
  claimBatch(batch: string, claim: BatchClaim): Awaitable<readonly Webhook[]>;
  /** Next due time outside these hosts. */
  nextWebhookAt(hostsExcepted: readonly string[]): Awaitable<number | null>;
  /** @param attempts replaces the count, for an attempt that does not count */
  delayWebhook(runId: string, dueAt: number, attempts?: number): Awaitable<void>;
  deleteWebhook(runId: string): Awaitable<void>;
  countWebhooks(): Awaitable<number>;
  /** Replaces one with the same id. */
  putRunWebhook(webhook: RunWebhook): Awaitable<void>;
  /** Webhooks of a run and the runs that continue it, by the first of them; oldest first. */
  runWebhooks(threadId: string, runId: string): Awaitable<readonly RunWebhook[]>;
  deleteRunWebhook(threadId: string, runId: string, webhookId: string): Awaitable<void>;
}

export interface BatchClaim {
  readonly at: number;
  readonly until: number;
  readonly limit: number;
}

export interface NoticeTx {
  /** Replaces the one with the same id. */
  putNotice(notice: Notice): Awaitable<void>;
  listNotices(threadId: string, interruptId: string): Awaitable<readonly Notice[]>;
  /** Notices that show an open item which is answered, abandoned or deleted. */
  staleNotices(limit: number): Awaitable<readonly Notice[]>;
  deleteNoticesBefore(createdAt: number): Awaitable<void>;
  isSpent(token: string): Awaitable<boolean>;
  /** Marks a one-use token, and removes those that expired before `at`. @returns false if it was marked already */
  spendToken(token: string, expiresAt: number, at: number): Awaitable<boolean>;
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
