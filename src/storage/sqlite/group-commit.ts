// Group commit: everything that is asked of the database in one turn of the event loop shares one transaction.
// Invariants:
//   G1. A result is handed out only after the commit that holds it has returned, and so is on disk.
//   G2. A piece of work that throws takes back its own writes and nobody else's.
//   G3. When the commit fails, every piece of work in it fails with `storage_unavailable`; the next group starts clean.
//   G4. From BEGIN to COMMIT only microtasks run: no other code sees the open transaction.
import { ApiError, describeError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Database } from "./database.ts";

export interface GroupCommit {
  /** @param soon true when nothing waits: the work may linger to share a commit. */
  run<T>(work: () => T | Promise<T>, soon: boolean): Promise<T>;
  /** Resolves when everything asked for so far is on disk. */
  settle(): Promise<void>;
}

interface Piece {
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (reason: unknown) => void;
  result: unknown;
  failure: { readonly reason: unknown } | null;
}

/** How long work that nobody waits for may wait for company. */
const LINGER_MS = 10;

export function createGroupCommit(db: Database, log: Log): GroupCommit {
  let waiting: Piece[] = [];
  let scheduled: "no" | "soon" | "now" = "no";
  let timer: NodeJS.Timeout | undefined;
  let active: Promise<void> = Promise.resolve();

  const flush = async (): Promise<void> => {
    scheduled = "no";
    const pieces = waiting;
    waiting = [];
    if (pieces.length === 0) return;
    try {
      rollBack(db); // what is still open when an earlier rollback failed
      db.run("BEGIN");
      for (const piece of pieces) await runPiece(db, piece);
      db.run("COMMIT");
    } catch (error) {
      try {
        rollBack(db);
      } catch (second) {
        log.error("rollback_failed", { reason: describeError(second).message }); // tried again before the next BEGIN
      }
      const failure = storageFailure(error);
      log.error("commit_failed", { reason: failure.message, works: pieces.length });
      for (const piece of pieces) piece.reject(failure); // G3
      return;
    }
    for (const piece of pieces) {
      if (piece.failure === null) piece.resolve(piece.result as never); // G1
      else piece.reject(piece.failure.reason);
    }
  };
  const start = (): void => {
    active = active.then(flush);
  };
  const schedule = (soon: boolean): void => {
    if (scheduled === "now" || (soon && scheduled === "soon")) return;
    if (soon) {
      scheduled = "soon";
      timer = setTimeout(start, LINGER_MS);
      return;
    }
    clearTimeout(timer);
    scheduled = "now";
    setImmediate(start);
  };
  return {
    run: (work, soon) =>
      new Promise((resolve, reject) => {
        waiting.push({ work, resolve, reject, result: undefined, failure: null });
        schedule(soon);
      }),
    async settle() {
      clearTimeout(timer);
      start();
      await active;
    },
  };
}

function rollBack(db: Database): void {
  if (db.inTransaction()) db.run("ROLLBACK");
}

async function runPiece(db: Database, piece: Piece): Promise<void> {
  let marked = false;
  db.onWrite(() => {
    db.onWrite(null);
    marked = true;
    db.run("SAVEPOINT piece"); // at its first write: most reads and refusals need none
  });
  try {
    piece.result = await piece.work();
  } catch (error) {
    if (!db.inTransaction()) throw error; // the database gave up on the whole transaction
    if (marked) db.run("ROLLBACK TO piece"); // G2
    piece.failure = { reason: isStorageFault(error) ? storageFailure(error) : error };
  } finally {
    db.onWrite(null);
  }
  if (marked) db.run("RELEASE piece");
}

/** SQLite's codes for a file that cannot be used at present: BUSY, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN. */
const STORAGE_CODES = new Set([5, 7, 8, 10, 11, 13, 14]);

/** Other database errors are defects of ours, and come out as such. */
function isStorageFault(error: unknown): boolean {
  return (
    error instanceof Error &&
    "errcode" in error &&
    typeof error.errcode === "number" &&
    STORAGE_CODES.has(error.errcode & 0xff)
  );
}

function storageFailure(error: unknown): ApiError {
  return new ApiError(
    "storage_unavailable",
    `Nothing was written: ${describeError(error).message}. Try again.`,
    {},
    { "Retry-After": "1" },
  );
}
