// Storage faults: SQLite's errors of an unusable file, as errors for callers.
import { statfsSync, statSync } from "node:fs";
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";

/** SQLite's codes for an unusable file: BUSY, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN. */
const STORAGE_CODES = new Set([5, 7, 8, 10, 11, 13, 14]);

/** Other database errors are defects; their callers get them unchanged. */
export function isStorageFault(error: unknown): boolean {
  return (
    error instanceof Error &&
    "errcode" in error &&
    typeof error.errcode === "number" &&
    STORAGE_CODES.has(error.errcode & 0xff)
  );
}

/**
 * SQLite's IOERR: a failed write or sync of the file itself. A full disk has another code and leaves no complete
 * commit.
 */
export function isFileFault(error: unknown): boolean {
  return (
    error instanceof Error && "errcode" in error && typeof error.errcode === "number" && (error.errcode & 0xff) === 10
  );
}

export function unknownOutcome(error: unknown): ApiError {
  return new ApiError(
    "commit_unknown",
    `The disk did not confirm the write: ${describeError(error).message}. Check whether it was stored, or send the call again with its Idempotency-Key.`,
    {},
    { "Retry-After": "1" },
  );
}

export function storageFailure(error: unknown): ApiError {
  return new ApiError(
    "storage_unavailable",
    `Nothing was written: ${describeError(error).message}. Try again.`,
    {},
    { "Retry-After": "1" },
  );
}

const MEBIBYTE = 1024 * 1024;

/** The data folder cannot be used as it is: a restart does not help. */
export class DataFolderError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = "DataFolderError";
  }
}

/** What the system says of a folder and this process. */
export interface FolderFacts {
  readonly freeBytes: number;
  /** User ids; null where the system has none. */
  readonly owner: number | null;
  readonly self: number | null;
}

/**
 * An error of a database that does not open, for the operator: SQLite names neither the folder nor the remedy.
 * Errors that are no storage faults stay as they are.
 */
export function openingFailure(error: unknown, folder: string, readFacts = readFolderFacts): unknown {
  const because = `the database in ${folder} cannot be opened: ${describeError(error).message}`;
  if (isDamaged(error)) {
    const remedy = "a file of it is damaged: move the folder away, and restore a backup (docs: Operations)";
    return new DataFolderError(`${because}; ${remedy}`, error);
  }
  if (isForbidden(error)) {
    const { owner, self } = readFacts(folder);
    const whose = owner === self ? "" : `the folder belongs to user ${owner}, and this process runs as user ${self}: `;
    const remedy = `${whose}give it to the user of the server (chown -R), or set HOLDPOINT_DATA_DIR to another folder`;
    return new DataFolderError(`${because}; ${remedy}`, error);
  }
  if (!isStorageFault(error) && !isFullDisk(error)) return error;
  const free = Math.floor(readFacts(folder).freeBytes / MEBIBYTE);
  const space = free === 0 ? "its disk is full: free some space" : `its disk has ${free} MiB free`;
  return new Error(`${because}; ${space}`, { cause: error });
}

/** CORRUPT, and NOTADB. */
function isDamaged(error: unknown): boolean {
  return hasCode(error, 11) || hasCode(error, 26);
}

/** READONLY and CANTOPEN of SQLite, and the system's codes. */
function isForbidden(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return code === "EACCES" || code === "EPERM" || code === "EROFS" || hasCode(error, 8) || hasCode(error, 14);
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === code;
}

function isFullDisk(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

function readFolderFacts(folder: string): FolderFacts {
  const { bavail, bsize } = statfsSync(folder);
  return { freeBytes: bavail * bsize, owner: statSync(folder).uid, self: process.getuid?.() ?? null };
}

/** @returns what is open to other users, with the remedy; null if nothing is */
export function findOpenFolder(folder: string, file: string): { path: string; mode: string; remedy: string } | null {
  if (process.getuid === undefined) return null; // a system without modes
  for (const [path, forbidden, mode] of [
    [folder, 0o002, "700"],
    [file, 0o077, "600"],
  ] as const) {
    const own = statSync(path).mode & 0o777;
    if ((own & forbidden) !== 0) return { path, mode: own.toString(8), remedy: `chmod ${mode} ${path}` };
  }
  return null;
}
