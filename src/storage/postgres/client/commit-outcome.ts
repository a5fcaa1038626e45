// Outcome: whether a transaction was committed whose COMMIT got no answer. Each connection has a name, and its writing
// transactions have numbers that count up; the number is written in the transaction itself, so it is there exactly when
// the rest is. (The transaction's own id would not do: after a crash PostgreSQL gives it to another one.)
// Invariants:
//   commit-outcome.1. A transaction that was committed is a success, whatever became of its connection.
//   commit-outcome.2. One that was not has written nothing, never will, and is told so: looking closes the door behind it, in case its
//        COMMIT is still on the way. Whoever looks once more finds it closed, and not committed.
//   commit-outcome.3. When that cannot be found out in time, the caller is told just that.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { ClientBase, Pool } from "pg";
import { commitFailure, nothingWritten } from "./errors.ts";

export interface Mark {
  readonly connection: string;
  readonly number: number;
}

const marks = new WeakMap<ClientBase, Mark>();

/** The mark of the next transaction on a connection. */
export function nextMark(client: ClientBase): Mark {
  const last = marks.get(client) ?? { connection: randomUUID(), number: 0 };
  const next = { ...last, number: last.number + 1 };
  marks.set(client, next);
  return next;
}

/** Writes the mark, right before the COMMIT. Where the door is closed, the division by zero fails the transaction (commit-outcome.2). */
export const MARK = `
  INSERT INTO holdpoint.commits AS c (connection, number) VALUES ($1, $2)
  ON CONFLICT (connection) DO UPDATE SET at = now(), number = excluded.number / (c.number < excluded.number)::int`;

/** Every connection that has ever written has left one. */
export async function sweepMarks(pool: Pool): Promise<void> {
  await pool.query("DELETE FROM holdpoint.commits WHERE at < now() - interval '1 day'");
}

const ASK_AGAIN_MS = 50;
/** Longer than a crashed database takes to recover, shorter than a caller waits. */
const ASK_FOR_MS = 10_000;

/** Resolves when the transaction was committed. @throws {ApiError} `storage_unavailable`, `commit_unknown` */
export async function settleOutcome(pool: Pool, mark: Mark, lost: unknown): Promise<void> {
  const giveUpAt = performance.now() + ASK_FOR_MS;
  for (let leftMs = ASK_FOR_MS; leftMs > 0; leftMs = giveUpAt - performance.now()) {
    const committed = await inTime(wasCommitted(pool, mark), leftMs);
    if (committed === true) return; // commit-outcome.1
    if (committed === false) throw nothingWritten(lost); // commit-outcome.2
    await pause(ASK_AGAIN_MS);
  }
  throw commitFailure(lost); // commit-outcome.3
}

/** Null when it cannot be asked at present, or has no answer by then. */
async function inTime(asked: Promise<boolean>, ms: number): Promise<boolean | null> {
  const answered = new AbortController();
  try {
    return await Promise.race([asked.catch(() => null), pause(ms, null, { signal: answered.signal })]);
  } finally {
    answered.abort();
  }
}

/** Waits for the transaction, if it is still under way. */
async function wasCommitted(pool: Pool, { connection, number }: Mark): Promise<boolean> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query("BEGIN");
    await client.query(
      "INSERT INTO holdpoint.commits (connection, number) VALUES ($1, 0) ON CONFLICT (connection) DO NOTHING",
      [connection],
    );
    const { rows } = await client.query<{ readonly number: number }>(
      "SELECT number FROM holdpoint.commits WHERE connection = $1 FOR UPDATE",
      [connection],
    );
    const committed = rows[0]?.number === number;
    if (!committed) {
      // commit-outcome.2. Of the connection's next transaction, which there will not be: it was lost in this one.
      await client.query("UPDATE holdpoint.commits SET number = $2 WHERE connection = $1", [connection, number + 1]);
    }
    await client.query("COMMIT");
    broken = false;
    return committed;
  } finally {
    client.release(broken);
  }
}
