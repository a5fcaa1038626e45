// Product: name and version of the installed package, from its package.json.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Product } from "./host.ts";

export function readProduct(): Product {
  const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  const { version, engines, dependencies, testedWith, packedAt } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  ) as {
    readonly version: string;
    readonly engines: { readonly node: string };
    readonly dependencies: Readonly<Record<string, string>>;
    /** In the package: the tested versions of its peer dependencies. */
    readonly testedWith?: Readonly<Record<string, string>>;
    readonly packedAt?: string;
  };
  return { root, version, nodeRequired: engines.node, packedAt, dependencies: { ...dependencies, ...testedWith } };
}
