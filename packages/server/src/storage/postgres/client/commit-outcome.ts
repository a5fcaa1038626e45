// Commit outcome: finds out whether a transaction was committed after its COMMIT got no answer.
// Each connection has a name, and its writing transactions have ascending numbers. A transaction writes its own number,
// so the number exists exactly if the rest does. (The transaction's own id does not work: PostgreSQL reuses it after a
// crash.)
// Invariants:
//   commit-outcome.1. A committed transaction is a success, whatever happened to its connection.
//   commit-outcome.2. A transaction that was not committed fails and never commits later: the lookup fences it, in case
//        its COMMIT is still in flight. A later lookup finds the fence and reports the same.
//   - If no lookup succeeds in time, the caller gets an error that says so.
import { randomUUID } from "node:crypto";
import type { ClientBase, Pool } from "pg";
import type { Clock } from "@holdpoint/base/clock.ts";
import { commitFailure, nothingWritten } from "./errors.ts";

export interface Mark {
  readonly connection: string;
  readonly number: number;
}

const marks = new WeakMap<ClientBase, Mark>();

/** Mark of the next transaction on a connection. */
export function nextMark(client: ClientBase): Mark {
  const last = marks.get(client) ?? { connection: randomUUID(), number: 0 };
  const next = { ...last, number: last.number + 1 };
  marks.set(client, next);
  return next;
}

/**
 * Writes the mark, right before the COMMIT. Behind a fence, the division by zero fails the transaction
 * (commit-outcome.2).
 */
export const MARK = `
  INSERT INTO holdpoint.commits AS c (connection, number) VALUES ($1, $2)
  ON CONFLICT (connection) DO UPDATE SET at = now(), number = excluded.number / (c.number < excluded.number)::int`;

/** Every connection with a past write has a mark. */
export async function sweepMarks(pool: Pool): Promise<void> {
  await pool.query("DELETE FROM holdpoint.commits WHERE at < now() - interval '1 day'");
}

const ASK_AGAIN_MS = 50;
/** Longer than PostgreSQL's crash recovery, shorter than a caller's patience. */
const ASK_FOR_MS = 10_000;

interface OutcomePorts {
  readonly pool: Pool;
  readonly clock: Clock;
}

/** Resolves if the transaction was committed. @throws {ApiError} `storage_unavailable`, `commit_unknown` */
export async function findCommitOutcome({ pool, clock }: OutcomePorts, mark: Mark, lost: unknown): Promise<void> {
  const deadline = clock.monotonic() + ASK_FOR_MS;
  for (let leftMs = ASK_FOR_MS; leftMs > 0; leftMs = deadline - clock.monotonic()) {
    const committed = await inTime(clock, wasCommitted(pool, mark), leftMs);
    if (committed === true) return; // commit-outcome.1
    if (committed === false) throw nothingWritten(lost); // commit-outcome.2
    await new Promise<void>((resolve) => void clock.after(ASK_AGAIN_MS, resolve));
  }
  throw commitFailure(lost);
}

/** Null if the query fails at present, or has no answer by then. */
function inTime(clock: Clock, asked: Promise<boolean>, ms: number): Promise<boolean | null> {
  return new Promise((resolve) => {
    const stop = clock.after(ms, () => resolve(null));
    void asked.catch(() => null).then((committed) => (stop(), resolve(committed)));
  });
}

/** Waits for the transaction, if it is still in progress. */
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
      //   commit-outcome.2. The fence is the mark of the next transaction: this connection is lost and never has one.
      await client.query("UPDATE holdpoint.commits SET number = $2 WHERE connection = $1", [connection, number + 1]);
    }
    await client.query("COMMIT");
    broken = false;
    return committed;
  } finally {
    client.release(broken);
  }
}
