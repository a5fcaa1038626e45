// Outbox in PostgreSQL: deliveries, and webhooks that were added to runs.
// Invariants:
//   postgres/webhooks.1. Rows of the outbox carry no thread id: a webhook about a run outlives the run's thread.
//   postgres/webhooks.2. Servers that search for work at the same time each get a different webhook.
import type { RunWebhook, Webhook } from "../../../model/model.ts";
import type { WebhookTx } from "../../../ports/ports.ts";
import { inOrderOfCreation } from "../../shared/outbox-order.ts";
import { RUN_WEBHOOK_COLUMNS, WEBHOOK_COLUMNS } from "../../shared/columns.ts";
import { table } from "./shared/rows.ts";
import type { Sql } from "../client/transaction.ts";

const WEBHOOKS = table<Webhook>("webhooks", WEBHOOK_COLUMNS);
const RUN_WEBHOOKS = table<RunWebhook>("run_webhooks", RUN_WEBHOOK_COLUMNS);

export function webhookVerbs(db: Sql): WebhookTx {
  return {
    putWebhook: (webhook) => WEBHOOKS.insert(db, [webhook], "DO NOTHING"),
    async claimWebhook(at, until, hostsExcepted) {
      const [row] = await db.change(
        `UPDATE holdpoint.webhooks SET attempts = attempts + 1, due_at = $2 WHERE run_id = (
           SELECT run_id FROM holdpoint.webhooks WHERE due_at <= $1 AND host <> ALL($3::text[])
           ORDER BY due_at, run_id LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING ${WEBHOOKS.columns}`, // postgres/webhooks.2
        at,
        until,
        hostsExcepted,
      );
      return row === undefined ? null : WEBHOOKS.read(row);
    },
    async claimBatch(batch, { at, until, limit }) {
      const rows = await db.change(
        `UPDATE holdpoint.webhooks SET attempts = attempts + 1, due_at = $3 WHERE run_id IN (
           SELECT run_id FROM holdpoint.webhooks WHERE batch = $1 AND due_at <= $2
           ORDER BY due_at, created_at, run_id LIMIT $4 FOR UPDATE SKIP LOCKED)
         RETURNING ${WEBHOOKS.columns}`, // postgres/webhooks.2
        batch,
        at,
        until,
        limit,
      );
      return inOrderOfCreation(rows.map(WEBHOOKS.read));
    },
    async nextWebhookAt(hostsExcepted) {
      const row = await db.get(
        "SELECT due_at FROM holdpoint.webhooks WHERE host <> ALL($1::text[]) ORDER BY due_at, run_id LIMIT 1",
        hostsExcepted,
      );
      return row === null ? null : Number(row["due_at"]);
    },
    delayWebhook(runId, dueAt, attempts) {
      WEBHOOKS.patch(db, "run_id", runId, attempts === undefined ? { dueAt } : { dueAt, attempts });
    },
    deleteWebhook(runId) {
      db.run("DELETE FROM holdpoint.webhooks WHERE run_id = $1", runId);
    },
    async countWebhooks() {
      return Number((await db.get("SELECT count(*) AS n FROM holdpoint.webhooks"))?.["n"]);
    },
    putRunWebhook: (webhook) =>
      RUN_WEBHOOKS.insert(db, [webhook], RUN_WEBHOOKS.replacing("thread_id", "run_id", "webhook_id")),
    async runWebhooks(threadId, runId) {
      const rows = await db.all(
        `SELECT ${RUN_WEBHOOKS.columns} FROM holdpoint.run_webhooks WHERE thread_id = $1 AND run_id = $2
         ORDER BY created_at, webhook_id`,
        threadId,
        runId,
      );
      return rows.map(RUN_WEBHOOKS.read);
    },
    deleteRunWebhook(threadId, runId, webhookId) {
      const key = [threadId, runId, webhookId];
      db.run("DELETE FROM holdpoint.run_webhooks WHERE thread_id = $1 AND run_id = $2 AND webhook_id = $3", ...key);
    },
  };
}
