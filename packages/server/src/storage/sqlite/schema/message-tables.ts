// The outbox of webhooks and notifications, messages that change with their items, and one-use tokens of links.

export const MESSAGE_TABLES = `
  -- A run has one webhook of its own (webhooks.run_id); run_webhooks are those that others added to it.
  CREATE TABLE webhooks (
    run_id TEXT NOT NULL PRIMARY KEY, url TEXT NOT NULL, host TEXT NOT NULL, channel TEXT NOT NULL, batch TEXT,
    attempts INTEGER NOT NULL, due_at INTEGER NOT NULL, created_at INTEGER NOT NULL, headers TEXT NOT NULL,
    body TEXT NOT NULL
  );
  CREATE INDEX webhooks_due ON webhooks (due_at);
  CREATE INDEX webhooks_batch ON webhooks (batch, due_at) WHERE batch IS NOT NULL;
  CREATE TABLE run_webhooks (
    thread_id TEXT NOT NULL, run_id TEXT NOT NULL, webhook_id TEXT NOT NULL, url TEXT NOT NULL, format TEXT NOT NULL,
    headers TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (thread_id, run_id, webhook_id)
  ) WITHOUT ROWID;
  CREATE TABLE notices (
    notice_id TEXT NOT NULL PRIMARY KEY, thread_id TEXT NOT NULL, interrupt_id TEXT NOT NULL, target TEXT NOT NULL,
    shown TEXT NOT NULL, created_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX notices_item ON notices (thread_id, interrupt_id);
  CREATE INDEX notices_shown ON notices (shown, created_at);
  CREATE TABLE spent_tokens (token TEXT NOT NULL PRIMARY KEY, expires_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX spent_tokens_expiry ON spent_tokens (expires_at);
`;
