// All operations on cold tables, which both storages share.
import type {
  AssistantTx,
  CronTx,
  ErasureTx,
  FingerprintTx,
  IdempotencyTx,
  KeyTx,
  NoticeTx,
  PeopleTx,
  PolicyTx,
  PruneTx,
  SealingTx,
  SessionTx,
  SocketTicketTx,
  TenantTx,
  WebhookTx,
} from "../../ports/ports.ts";
import { assistantVerbs } from "./assistants.ts";
import { callVerbs } from "./calls.ts";
import type { ColdSql } from "./cold-sql.ts";
import { cronVerbs } from "./crons.ts";
import { erasureVerbs } from "./erasure.ts";
import { fingerprintVerbs } from "./fingerprints.ts";
import { keyVerbs } from "./keys.ts";
import { noticeVerbs } from "./notices.ts";
import { peopleVerbs } from "./people.ts";
import { policyVerbs } from "./policies.ts";
import { pruneVerbs } from "./prune.ts";
import { sealingVerbs } from "./sealing.ts";
import { sessionVerbs } from "./sessions.ts";
import { tenantVerbs } from "./tenants.ts";
import { webhookVerbs } from "./webhooks.ts";

export type ColdTx = AssistantTx &
  CronTx &
  ErasureTx &
  FingerprintTx &
  IdempotencyTx &
  KeyTx &
  NoticeTx &
  PeopleTx &
  PolicyTx &
  PruneTx &
  SealingTx &
  SessionTx &
  SocketTicketTx &
  TenantTx &
  WebhookTx;

/** The operations on the tables of this folder. */
export function coldVerbs(sql: ColdSql): ColdTx {
  return {
    ...assistantVerbs(sql),
    ...callVerbs(sql),
    ...cronVerbs(sql),
    ...erasureVerbs(sql),
    ...fingerprintVerbs(sql),
    ...keyVerbs(sql),
    ...noticeVerbs(sql),
    ...peopleVerbs(sql),
    ...policyVerbs(sql),
    ...pruneVerbs(sql),
    ...sealingVerbs(sql),
    ...sessionVerbs(sql),
    ...tenantVerbs(sql),
    ...webhookVerbs(sql),
  };
}
