// Webhook sender: delivers the outbox until each row is accepted or has exhausted its attempts. HTTP is a channel of its
// own; the other channels are functions that it is given.
// Invariants:
//   webhook-sender.1. At-least-once delivery: a row is deleted after its delivery or the last attempt, and at no other
//     time. All attempts have the same event id.
//   - A delivery changes no run. A failure affects only its attempt.
//   - Attempts alternate between destinations, so that hanging receivers do not delay others (webhook-slots.ts).
//   - The address is checked when the run is accepted, and again at each attempt (base/http/outbound/guarded-post.ts).
//   webhook-sender.5. Due rows of one batch leave as one delivery. Each row is deleted with the delivery that has it, so
//     a row that joins the batch meanwhile is in the next one.
//   webhook-sender.6. A host over its limit rests, with all its rows. So does one that asks for a wait (Retry-After).
//   webhook-sender.8. Failed attempts at one host are one line of the log a minute.
//   webhook-sender.7. A receiver that is gone (410) is not tried again.
import type { Clock } from "@holdpoint/base/clock.ts";
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import { createDeduplicatingLog, type DeduplicatingLog } from "@holdpoint/base/log/deduplicating-log.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Post, PostLimits, PostOutcome } from "@holdpoint/base/http/outbound/guarded-post.ts";
import { checkOutboundUrl } from "@holdpoint/base/http/outbound/outbound-url.ts";
import type { Webhook } from "../model/model.ts";
import type { Storage, WebhookPolicy } from "../ports/ports.ts";
import type { Channels, DeliveryOutcome } from "./delivery.ts";
import { settle } from "./outbox-attempt.ts";
import { webhookRequest } from "./webhook-request.ts";
import { createWebhookSlots } from "./webhook-slots.ts";

export interface WebhookOptions {
  readonly policy: WebhookPolicy;
  /** Signs the events; null sends them unsigned. */
  readonly secret: string | null;
  readonly attemptsMax: number;
  /** Delay after the first failure; doubles with each further one. */
  readonly retryMs: number;
  readonly userAgent: string;
}

export interface WebhookPorts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly post: (post: Post, policy: WebhookPolicy, limits: PostLimits, signal: AbortSignal) => Promise<PostOutcome>;
  /** The custom app has a route of its own for a POST to this path. */
  readonly isOwnRoute: (path: string) => boolean;
  readonly onOutcome: (outcome: "sent" | "failed" | "given_up") => void;
  readonly channels: Channels;
}

export interface Webhooks extends Service {
  /**
   * @param own a path may name a route of the custom app
   * @throws {ApiError} `webhook_refused` if the address is not allowed, as far as its text shows
   */
  check(url: string, own: boolean): void;
  /** Signals that the outbox may have a due row. */
  wake(): void;
}

const LIMITS: PostLimits = { timeoutMs: 10_000, replyBytesMax: 64 * 1024 };
/** An attempt without an end by then died with its process. */
const LEASE_MS = LIMITS.timeoutMs + 5000;
const BATCH_MAX = 20;
const AGAIN_MS = 1000;
const FAILURES_LOGGED_MS = 60_000;

export function createWebhooks(options: WebhookOptions, ports: WebhookPorts): Webhooks {
  const { policy } = options;
  const { storage, clock, log } = ports;
  const inFlight = new Map<string, Promise<void>>();
  const stopped = new AbortController();
  let stopTimer: () => void = () => undefined;
  let claiming = false;
  let woken = false;

  const quiet = createQuietLog(log, clock);
  const claimAll = async (): Promise<void> => {
    while (woken && !stopped.signal.aborted && turns.free()) {
      woken = false;
      stopTimer();
      const at = clock.now();
      const hosts = turns.full(); // webhook-sender.6
      const { rows, nextAt } = await claim(storage, at, hosts);
      if (rows !== null) {
        begin(rows);
        woken = true;
      } else if (nextAt !== null) stopTimer = clock.after(Math.max(nextAt - at, 0), wake);
    }
  };

  const wake = (): void => {
    woken = true;
    if (claiming || stopped.signal.aborted) return;
    claiming = true;
    claimAll()
      .catch((error: unknown) => {
        log.error("webhook_claim_failed", { reason: describeError(error).message });
        stopTimer = clock.after(AGAIN_MS, wake);
      })
      .finally(() => {
        claiming = false;
        if (woken && turns.free()) wake(); // woken meanwhile
      });
  };

  const turns = createWebhookSlots(clock, wake);

  /** @returns whether the destination replied */
  const attempt = async (rows: Claimed): Promise<boolean> => {
    const outcome = await deliver(rows, options, ports, stopped.signal);
    if ("afterMs" in outcome) turns.rest(rows[0].host, outcome.afterMs ?? 0); // webhook-sender.6
    await settle(rows, outcome, options, { ...ports, log: quiet });
    return outcome.kind !== "failed" || outcome.replied;
  };

  const begin = (rows: Claimed): void => {
    const [{ host, runId }] = rows;
    const endTurn = turns.begin(host);
    const done = attempt(rows)
      .catch((error: unknown) => {
        // webhook-sender.1: retried
        log.error("webhook_not_stored", { run_id: runId, reason: describeError(error).message });
        return false;
      })
      .then((replied) => {
        inFlight.delete(runId);
        endTurn(replied);
        wake();
      });
    inFlight.set(runId, done);
  };

  return {
    name: "webhooks",
    wake,
    check: (url, own) => checkAddress(url, own, policy, ports.isOwnRoute),
    start: async () => wake(),
    async stop() {
      stopTimer();
      turns.close();
      stopped.abort(); // interrupted attempts repeat after the next start: webhook-sender.1
      await Promise.all(inFlight.values());
      quiet.flush();
    },
  };
}

/** webhook-sender.8. */
function createQuietLog(log: Log, clock: Clock): DeduplicatingLog {
  const repeated = createDeduplicatingLog(log, clock, FAILURES_LOGGED_MS);
  return { ...log, info: (event, fields) => repeated.info(event, fields), flush: repeated.flush };
}

/** Rows of one delivery. */
type Claimed = readonly [Webhook, ...Webhook[]];

/** @returns due rows; without any, the time of the next one */
async function claim(
  storage: Storage,
  at: number,
  hostsExcepted: readonly string[],
): Promise<{ readonly rows: Claimed | null; readonly nextAt: number | null }> {
  const until = at + LEASE_MS;
  return storage.transaction(async (tx) => {
    const claimed = await tx.claimWebhook(at, until, hostsExcepted);
    if (claimed === null) return { rows: null, nextAt: await tx.nextWebhookAt(hostsExcepted) };
    const { batch } = claimed;
    const others = batch === null ? [] : await tx.claimBatch(batch, { at, until, limit: BATCH_MAX - 1 });
    return { rows: [claimed, ...others], nextAt: null };
  });
}

async function deliver(
  rows: Claimed,
  options: WebhookOptions,
  ports: WebhookPorts,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const [first] = rows;
  const { channel } = first;
  if (channel === "http") return postIt(first, options, ports, signal);
  const send = ports.channels[channel];
  if (send === undefined) return { kind: "refused", reason: `this process has no settings for ${channel}` };
  const deadline = new AbortController();
  const cancelTimer = ports.clock.after(LIMITS.timeoutMs, () => deadline.abort());
  try {
    return await send(rows, AbortSignal.any([signal, deadline.signal]));
  } catch (error) {
    return { kind: "failed", reason: describeError(error).message, replied: false };
  } finally {
    cancelTimer();
  }
}

/** One HTTP delivery. */
async function postIt(
  webhook: Webhook,
  options: WebhookOptions,
  { clock, post }: WebhookPorts,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const outcome = await post(webhookRequest(webhook, options, clock.now()), options.policy, LIMITS, signal);
  if (outcome.kind === "failed") return { ...outcome, replied: false };
  if (outcome.kind === "refused") return outcome;
  if (outcome.status >= 200 && outcome.status < 300) return { kind: "sent" };
  const reason = `status ${outcome.status}`;
  if (outcome.status === 410) return { kind: "refused", reason }; // webhook-sender.7
  const { afterMs } = outcome;
  return { kind: "failed", reason, replied: true, ...(afterMs === undefined ? {} : { afterMs }) };
}

/** @throws {ApiError} `webhook_refused` */
function checkAddress(url: string, own: boolean, policy: WebhookPolicy, isOwnRoute: (path: string) => boolean): void {
  if (own && url.startsWith("/") && policy.ownRoutes && url.length <= policy.urlUnitsMax) {
    const path = url.split(/[?#]/)[0] ?? url;
    if (isOwnRoute(path)) return;
    throw new ApiError("webhook_refused", "The webhook path is not allowed: http.app has no POST route for it.");
  }
  const checked = checkOutboundUrl(url, policy);
  if (checked.kind === "allowed") return;
  throw new ApiError("webhook_refused", `The webhook address is not allowed: ${checked.reason}.`);
}
