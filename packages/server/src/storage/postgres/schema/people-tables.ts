// People who have signed in, their sessions, the keys of programs, and tickets for WebSockets. Secrets are hashes.

export const PEOPLE_TABLES = `
  CREATE TABLE holdpoint.people (
    name TEXT COLLATE "C" PRIMARY KEY, issuer TEXT COLLATE "C" NOT NULL, subject TEXT COLLATE "C" NOT NULL,
    display_name TEXT NOT NULL, email TEXT, groups TEXT NOT NULL, created_at BIGINT NOT NULL, seen_at BIGINT NOT NULL,
    console TEXT
  );
  CREATE UNIQUE INDEX people_subject ON holdpoint.people (issuer, subject);
  CREATE TABLE holdpoint.sessions (
    session_id TEXT COLLATE "C" PRIMARY KEY, person TEXT COLLATE "C" NOT NULL, token_hash TEXT COLLATE "C" NOT NULL,
    previous_hash TEXT COLLATE "C", previous_until BIGINT, rotated_at BIGINT NOT NULL, provider_session TEXT,
    id_token TEXT NOT NULL, claims TEXT NOT NULL, created_at BIGINT NOT NULL, used_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  );
  CREATE UNIQUE INDEX sessions_token ON holdpoint.sessions (token_hash);
  CREATE INDEX sessions_previous ON holdpoint.sessions (previous_hash) WHERE previous_hash IS NOT NULL;
  CREATE INDEX sessions_person ON holdpoint.sessions (person);
  -- A logout at the provider names its session.
  CREATE INDEX sessions_provider ON holdpoint.sessions (provider_session) WHERE provider_session IS NOT NULL;
  CREATE TABLE holdpoint.api_keys (
    key_id TEXT COLLATE "C" PRIMARY KEY, name TEXT NOT NULL, hash TEXT COLLATE "C" NOT NULL, role TEXT NOT NULL,
    limits TEXT NOT NULL, created_by TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT, used_at BIGINT
  );
  CREATE UNIQUE INDEX api_keys_hash ON holdpoint.api_keys (hash);
  CREATE TABLE holdpoint.socket_tickets (
    digest TEXT COLLATE "C" PRIMARY KEY, caller TEXT COLLATE "C" NOT NULL, headers TEXT NOT NULL,
    expires_at BIGINT NOT NULL
  );
  CREATE INDEX socket_tickets_caller ON holdpoint.socket_tickets (caller);
  CREATE INDEX socket_tickets_expiry ON holdpoint.socket_tickets (expires_at);
`;
