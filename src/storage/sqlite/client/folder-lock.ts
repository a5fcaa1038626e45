// Folder lock: one process per data folder; the operating system frees it however that process ends.
// Invariants:
//   folder-lock.1. The lock is an open transaction on its own file: kill -9 frees it, and a stale file does not hold
//        it.
//   folder-lock.2. A rejected process learns the name of the owner.
import { closeSync, fchmodSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export class FolderInUseError extends Error {
  constructor(folder: string, owner: string) {
    super(
      `the data folder ${folder} is in use by ${owner}: stop it first, or set HOLDPOINT_DATA_DIR to another folder`,
    );
    this.name = "FolderInUseError";
  }
}

export interface FolderLock {
  release(): void;
}

/** @param self the name of this process for the next one, e.g. `process 4711 (holdpoint serve)` */
export function lockFolder(folder: string, self: string): FolderLock {
  const ownerFile = join(folder, "owner.txt");
  const lockFile = join(folder, "lock.db");
  const file = openSync(lockFile, "a", 0o600);
  fchmodSync(file, 0o600); // a lock file of an earlier version
  closeSync(file);
  const db = new DatabaseSync(lockFile);
  try {
    db.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE"); // folder-lock.1
  } catch {
    db.close();
    throw new FolderInUseError(folder, readOwner(ownerFile)); // folder-lock.2
  }
  writeFileSync(ownerFile, self, { mode: 0o600 });
  return { release: () => db.close() };
}

function readOwner(path: string): string {
  try {
    return readFileSync(path, "utf8").slice(0, 200) || "another process";
  } catch {
    return "another process";
  }
}
