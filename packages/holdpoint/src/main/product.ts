// Product: name and version of the installed package, from its package.json.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Product } from "./host.ts";

export function readProduct(): Product {
  const root = join(import.meta.dirname, "../../../.."); // as many folders in a clone as in the package
  const manifest = createRequire(import.meta.url).resolve("holdpoint/package.json");
  const { version, engines, dependencies, testedWith, packedAt } = JSON.parse(readFileSync(manifest, "utf8")) as {
    readonly version: string;
    readonly engines: { readonly node: string };
    readonly dependencies: Readonly<Record<string, string>>;
    /** In the package: the tested versions of its peer dependencies. */
    readonly testedWith?: Readonly<Record<string, string>>;
    readonly packedAt?: string;
  };
  return { root, version, nodeRequired: engines.node, packedAt, dependencies: { ...dependencies, ...testedWith } };
}
