// The files of the repository that the project's tests read.
import { readdirSync } from "node:fs";
import { join, posix } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/**
 * Files below a folder. Installed packages are left out, and so are hidden folders: other tests make and delete
 * `.work-…` folders meanwhile.
 * @param folder from the root, as `src` @returns paths from the root, with `/`
 */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (!entry.isDirectory()) return entry.isFile() ? [path] : [];
    return entry.name.startsWith(".") || entry.name === "node_modules" ? [] : filesBelow(path);
  });
}
