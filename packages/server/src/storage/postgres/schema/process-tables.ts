// What processes know of each other. Each row changes often: the room in its page keeps the change there.

export const PROCESS_TABLES = `
  -- A run's worker has a row for as long as it has the run.
  CREATE TABLE holdpoint.workers (
    worker_id TEXT COLLATE "C" PRIMARY KEY, beat_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
  ) WITH (fillfactor = 50);
  -- The last writing transaction of each connection (commit-outcome.ts).
  CREATE TABLE holdpoint.commits (
    connection TEXT COLLATE "C" PRIMARY KEY, number BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now()
  ) WITH (fillfactor = 50);
`;
