// Storage faults: SQLite's errors of an unusable file, as errors for callers.
import { statfsSync } from "node:fs";
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

/**
 * An error of a database that does not open, for the operator: SQLite names neither the folder nor the space left.
 * Errors that are no storage faults stay as they are.
 */
export function openingFailure(error: unknown, folder: string, freeBytes = freeBytesIn): unknown {
  if (!isStorageFault(error) && !isFullDisk(error)) return error;
  const free = Math.floor(freeBytes(folder) / MEBIBYTE);
  const space = free === 0 ? "its disk is full: free some space" : `its disk has ${free} MiB free`;
  return new Error(`the database in ${folder} cannot be opened: ${describeError(error).message}; ${space}`, {
    cause: error,
  });
}

function isFullDisk(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

function freeBytesIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
