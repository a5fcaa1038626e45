// Services: interfaces of the parts behind the operations.
import type { TakesBodies } from "@holdpoint/base/http/server/body-turns.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { EventHub } from "../events/event-hub.ts";
import type { InboxFeed } from "../events/inbox-feed.ts";
import type { Run } from "../model/model.ts";
import type { RunEnd, Slot, Tx } from "../ports/ports.ts";
import type { Webhooks } from "../webhooks/webhook-sender.ts";

/** Event logs, as operations read them. */
export type RunEvents = Pick<EventHub, "log" | "wakes" | "stopped" | "onStop" | "goneAt">;

/** Inbox feed, as operations publish to it and subscribe to it. */
export type InboxChanges = Omit<InboxFeed, "close">;

/** Webhooks, as operations check addresses and wake the sender. */
export type WebhookOutbox = Pick<Webhooks, "check" | "wake">;

export interface Worker extends Service {
  /**
   * A free slot for a run at acceptance, or null.
   * @param isRequest the run only asks a person, or takes the answer: it does not wait for slots of long runs
   */
  reserve(isRequest?: boolean): Slot | null;
  /** Signals that a run may be claimable. */
  wake(): void;
  /** Aborts a running run in this or another process. @returns false if the run is not in this process */
  abort(runId: string, reason: "cancel" | "rollback" | "deleted"): boolean;
  /** Aborts on behalf of another process. */
  abortHere(runId: string, reason: "cancel" | "rollback" | "deleted"): boolean;
  /** No other process can execute runs. */
  readonly alone: boolean;
  /** Runs in progress in this process. */
  readonly here: () => readonly string[];
  /** Reports a failed transaction that may have claimed a run. The worker checks for the claim later if necessary. */
  readonly claimFailed: (error: unknown) => void;
  /** The worker id of claims. */
  readonly id: () => string | null;
  readonly ends: RunWaiters;
  readonly draining: () => boolean;
  readonly running: () => number;
  /** Attempts begun in this process since its start. */
  readonly begun: () => number;
  /** Large bodies of calls fit beside the states in progress. */
  readonly takesBodies: TakesBodies;
}

/**
 * Reason for a missing result: the run was deleted, it was requeued for the next process, or its end cannot be stored.
 */
export type GoneReason = "deleted" | "requeued" | "not_stored";

export type WaitResult =
  | { readonly kind: "ended"; readonly end: RunEnd }
  | { readonly kind: "gone"; readonly why: GoneReason };

export interface RunWaiters {
  /** Register before the run can end. @returns the result, and a function for a caller that disconnects */
  wait(runId: string): { readonly result: Promise<WaitResult>; readonly leave: () => void };
  /**
   * Reports the end of a run in this process.
   * @param describe called only if a caller waits
   * @param expected the waiting caller may be in any process, because the run came through the queue or stayed there
   */
  ended(run: Pick<Run, "runId" | "threadId">, describe: () => RunEnd, expected?: boolean): void;
  gone(runId: string, why: GoneReason): void;
  /** Runs with waiting callers in this process. */
  readonly waited: () => readonly string[];
  readonly isWaited: (runId: string) => boolean;
  /** Announces a call that may wait for its run. @returns a function to call after acceptance or refusal */
  expect(): () => void;
  /** Resolves once no caller waits, or is about to. */
  idle(): Promise<void>;
  /** Stops delivering results: current and later waiters are redirected to the next process. */
  close(): void;
  /** Reports the end of a run in another process. */
  endedElsewhere(runId: string, end: RunEnd): void;
  /** Reports a deletion in another process. */
  goneElsewhere(runId: string): void;
}

/** The search index, as searches use it. */
export interface SearchIndex {
  /** Indexes recent changes, so that a search finds them. */
  catchUp(): Promise<void>;
}

export interface QueueLimit {
  /** Called for each run that joins the queue. */
  isFull(tx: Pick<Tx, "countPendingRuns">): Promise<boolean>;
}
