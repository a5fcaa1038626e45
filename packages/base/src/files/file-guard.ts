// File guard: detects that another file has the name of an open file. Writes to a deleted file are lost with the
// process, and another process can take a lock whose file was deleted.
// Invariants:
//   file-guard.1. No write happens while a file is missing or replaced: every write checks first.
//   file-guard.2. The log reports it once, also without writes, and once more when the file is back.
import { statSync } from "node:fs";
import { basename } from "node:path";
import type { Clock } from "../clock.ts";
import type { Log } from "../log/log.ts";

export interface FileGuard {
  /** @throws {Error} file-guard.1; it names the file. */
  readonly check: () => void;
  /** Null while every file is in its place; else which one is not. */
  readonly problem: () => string | null;
  stop(): void;
}

const LOOK_MS = 5000;

/** @param paths of files that are there and open. */
export function guardFiles(paths: readonly string[], clock: Clock, log: Log): FileGuard {
  const own = new Map(paths.map((path) => [path, readIdentity(path)]));
  let logged: string | null = null;
  const problem = (): string | null => {
    for (const [path, identity] of own) {
      const now = readIdentity(path);
      if (now !== identity)
        return `${basename(path)} was ${now === null ? "deleted" : "replaced"} under the running server`;
    }
    return null;
  };
  const check = (): string | null => {
    const found = problem();
    if (found !== logged) {
      if (found === null) log.info("data_files_restored", { paths: paths.length });
      else
        log.error("data_files_gone", {
          reason: found,
          remedy: "restore the file, or stop the server and restore a backup",
        });
      logged = found; // file-guard.2
    }
    return found;
  };
  let cancel = clock.after(LOOK_MS, again);
  function again(): void {
    check();
    cancel = clock.after(LOOK_MS, again);
  }
  return {
    check() {
      const found = check();
      if (found !== null) throw new Error(`${found}; writes fail until it is restored`);
    },
    problem: check,
    stop: () => cancel(),
  };
}

/** Null when there is no such file, or it cannot be looked at. */
function readIdentity(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}
