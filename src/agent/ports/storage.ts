// Storage: transactions over everything that a server keeps.
import type { Fingerprint } from "../model/model.ts";
import type { AssistantTx } from "./assistants.ts";
import type { Awaitable } from "./awaitable.ts";
import type { CheckpointTx } from "./checkpoints.ts";
import type { CronTx } from "./crons.ts";
import type { EventTx } from "./events.ts";
import type { InterruptTx } from "./interrupts.ts";
import type { IdempotencyTx, QueueTx, RunTx } from "./runs.ts";
import type { StoreTx } from "./store.ts";
import type { PruneTx, ThreadTx } from "./threads.ts";
import type { WebhookTx } from "./webhooks.ts";

/** What belongs to no thread. */
export interface CatalogueTx {
  fingerprint(hash: string): Awaitable<Fingerprint | null>;
  putFingerprint(fingerprint: Fingerprint, at: number): Awaitable<void>;
  /** Writes something of no meaning: a storage that can take it can take runs. */
  checkWritable(at: number): Awaitable<void>;
}

/**
 * One transaction. It sees its own writes; nobody else does until it is durable.
 * What is awaited inside one is the transaction's own methods and nothing else.
 */
export interface Tx
  extends
    ThreadTx,
    PruneTx,
    RunTx,
    QueueTx,
    IdempotencyTx,
    InterruptTx,
    CheckpointTx,
    EventTx,
    WebhookTx,
    AssistantTx,
    CronTx,
    StoreTx,
    CatalogueTx {}

export interface Storage {
  /**
   * Runs `work` in a transaction and resolves with its result once that is durable.
   * Whatever `work` throws undoes what it wrote and comes out here.
   * @throws {ApiError} `storage_unavailable` when the commit failed: nothing was written.
   */
  transaction<T>(work: (tx: Tx) => Awaitable<T>): Promise<T>;
  /**
   * Runs `work`, which only reads, and on whose findings nothing is changed: it locks nothing and waits for nobody's
   * locks, and what it reads one after the other may be of different moments. It sees what was stored before it.
   */
  read<T>(work: (tx: Tx) => Awaitable<T>): Promise<T>;
  /** As transaction(), but nothing waits for it: it shares the next commit, within a few milliseconds. */
  transactionDeferred<T>(work: (tx: Tx) => Awaitable<T>): Promise<T>;
}
