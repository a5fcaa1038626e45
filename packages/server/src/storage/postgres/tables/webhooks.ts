// Outbox in PostgreSQL: deliveries, webhooks that were added to runs, notices, one-use tokens.
// Invariants:
//   postgres/webhooks.1. Rows of the outbox carry no thread id: a webhook about a run outlives the run's thread.
//   postgres/webhooks.2. Servers that search for work at the same time each get a different webhook.
//   postgres/webhooks.3. Of servers that spend a token at the same time, one succeeds.
import type { Notice, RunWebhook, Webhook } from "../../../model/model.ts";
import type { NoticeTx, WebhookTx } from "../../../ports/ports.ts";
import { inOrderOfCreation } from "../../shared/outbox-order.ts";
import { NOTICE_COLUMNS, RUN_WEBHOOK_COLUMNS, WEBHOOK_COLUMNS } from "../../shared/columns.ts";
import { table } from "./shared/rows.ts";
import type { Sql } from "../client/transaction.ts";

const WEBHOOKS = table<Webhook>("webhooks", WEBHOOK_COLUMNS);
const RUN_WEBHOOKS = table<RunWebhook>("run_webhooks", RUN_WEBHOOK_COLUMNS);
const NOTICES = table<Notice>("notices", NOTICE_COLUMNS);

export function outboxVerbs(db: Sql): WebhookTx & NoticeTx {
  return { ...webhookVerbs(db), ...noticeVerbs(db) };
}

function webhookVerbs(db: Sql): WebhookTx {
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

function noticeVerbs(db: Sql): NoticeTx {
  return {
    putNotice: (notice) => NOTICES.insert(db, [notice], NOTICES.replacing("notice_id")),
    async noticesOf(threadId, interruptId) {
      const rows = await db.all(
        `SELECT ${NOTICES.columns} FROM holdpoint.notices WHERE thread_id = $1 AND interrupt_id = $2
         ORDER BY created_at, notice_id`,
        threadId,
        interruptId,
      );
      return rows.map(NOTICES.read);
    },
    async staleNotices(limit) {
      const rows = await db.all(
        `SELECT ${NOTICES.columnsOf("n")} FROM holdpoint.notices AS n
         LEFT JOIN holdpoint.interrupts AS i ON i.thread_id = n.thread_id AND i.interrupt_id = n.interrupt_id
         WHERE n.shown = 'open' AND (i.state IS NULL OR i.state <> 'open') ORDER BY n.created_at LIMIT $1`,
        limit,
      );
      return rows.map(NOTICES.read);
    },
    deleteNoticesBefore(createdAt) {
      db.run("DELETE FROM holdpoint.notices WHERE shown = 'closed' AND created_at < $1", createdAt);
    },
    async isSpent(token) {
      return (await db.get("SELECT 1 AS found FROM holdpoint.spent_tokens WHERE token = $1", token)) !== null;
    },
    async spendToken(token, expiresAt, at) {
      db.run("DELETE FROM holdpoint.spent_tokens WHERE expires_at < $1", at);
      const sql = "INSERT INTO holdpoint.spent_tokens (token, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
      return (await db.count(sql, token, expiresAt)) > 0; // postgres/webhooks.3
    },
  };
}
