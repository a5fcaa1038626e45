// Outbox attempt: one attempt to deliver claimed rows, and the change of the rows that follows from its result.
// Invariants:
//   - A delivered or exhausted row is deleted; every other one stays, with a later due time.
//   outbox-attempt.2. A destination over its limit costs no attempt.
//   outbox-attempt.4. A destination that asks for a wait is not tried before.
//   - The results of a delivery are stored in the transaction that deletes its rows.
import { backoffMs } from "@holdpoint/base/backoff.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Webhook } from "../model/model.ts";
import type { Storage } from "../ports/ports.ts";
import type { DeliveryOutcome } from "./delivery.ts";

export interface AttemptRules {
  readonly attemptsMax: number;
  /** Delay after the first failure; doubles with each further one. */
  readonly retryMs: number;
}

export interface AttemptPorts {
  readonly storage: Pick<Storage, "transaction">;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly onOutcome: (outcome: "sent" | "failed" | "given_up") => void;
}

const RETRY_MS_MAX = 60 * 60 * 1000;

/** Stores the result of an attempt. */
export async function settle(
  rows: readonly Webhook[],
  outcome: DeliveryOutcome,
  { attemptsMax, retryMs }: AttemptRules,
  ports: AttemptPorts,
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const { storage, clock, log, onOutcome } = ports;
  const attempts = Math.max(...rows.map((row) => row.attempts));
  const { runId, host, channel } = first;
  const fields = { run_id: runId, host, attempts, ...(channel === "http" ? {} : { channel, rows: rows.length }) };
  if (outcome.kind === "sent") {
    onOutcome("sent");
    log.debug("webhook_sent", fields);
    await storage.transaction(async (tx) => {
      await outcome.record?.(tx);
      for (const row of rows) await tx.deleteWebhook(row.runId);
    });
    return;
  }
  if (outcome.kind === "limited") {
    log.info("webhook_limited", { ...fields, wait_ms: outcome.afterMs });
    const dueAt = clock.now() + outcome.afterMs;
    await storage.transaction(async (tx) => {
      for (const row of rows) await tx.delayWebhook(row.runId, dueAt, row.attempts - 1); // outbox-attempt.2
    });
    return;
  }
  const given = rows.filter((row) => outcome.kind === "refused" || row.attempts >= attemptsMax);
  const kept = rows.filter((row) => !given.includes(row));
  if (given.length > 0) {
    onOutcome("given_up");
    log.warning("webhook_given_up", { ...fields, reason: outcome.reason });
  } else {
    onOutcome("failed");
    log.info("webhook_failed", { ...fields, reason: outcome.reason });
  }
  const waitMs = backoffMs(attempts, { baseMs: retryMs, maxMs: RETRY_MS_MAX, random: ports.random });
  const askedMs = outcome.kind === "failed" ? (outcome.afterMs ?? 0) : 0;
  const dueAt = clock.now() + Math.ceil(Math.max(waitMs, askedMs)); // outbox-attempt.4
  await storage.transaction(async (tx) => {
    if (outcome.kind === "refused") await outcome.record?.(tx);
    for (const row of given) await tx.deleteWebhook(row.runId);
    for (const row of kept) await tx.delayWebhook(row.runId, dueAt);
  });
}
