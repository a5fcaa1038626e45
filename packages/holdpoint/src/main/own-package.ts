// Own package: what a new project depends on for `holdpoint`.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Product } from "./host.ts";
import { PUBLISHED } from "./published.ts";

export interface OwnPackage {
  /** A version, or until the packages are in the registry `file:` and the path of the packed one. */
  readonly dependency: string;
  /** The command that makes the packed file, if it is not there. */
  readonly firstStep: string | null;
}

export function findOwnPackage({ root, version, packedAt }: Product): OwnPackage {
  const isClone = existsSync(join(root, "deploy", "package.ts"));
  const file = isClone ? join(root, "dist", "packages", `holdpoint-${version}.tgz`) : packedAt;
  const isThere = file !== undefined && existsSync(file);
  // An image, or a package whose clone has gone, has no file to refer to.
  if (PUBLISHED || file === undefined || !(isThere || isClone)) return { dependency: `^${version}`, firstStep: null };
  return { dependency: `file:${file}`, firstStep: isThere ? null : `npm --prefix ${JSON.stringify(root)} run package` };
}
