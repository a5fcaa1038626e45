// Webhooks in SQLite: the outbox, and webhooks that were added to runs.
// Invariant sqlite/webhooks.1: rows of the outbox carry no thread id: a webhook about a run outlives the run's thread.
import type { RunWebhook, Webhook } from "../../../agent/model/model.ts";
import type { WebhookTx } from "../../../agent/ports/ports.ts";
import { RUN_WEBHOOK_COLUMNS, WEBHOOK_COLUMNS } from "../../shared/columns.ts";
import type { Database } from "../client/database.ts";
import { table } from "./rows.ts";

const WEBHOOKS = table<Webhook>("webhooks", WEBHOOK_COLUMNS);
const RUN_WEBHOOKS = table<RunWebhook>("run_webhooks", RUN_WEBHOOK_COLUMNS);

export function webhookVerbs(db: Database): WebhookTx {
  return {
    putWebhook: (webhook) => void WEBHOOKS.insert(db, [webhook], "INSERT OR IGNORE"),
    claimWebhook(at, until, hostsExcepted) {
      const row = db.get(
        `SELECT ${WEBHOOKS.columns} FROM webhooks
         WHERE due_at <= ? AND host NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at, run_id LIMIT 1`,
        at,
        JSON.stringify(hostsExcepted),
      );
      if (row === null) return null;
      const found = WEBHOOKS.read(row);
      const patch = { attempts: found.attempts + 1, dueAt: until };
      WEBHOOKS.update(db, { keyColumn: "run_id", key: found.runId }, patch);
      return { ...found, ...patch };
    },
    nextWebhookAt(hostsExcepted) {
      const at = db.get(
        "SELECT due_at AS at FROM webhooks WHERE host NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at LIMIT 1",
        JSON.stringify(hostsExcepted),
      )?.["at"];
      return typeof at === "number" ? at : null;
    },
    delayWebhook(runId, dueAt) {
      WEBHOOKS.update(db, { keyColumn: "run_id", key: runId }, { dueAt });
    },
    deleteWebhook(runId) {
      db.run("DELETE FROM webhooks WHERE run_id = ?", runId);
    },
    countWebhooks: () => Number(db.get("SELECT count(*) AS n FROM webhooks")?.["n"]),
    putRunWebhook: (webhook) => void RUN_WEBHOOKS.insert(db, [webhook], "INSERT OR REPLACE"),
    runWebhooks: (threadId, runId) =>
      db
        .all(
          `SELECT ${RUN_WEBHOOKS.columns} FROM run_webhooks WHERE thread_id = ? AND run_id = ?
           ORDER BY created_at, webhook_id`,
          threadId,
          runId,
        )
        .map(RUN_WEBHOOKS.read),
    deleteRunWebhook(threadId, runId, webhookId) {
      const key = [threadId, runId, webhookId];
      db.run("DELETE FROM run_webhooks WHERE thread_id = ? AND run_id = ? AND webhook_id = ?", ...key);
    },
  };
}
