// Lock: one process a spool. A transaction on a small database holds the lock; the operating system frees it when the
// process ends, however it ends, so there is no stale lock file to remove.
import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

export class SpoolInUseError extends Error {
  constructor(dir: string) {
    super(`another process uses the spool in ${dir}: stop it, or set another SPOOL_DIR`);
    this.name = "SpoolInUseError";
  }
}

/** Returns the function that gives the lock back. @throws {SpoolInUseError} */
export function lockSpool(dir: string): () => void {
  closeSync(openSync(`${dir}/lock`, "a", 0o600)); // its owner's only, as all files here
  const database = new DatabaseSync(`${dir}/lock`, { timeout: 0 });
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) throw new SpoolInUseError(dir);
    throw error;
  }
  return () => database.close();
}
