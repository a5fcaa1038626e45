// Lock: one process a spool (file-lock.ts). Deleting the lock file would admit a second process; a guard detects that
// (file-guard.ts).
import type { Clock } from "@holdpoint/base/clock.ts";
import { guardFiles } from "@holdpoint/base/files/file-guard.ts";
import { lockFile } from "@holdpoint/base/files/file-lock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";

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
  const lock = lockFile(`${dir}/lock`);
  if (lock === null) throw new SpoolInUseError(dir);
  const guard = guardFiles([`${dir}/lock`], clock, log);
  return {
    problem: guard.problem,
    release() {
      guard.stop();
      lock.release();
    },
  };
}
