// Atomic file: a file that exists complete under its name, or not at all.
// Invariants:
//   - It never replaces an existing file.
//   - A file gets its name after all of its content is on disk; only its owner can read it.
//   atomic-file.3. It creates no folder: a mistyped one would hide the file.
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * @param write fills the existing empty file of the given name
 * @throws {Error} with a message for the user
 */
export async function writeWhole<T>(target: string, write: (part: string) => Promise<T>): Promise<T> {
  if (existsSync(target)) throw new Error(`${target} exists already: choose another file name`);
  const folder = dirname(resolve(target));
  if (!existsSync(folder)) throw new Error(`the folder ${folder} does not exist: create it first`); // atomic-file.3
  const part = `${target}.part`;
  rmSync(part, { force: true });
  try {
    closeSync(openSync(part, "wx", 0o600));
    const result = await write(part);
    sync(part);
    linkSync(part, target); // unlike rename, link replaces nothing
    sync(folder);
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
