// The outbox of webhooks and notifications, messages that change with their items, and one-use tokens of links.

export const MESSAGE_TABLES = `
  -- A run has one webhook of its own (webhooks.run_id); run_webhooks are those that others added to it.
  CREATE TABLE holdpoint.webhooks (
    run_id TEXT COLLATE "C" PRIMARY KEY, url TEXT NOT NULL, host TEXT COLLATE "C" NOT NULL, channel TEXT NOT NULL,
    batch TEXT COLLATE "C", attempts INTEGER NOT NULL, due_at BIGINT NOT NULL, created_at BIGINT NOT NULL,
    headers TEXT NOT NULL, body TEXT NOT NULL
  );
  CREATE INDEX webhooks_due ON holdpoint.webhooks (due_at, run_id);
  CREATE INDEX webhooks_batch ON holdpoint.webhooks (batch, due_at) WHERE batch IS NOT NULL;
  CREATE TABLE holdpoint.run_webhooks (
    thread_id TEXT COLLATE "C" NOT NULL, run_id TEXT COLLATE "C" NOT NULL, webhook_id TEXT COLLATE "C" NOT NULL,
    url TEXT NOT NULL, format TEXT NOT NULL, headers TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (thread_id, run_id, webhook_id)
  );
  CREATE TABLE holdpoint.notices (
    notice_id TEXT COLLATE "C" PRIMARY KEY, thread_id TEXT COLLATE "C" NOT NULL, interrupt_id TEXT COLLATE "C" NOT NULL,
    target TEXT NOT NULL, shown TEXT NOT NULL, created_at BIGINT NOT NULL
  );
  CREATE INDEX notices_item ON holdpoint.notices (thread_id, interrupt_id);
  CREATE INDEX notices_shown ON holdpoint.notices (shown, created_at);
  CREATE TABLE holdpoint.spent_tokens (token TEXT COLLATE "C" PRIMARY KEY, expires_at BIGINT NOT NULL);
  CREATE INDEX spent_tokens_expiry ON holdpoint.spent_tokens (expires_at);
`;
