// Refused writes: whether the disk takes writes again after it refused one. A full disk may still take the few bytes of
// a test write, so that a probe alone says too little.
// Invariant refused-writes.1: from the first refused write on, the storage counts as not writable until a large write was
// committed.
import type { Database } from "./database.ts";

export interface RefusedWrites {
  readonly refused: () => void;
  /** A commit with writes is on disk. */
  readonly committed: () => void;
  /** In a transaction: writes much, if a write was refused. @throws {Error} of SQLite, while the disk is full */
  readonly probe: () => void;
}

/** More than most commits write. */
const PROBE_BYTES = 512 * 1024;

export function createRefusedWrites(db: Database): RefusedWrites {
  let state: "fine" | "refused" | "probing" = "fine";
  return {
    refused: () => (state = "refused"),
    committed() {
      if (state === "probing") state = "fine";
    },
    probe() {
      if (state === "fine") return;
      state = "probing";
      db.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('probe', hex(randomblob(?)))", PROBE_BYTES / 2);
      db.run("DELETE FROM meta WHERE key = 'probe'");
    },
  };
}
