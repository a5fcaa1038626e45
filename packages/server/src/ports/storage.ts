// Storage port: transactions over all data of the server.
import type { Fingerprint } from "../model/model.ts";
import type { AssistantTx } from "./assistants.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";
import type { CheckpointTx } from "./checkpoints.ts";
import type { CronTx } from "./crons.ts";
import type { ErasureTx } from "./erasure.ts";
import type { KeyTx } from "./identity/keys.ts";
import type { PeopleTx } from "./identity/people.ts";
import type { SessionTx } from "./identity/sessions.ts";
import type { EventTx, SocketTicketTx } from "./events.ts";
import type { PolicyTx } from "./inbox/policies.ts";
import type { SearchTx } from "./inbox/search.ts";
import type { InterruptTx } from "./interrupts.ts";
import type { IdempotencyTx, QueueTx, RunTx } from "./runs.ts";
import type { SealingTx } from "./sealing.ts";
import type { StoreTx } from "./store.ts";
import type { TenantTx } from "./tenants.ts";
import type { CopyTx, PruneTx, ThreadTx } from "./threads.ts";
import type { NoticeTx, WebhookTx } from "./webhooks.ts";

/** Data that belongs to no thread. */
export interface FingerprintTx {
  fingerprint(hash: string): Awaitable<Fingerprint | null>;
  putFingerprint(fingerprint: Fingerprint, at: number): Awaitable<void>;
  /** Test write without meaning: a storage that accepts it can accept runs. */
  checkWritable(at: number): Awaitable<void>;
}

/**
 * One transaction. It sees its own writes; others see them once they are durable. Inside a transaction, await only
 * methods of the transaction.
 */
export interface Tx
  extends
    ThreadTx,
    CopyTx,
    PruneTx,
    SealingTx,
    ErasureTx,
    RunTx,
    QueueTx,
    IdempotencyTx,
    InterruptTx,
    PolicyTx,
    SearchTx,
    CheckpointTx,
    EventTx,
    SocketTicketTx,
    WebhookTx,
    NoticeTx,
    AssistantTx,
    CronTx,
    StoreTx,
    TenantTx,
    PeopleTx,
    SessionTx,
    KeyTx,
    FingerprintTx {}

/** Reads whose time grows with the rows that they look at, not with those that they return. */
export type LongRead =
  | "searchThreadIds"
  | "countThreads"
  | "inbox"
  | "countInbox"
  | "tallyInbox"
  | "tallyMetadata"
  | "searchAudit"
  | "auditHeads"
  | "auditLinks"
  | "unchainedAudit"
  | "searchAssistants"
  | "countAssistants"
  | "searchCrons"
  | "countCrons"
  | "newestStoreItems"
  | "nearestStoreItems"
  | "storeNamespaces"
  | "storedBytes";

export type LongReads = {
  readonly [Verb in LongRead]: (...given: Parameters<Tx[Verb]>) => Promise<Awaited<ReturnType<Tx[Verb]>>>;
};

export interface Storage {
  /**
   * Long reads, each by itself, as by `read`. They do not hold the event loop.
   * @throws {ApiError} `read_too_slow`
   */
  readonly longReads: LongReads;
  /**
   * Runs `work` in a transaction and resolves with its result once the writes are durable. An error from `work` rolls
   * back the transaction and rejects the promise.
   * @throws {ApiError} `storage_unavailable` if the commit failed, with nothing written
   */
  transaction<T>(work: (tx: Tx) => Awaitable<T>): Promise<T>;
  /**
   * Runs read-only `work`. It takes no locks and waits for none. Successive reads may observe different moments. It
   * sees all data stored before the call. Do not base writes on the result.
   */
  read<T>(work: (tx: Tx) => Awaitable<T>): Promise<T>;
  /** @returns whether what was deleted is in no file of the embedded database any more: no long reader needed it */
  scrub(): Promise<boolean>;
  /** Like transaction(), for writes without a waiting caller: it joins the next commit within a few milliseconds. */
  transactionDeferred<T>(work: (tx: Tx) => Awaitable<T>): Promise<T>;
}
