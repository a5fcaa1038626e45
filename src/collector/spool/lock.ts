// Lock: one process a spool. A transaction on a small database holds the lock; the operating system frees it when the
// process ends, however it ends, so no stale lock file remains. Deleting the lock file would admit a second process; a
// guard detects that (file-guard.ts).
import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../base/clock.ts";
import { guardFiles } from "../../base/files/file-guard.ts";
import type { Log } from "../../base/log/log.ts";

export interface SpoolLock {
  /** Null while the lock file is in its place; else the reason why writes must stop. */
  readonly problem: () => string | null;
  release(): void;
}

export class SpoolInUseError extends Error {
  constructor(dir: string) {
    super(`another process uses the spool in ${dir}: stop it, or set another SPOOL_DIR`);
    this.name = "SpoolInUseError";
  }
}

/** @throws {SpoolInUseError} */
export function lockSpool(dir: string, clock: Clock, log: Log): SpoolLock {
  closeSync(openSync(`${dir}/lock`, "a", 0o600)); // its owner's only, as all files here
  const database = new DatabaseSync(`${dir}/lock`, { timeout: 0 });
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) throw new SpoolInUseError(dir);
    throw error;
  }
  const guard = guardFiles([`${dir}/lock`], clock, log);
  return {
    problem: guard.problem,
    release() {
      guard.stop();
      database.close();
    },
  };
}
