// What the larger operations touch in a transaction. A small one names the ports of its subjects itself.
import type { AssistantTx } from "./assistants.ts";
import type { CheckpointTx } from "./checkpoints.ts";
import type { EventTx } from "./events.ts";
import type { KeyTx } from "./identity/keys.ts";
import type { PeopleTx } from "./identity/people.ts";
import type { PolicyTx } from "./inbox/policies.ts";
import type { AuditTx, InterruptTx } from "./interrupts.ts";
import type { IdempotencyTx, QueueTx, RunTx } from "./runs.ts";
import type { FingerprintTx } from "./storage.ts";
import type { TenantTx } from "./tenants.ts";
import type { ThreadTx } from "./threads.ts";
import type { NoticeTx, WebhookTx } from "./webhooks.ts";

/** Whether a person or a key still has a right. */
export type CredentialTx = Pick<PeopleTx, "person"> & Pick<KeyTx, "keysNamed">;

/** The state of a thread, with the graph that wrote it. */
export type StateTx = CheckpointTx & FingerprintTx;

/** A message about an item, to a target or to reviewers. */
export type NotifyTx = WebhookTx & PeopleTx;

/** What is left of a message: the notice that was sent, or another message instead. */
export type DeliveryTx = NotifyTx & NoticeTx & InterruptTx & AssistantTx;

/** The webhooks of a run that ends. */
export type AnnounceTx = ThreadTx & InterruptTx & WebhookTx;

/** The deletion of a thread. */
export type RemovalTx = ThreadTx & RunTx & InterruptTx;

/** The claim of a pending run. */
export type ClaimTx = ThreadTx & RunTx & EventTx & InterruptTx & CheckpointTx & AssistantTx & AuditTx;

/** The end of a run. */
export type EndTx = AnnounceTx & RunTx & QueueTx & CheckpointTx & AssistantTx & PolicyTx;

/** The acceptance of a run, and of the answers that it brings. */
export type AcceptTx = EndTx & EventTx & IdempotencyTx & TenantTx & FingerprintTx & CredentialTx;
