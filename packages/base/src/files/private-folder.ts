// Folder: creates a private data folder (owner access only) with its parents.
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

const OWNER_ONLY = 0o700;

/**
 * Does nothing if the folder exists. Avoids Node's own recursion, which never ends below an existing folder that
 * accepts no entries, such as /proc.
 * @throws {Error} of the file system, with its code
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: OWNER_ONLY });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && isFolder(path)) return;
    const above = dirname(path);
    if (code !== "ENOENT" || above === path || isFolder(above)) throw error;
    makeFolder(above);
    makeFolder(path);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
