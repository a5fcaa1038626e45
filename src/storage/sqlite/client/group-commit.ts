// Group commit: everything that is asked of the database in one turn of the event loop shares one transaction.
// Invariants:
//   group-commit.1. A result is handed out only after the commit that holds it has returned, and so is on disk.
//   group-commit.2. A piece of work that throws takes back its own writes and nobody else's.
//   group-commit.3. When the commit fails, every piece that wrote fails; the next group starts clean. Pieces that only read are run
//       again without those.
//   group-commit.5. A commit that failed in the file may be found there after a crash: its frames are in the log, complete, and only
//       not synced. A commit of nothing in the same place overwrites them. Once that is synced the failed one is known to be
//       void, and its callers get `storage_unavailable`; until then they get `commit_unknown`, and nobody else gets a
//       reply but `storage_unavailable`.
//   group-commit.4. From BEGIN to COMMIT only microtasks run: no other code sees the open transaction.
import { randomUUID } from "node:crypto";
import { ApiError, describeError } from "../../../base/api-error.ts";
import type { Log } from "../../../base/log/log.ts";
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
  wrote: boolean;
  failure: { readonly reason: unknown } | null;
}

/** How long work that nobody waits for may wait for company. */
const LINGER_MS = 10;

const OVERWRITE =
  "INSERT INTO meta (key, value) VALUES ('overwritten', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/** @param checkFiles throws when what is written would not be in the file that the next start opens. */
export function createGroupCommit(db: Database, log: Log, checkFiles: () => void): GroupCommit {
  let waiting: Piece[] = [];
  let scheduled: "no" | "soon" | "now" = "no";
  let timer: NodeJS.Timeout | undefined;
  let active: Promise<void> = Promise.resolve();

  let inDoubt = false;

  /** @throws {Error} when nothing can be synced yet (group-commit.5). */
  const overwrite = (): void => {
    if (!inDoubt) return;
    rollBack(db);
    db.run("BEGIN IMMEDIATE");
    db.run(OVERWRITE, randomUUID());
    db.run("COMMIT");
    inDoubt = false;
  };

  /** @throws {Error} when it is not committed; `inDoubt` says whether it may be found nevertheless. */
  const commit = async (pieces: readonly Piece[]): Promise<void> => {
    overwrite();
    rollBack(db); // what is still open when an earlier rollback failed
    db.run("BEGIN");
    for (const piece of pieces) await runPiece(db, piece);
    if (pieces.some(({ wrote }) => wrote)) checkFiles();
    try {
      db.run("COMMIT");
    } catch (error) {
      inDoubt = isFileFault(error); // group-commit.5
      throw error;
    }
  };

  const flush = async (): Promise<void> => {
    scheduled = "no";
    const pieces = waiting;
    waiting = [];
    if (pieces.length > 0) await settlePieces(pieces);
  };

  const settlePieces = async (pieces: readonly Piece[]): Promise<void> => {
    const wasInDoubt = inDoubt;
    try {
      await commit(pieces);
    } catch (error) {
      const failure = wasInDoubt || !inDoubt || voided() ? storageFailure(error) : unknownOutcome(error);
      try {
        rollBack(db);
      } catch (second) {
        log.error("rollback_failed", { reason: describeError(second).message }); // tried again before the next BEGIN
      }
      log.error("commit_failed", { reason: failure.message, works: pieces.length });
      const writers = pieces.filter(({ wrote }) => wrote);
      const again = inDoubt || writers.length === 0 ? [] : pieces.filter(({ wrote }) => !wrote);
      for (const piece of again.length > 0 ? writers : pieces) {
        piece.reject(piece.wrote ? failure : storageFailure(error)); // group-commit.3
      }
      for (const piece of again) Object.assign(piece, { result: undefined, failure: null });
      if (again.length > 0) await settlePieces(again); // fewer than before
      return;
    }
    for (const piece of pieces) {
      if (piece.failure === null) piece.resolve(piece.result as never); // group-commit.1
      else piece.reject(piece.failure.reason);
    }
  };

  /** group-commit.5: tried at once, because the fault may have been one of a moment. */
  const voided = (): boolean => {
    try {
      overwrite();
      return true;
    } catch {
      return false;
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
        waiting.push({ work, resolve, reject, result: undefined, wrote: false, failure: null });
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
  piece.wrote = false;
  db.onWrite(() => {
    db.onWrite(null);
    marked = true;
    piece.wrote = true;
    db.run("SAVEPOINT piece"); // at its first write: most reads and refusals need none
  });
  try {
    piece.result = await piece.work();
  } catch (error) {
    if (!db.inTransaction()) throw error; // the database gave up on the whole transaction
    if (marked) db.run("ROLLBACK TO piece"); // group-commit.2
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

/** SQLite's IOERR: a write or a sync of the file itself. A full disk is another one, and leaves no whole commit. */
function isFileFault(error: unknown): boolean {
  return (
    error instanceof Error && "errcode" in error && typeof error.errcode === "number" && (error.errcode & 0xff) === 10
  );
}

function unknownOutcome(error: unknown): ApiError {
  return new ApiError(
    "commit_unknown",
    `The disk did not say whether it was stored: ${describeError(error).message}. Look whether it is there, or send the call again with its Idempotency-Key.`,
    {},
    { "Retry-After": "1" },
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
