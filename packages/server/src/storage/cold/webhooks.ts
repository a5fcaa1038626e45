// Outbox: deliveries, and webhooks that were added to runs.
// Invariants:
//   - Rows of the outbox carry no thread id: a webhook about a run outlives the run's thread.
//   - Servers that search for work at the same time each get a different webhook.
import type { RunWebhook, Webhook } from "../../model/model.ts";
import type { WebhookTx } from "../../ports/ports.ts";
import { RUN_WEBHOOK_COLUMNS, WEBHOOK_COLUMNS } from "../shared/columns.ts";
import { type ColdSql, coldTable, readNumber } from "./cold-sql.ts";

export function webhookVerbs(sql: ColdSql): WebhookTx {
  const { schema } = sql;
  const webhooks = coldTable<Webhook>(sql, "webhooks", WEBHOOK_COLUMNS);
  const runWebhooks = coldTable<RunWebhook>(sql, "run_webhooks", RUN_WEBHOOK_COLUMNS);
  const claim = (chosen: string): string =>
    `UPDATE ${schema}webhooks SET attempts = attempts + 1, due_at = ? WHERE run_id ${chosen} RETURNING ${webhooks.columns}`;
  const others = `NOT (${sql.isOneOf("host")})`;
  const oldest = `= (SELECT run_id FROM ${schema}webhooks WHERE due_at <= ? AND ${others}
    ORDER BY due_at, run_id LIMIT 1 ${sql.skipLocked})`;
  const oldestOfBatch = `IN (SELECT run_id FROM ${schema}webhooks WHERE batch = ? AND due_at <= ?
    ORDER BY due_at, created_at, run_id LIMIT ? ${sql.skipLocked})`;
  return {
    putWebhook: (webhook) => webhooks.insert(webhook, "ON CONFLICT DO NOTHING"),
    async claimWebhook(at, until, hostsExcepted) {
      const [row] = await sql.change(claim(oldest), until, at, hostsExcepted);
      return row === undefined ? null : webhooks.read(row);
    },
    async claimBatch(batch, { at, until, limit }) {
      const rows = await sql.change(claim(oldestOfBatch), until, batch, at, limit);
      return rows.map(webhooks.read).toSorted(compareCreation);
    },
    async nextWebhookAt(hostsExcepted) {
      const next = `SELECT due_at FROM ${schema}webhooks WHERE ${others} ORDER BY due_at, run_id LIMIT 1`;
      const row = await sql.get(next, hostsExcepted);
      return row === null ? null : Number(row["due_at"]);
    },
    delayWebhook: (runId, dueAt, attempts) =>
      webhooks.patch("run_id", runId, attempts === undefined ? { dueAt } : { dueAt, attempts }),
    deleteWebhook: (runId) => sql.run(`DELETE FROM ${schema}webhooks WHERE run_id = ?`, runId),
    countWebhooks: () => readNumber(sql, `SELECT count(*) AS n FROM ${schema}webhooks`),
    putRunWebhook: (webhook) => runWebhooks.insert(webhook, runWebhooks.replacing("thread_id", "run_id", "webhook_id")),
    async runWebhooks(threadId, runId) {
      const where = "WHERE thread_id = ? AND run_id = ? ORDER BY created_at, webhook_id";
      return (await sql.all(`${runWebhooks.select} ${where}`, threadId, runId)).map(runWebhooks.read);
    },
    deleteRunWebhook(threadId, runId, webhookId) {
      const where = "WHERE thread_id = ? AND run_id = ? AND webhook_id = ?";
      sql.run(`DELETE FROM ${schema}run_webhooks ${where}`, threadId, runId, webhookId);
    },
  };
}

/** Rows of one message are read in the order in which their events happened. */
function compareCreation(one: Webhook, other: Webhook): number {
  return one.createdAt - other.createdAt || (one.runId < other.runId ? -1 : 1);
}
