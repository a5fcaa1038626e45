// Outbox in SQLite: deliveries, and webhooks that were added to runs.
// Invariants:
//   sqlite/webhooks.1. Rows of the outbox carry no thread id: a webhook about a run outlives the run's thread.
//   sqlite/webhooks.2. Every end of a run asks for the webhooks that were added to it. While the table is known to be
//        empty, the answer needs no statement; an undone write makes that unknown (client/kept-rows.ts).
import type { RunWebhook, Webhook } from "../../../model/model.ts";
import type { WebhookTx } from "../../../ports/ports.ts";
import { inOrderOfCreation } from "../../shared/outbox-order.ts";
import { RUN_WEBHOOK_COLUMNS, WEBHOOK_COLUMNS } from "../../shared/columns.ts";
import type { Database } from "../client/database.ts";
import { table } from "./shared/rows.ts";

const WEBHOOKS = table<Webhook>("webhooks", WEBHOOK_COLUMNS);
const RUN_WEBHOOKS = table<RunWebhook>("run_webhooks", RUN_WEBHOOK_COLUMNS);

export function webhookVerbs(db: Database): WebhookTx {
  return { ...deliveryVerbs(db), ...runWebhookVerbs(db) };
}

type RunWebhookVerbs = Pick<WebhookTx, "putRunWebhook" | "runWebhooks" | "deleteRunWebhook">;

function deliveryVerbs(db: Database): Omit<WebhookTx, keyof RunWebhookVerbs> {
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
    claimBatch(batch, { at, until, limit }) {
      const rows = db.all(
        `SELECT ${WEBHOOKS.columns} FROM webhooks WHERE batch = ? AND due_at <= ? ORDER BY due_at, created_at, run_id LIMIT ?`,
        batch,
        at,
        limit,
      );
      const claimed = rows.map((row) => {
        const found = WEBHOOKS.read(row);
        const patch = { attempts: found.attempts + 1, dueAt: until };
        WEBHOOKS.update(db, { keyColumn: "run_id", key: found.runId }, patch);
        return { ...found, ...patch };
      });
      return inOrderOfCreation(claimed);
    },
    nextWebhookAt(hostsExcepted) {
      const at = db.get(
        "SELECT due_at AS at FROM webhooks WHERE host NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at LIMIT 1",
        JSON.stringify(hostsExcepted),
      )?.["at"];
      return typeof at === "number" ? at : null;
    },
    delayWebhook(runId, dueAt, attempts) {
      const patch = attempts === undefined ? { dueAt } : { dueAt, attempts };
      WEBHOOKS.update(db, { keyColumn: "run_id", key: runId }, patch);
    },
    deleteWebhook(runId) {
      db.run("DELETE FROM webhooks WHERE run_id = ?", runId);
    },
    countWebhooks: () => Number(db.get("SELECT count(*) AS n FROM webhooks")?.["n"]),
  };
}

/** sqlite/webhooks.2. */
function runWebhookVerbs(db: Database): RunWebhookVerbs {
  let isEmpty: boolean | null = null;
  db.kept.onDrop(() => (isEmpty = null));
  return {
    putRunWebhook(webhook) {
      RUN_WEBHOOKS.insert(db, [webhook], "INSERT OR REPLACE");
      isEmpty = false;
    },
    runWebhooks(threadId, runId) {
      isEmpty ??= db.get("SELECT 1 FROM run_webhooks LIMIT 1") === null;
      if (isEmpty) return [];
      return db
        .all(
          `SELECT ${RUN_WEBHOOKS.columns} FROM run_webhooks WHERE thread_id = ? AND run_id = ?
           ORDER BY created_at, webhook_id`,
          threadId,
          runId,
        )
        .map(RUN_WEBHOOKS.read);
    },
    deleteRunWebhook(threadId, runId, webhookId) {
      const key = [threadId, runId, webhookId];
      db.run("DELETE FROM run_webhooks WHERE thread_id = ? AND run_id = ? AND webhook_id = ?", ...key);
      isEmpty = null;
    },
  };
}
