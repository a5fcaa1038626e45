// File lock: one owner of a file.
// Invariants:
//   file-lock.1. The lock is an open transaction on the file, a small database: the operating system frees it when the
//        process ends, however it ends, and a stale file does not hold it.
//   file-lock.2. Of processes that lock at the same moment, one gets it. Each of them holds the file for an instant
//        before it is refused, so the other waits that long.
//   file-lock.3. Only the owner's user can read the file.
import { closeSync, fchmodSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** Far longer than that instant, also on a busy machine. */
const WAIT_MS = 1000;

export interface FileLock {
  release(): void;
}

/**
 * Blocks for up to a second.
 *
 * @returns null if another process holds the file
 * @throws if the file cannot be used
 */
export function lockFile(path: string): FileLock | null {
  const file = openSync(path, "a", 0o600);
  fchmodSync(file, 0o600); // file-lock.3, also for the file of an earlier version
  closeSync(file);
  const database = new DatabaseSync(path, { timeout: WAIT_MS }); // file-lock.2
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"); // file-lock.1
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) return null;
    throw error;
  }
  return { release: () => database.close() };
}
