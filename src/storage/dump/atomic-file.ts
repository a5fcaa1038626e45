// Whole file: what is written for somebody to keep is there as a whole under its name, or not at all.
// Invariants:
//   atomic-file.1. Nothing is ever replaced.
//   atomic-file.2. The file has its name only after all of it is on disk; nobody but its owner can read it.
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** @param write fills the file of the name that it is given, which is there and empty @throws {Error} in words */
export async function writeWhole<T>(target: string, write: (part: string) => Promise<T>): Promise<T> {
  if (existsSync(target)) throw new Error(`${target} is already there: name another file`); // atomic-file.1
  const part = `${target}.part`;
  rmSync(part, { force: true });
  try {
    closeSync(openSync(part, "wx", 0o600)); // atomic-file.2
    const result = await write(part);
    sync(part);
    linkSync(part, target); // unlike a renaming, this replaces nothing (atomic-file.1)
    sync(dirname(resolve(target)));
    return result;
  } finally {
    rmSync(part, { force: true });
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
