// Storage on one SQLite file, the embedded default: one process, one data folder.
// The pieces:
//   client/      the connection, group commit, the lock on the data folder
//   schema/      the migrations
//   tables/      the SQL of the storage port, one file per table
//   reader/      long reads in threads of their own
//   dump.ts      rows out and in, for moves between adapters
//   backup.ts    a copy of the file in use by a server
//   storage.ts   opens, migrates and closes the storage
// Invariants:
//   folder-lock.1. The lock is that of a file (file-lock.ts): kill -9 frees it, and a stale file does not hold it.
//   folder-lock.2. A rejected process learns the name of the owner.
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Storage, Tx } from "../../ports/ports.ts";
import { systemClock, type Clock } from "@holdpoint/base/clock.ts";
import type { EncryptionKey } from "@holdpoint/base/keyring.ts";
import { type FileLock, lockFile } from "@holdpoint/base/files/file-lock.ts";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import { guardFiles, type FileGuard } from "@holdpoint/base/files/file-guard.ts";
import { makeFolder } from "@holdpoint/base/files/private-folder.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Dumpable } from "../dump/dump.ts";
import type { Versions } from "../shared/schema-version.ts";
import { dropUnfinishedCopies } from "./tables/copies.ts";
import { claimKeys } from "../cold/sealing.ts";
import { createDump } from "./dump.ts";
import { createColdSql } from "./client/cold-sql.ts";
import { openDatabase, type Database } from "./client/database.ts";
import { createGroupCommit, type GroupCommit } from "./client/group-commit.ts";
import { createLogCheckpoints, type LogCheckpoints } from "./client/log-checkpoints.ts";
import { findOpenFolder, openingFailure } from "./client/storage-faults.ts";
import { createVerbs } from "./tables/verbs.ts";
import { mergeWords } from "./tables/search/search.ts";
import { createReader, type Reader } from "./reader/reader.ts";
import { createSealing } from "../shared/sealing.ts";
import { createLongReads } from "../shared/long-reads.ts";
import { migrate } from "./schema/migrate.ts";

export interface SqliteOptions {
  readonly folder: string;
  /** Name of this process for others that want the folder. */
  readonly owner: string;
  readonly versions: Versions;
  readonly log: Log;
  readonly clock?: Clock;
  /** Encrypt at rest; none by default. */
  readonly keys?: readonly EncryptionKey[];
}

export interface SqliteStorage extends Storage, Service, Dumpable {
  readonly boundUnits: () => number;
}

/** Pages of the search index that one transaction merges. */
const MERGED_PAGES = 500;

interface Open {
  readonly lock: FileLock;
  readonly db: Database;
  readonly commits: GroupCommit;
  readonly checkpoints: LogCheckpoints;
  readonly files: FileGuard;
  readonly reader: Reader;
  readonly tx: Tx;
}

export function createSqliteStorage(options: SqliteOptions): SqliteStorage {
  let open: Open | null = null;
  const opened = (): Open => {
    if (open === null) throw new Error("the storage is not open");
    return open;
  };
  return {
    name: "storage",
    async start() {
      openFolder(options.folder);
      try {
        open = await openFiles(options);
      } catch (error) {
        throw openingFailure(error, options.folder);
      }
    },
    async stop() {
      if (open === null) return;
      const { lock, db, commits, checkpoints, files, reader } = open;
      files.stop();
      await commits.settle();
      await checkpoints.stop();
      await reader.stop();
      open = null;
      db.close();
      lock.release();
    },
    transaction(work) {
      const { commits, tx } = opened();
      return commits.run(() => work(tx), false);
    },
    read(work) {
      const { commits, tx } = opened();
      return commits.run(() => work(tx), false);
    },
    transactionDeferred(work) {
      const { commits, tx } = opened();
      return commits.run(() => work(tx), true);
    },
    async scrub() {
      const { commits, checkpoints, db } = opened();
      let pages = -MERGED_PAGES; // negative: all parts of the index, also a single one
      while (await commits.run(() => mergeWords(db, pages), false)) pages = MERGED_PAGES;
      return checkpoints.empty();
    },
    longReads: createLongReads((call) => opened().reader.read(call)),
    dump: async (work) => work(createDump(opened().db)),
    boundUnits: () => opened().db.boundUnits(),
  };
}

/** @throws {ConfigError} if the folder is unusable: a restart does not help */
async function openFiles({
  folder,
  owner,
  versions,
  log,
  clock = systemClock,
  keys = [],
}: SqliteOptions): Promise<Open> {
  const lock = lockFolder(folder, owner);
  try {
    const file = join(folder, "holdpoint.db");
    closeSync(openSync(file, "a", 0o600)); // SQLite gives its other files the mode of this one
    const isOpen = findOpenFolder(folder, file);
    if (isOpen !== null) log.warning("data_folder_open", { ...isOpen });
    const db = openDatabase(file, createSealing(keys, "bytes"));
    try {
      migrate(db, versions);
      await claimKeys(createColdSql(db));
      dropUnfinishedCopies(db);
    } catch (error) {
      db.close();
      throw error;
    }
    const names = ["holdpoint.db", "holdpoint.db-wal", "lock.db"];
    const files = guardFiles(
      names.map((name) => join(folder, name)),
      clock,
      log,
    );
    const checkpoints = createLogCheckpoints(db, file, log);
    const writes = createRefusedWrites(db);
    const after = (): void => {
      writes.committed();
      checkpoints.committed();
    };
    const commits = createGroupCommit(db, log, { before: files.check, after, refused: writes.refused });
    const verbs = createVerbs(db);
    const checkWritable: Tx["checkWritable"] = (at) => {
      writes.probe();
      return verbs.checkWritable(at);
    };
    const tx: Tx = { ...verbs, checkWritable };
    return { lock, db, commits, checkpoints, files, reader: createReader({ path: file, log, keys }), tx };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function openFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    const reason = `cannot use ${folder}: ${describeError(error).message}`;
    throw new ConfigError([{ name: "HOLDPOINT_DATA_DIR", reason }]);
  }
}

/** One process per data folder. */
export class FolderInUseError extends Error {
  constructor(folder: string, owner: string) {
    super(
      `the data folder ${folder} is in use by ${owner}: stop it first, or set HOLDPOINT_DATA_DIR to another folder`,
    );
    this.name = "FolderInUseError";
  }
}

/** @param self the name of this process for the next one, e.g. `process 4711 (holdpoint serve)` */
function lockFolder(folder: string, self: string): FileLock {
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

// Refused writes: whether the disk takes writes again after it refused one. A full disk may still take the few bytes of
// a test write, so that a probe alone says too little.
// Invariant refused-writes.1: from the first refused write on, the storage counts as not writable until a large write was
// committed.

interface RefusedWrites {
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
