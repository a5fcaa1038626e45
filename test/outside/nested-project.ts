// The npm projects inside this repository: packages that weigh much, or exist in several versions, for a few tests.
// `npm ci` of the root installs none of them, so `npm test` uses none of them (test/project/first-run.test.ts).
import { existsSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");

/**
 * @param path from the root, as `test/sdk/clients`
 * @returns its folder @throws with the command that installs it, when it is not installed
 */
export function nestedProject(path: string): string {
  const folder = join(ROOT, path);
  if (!existsSync(join(folder, "node_modules")))
    throw new Error(`not installed: npm ci --ignore-scripts --prefix ${path}`);
  return folder;
}
