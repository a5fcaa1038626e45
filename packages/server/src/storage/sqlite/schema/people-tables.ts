// People who have signed in, their sessions, the keys of programs, and tickets for WebSockets. Secrets are hashes.

export const PEOPLE_TABLES = `
  CREATE TABLE people (
    name TEXT NOT NULL PRIMARY KEY, issuer TEXT NOT NULL, subject TEXT NOT NULL, display_name TEXT NOT NULL, email TEXT,
    groups TEXT NOT NULL, created_at INTEGER NOT NULL, seen_at INTEGER NOT NULL, console TEXT
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX people_subject ON people (issuer, subject);
  CREATE TABLE sessions (
    session_id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, token_hash TEXT NOT NULL, previous_hash TEXT,
    previous_until INTEGER, rotated_at INTEGER NOT NULL, provider_session TEXT, id_token TEXT NOT NULL,
    claims TEXT NOT NULL, created_at INTEGER NOT NULL, used_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX sessions_token ON sessions (token_hash);
  CREATE INDEX sessions_previous ON sessions (previous_hash) WHERE previous_hash IS NOT NULL;
  CREATE INDEX sessions_person ON sessions (person);
  -- A logout at the provider names its session.
  CREATE INDEX sessions_provider ON sessions (provider_session) WHERE provider_session IS NOT NULL;
  CREATE TABLE api_keys (
    key_id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, role TEXT NOT NULL, limits TEXT NOT NULL,
    created_by TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER, used_at INTEGER
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
  CREATE TABLE socket_tickets (
    digest TEXT NOT NULL PRIMARY KEY, caller TEXT NOT NULL, headers TEXT NOT NULL, expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX socket_tickets_caller ON socket_tickets (caller);
  CREATE INDEX socket_tickets_expiry ON socket_tickets (expires_at);
`;
