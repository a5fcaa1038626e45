// Folder lock: one process per data folder.
// Invariants:
//   folder-lock.1. The lock is that of a file (file-lock.ts): kill -9 frees it, and a stale file does not hold it.
//   folder-lock.2. A rejected process learns the name of the owner.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FileLock, lockFile } from "@holdpoint/base/files/file-lock.ts";

export class FolderInUseError extends Error {
  constructor(folder: string, owner: string) {
    super(
      `the data folder ${folder} is in use by ${owner}: stop it first, or set HOLDPOINT_DATA_DIR to another folder`,
    );
    this.name = "FolderInUseError";
  }
}

/** @param self the name of this process for the next one, e.g. `process 4711 (holdpoint serve)` */
export function lockFolder(folder: string, self: string): FileLock {
  const ownerFile = join(folder, "owner.txt");
  const lock = lockFile(join(folder, "lock.db")); // folder-lock.1
  if (lock === null) throw new FolderInUseError(folder, readOwner(ownerFile)); // folder-lock.2
  writeFileSync(ownerFile, self, { mode: 0o600 });
  return lock;
}

function readOwner(path: string): string {
  try {
    return readFileSync(path, "utf8").slice(0, 200) || "another process";
  } catch {
    return "another process";
  }
}
