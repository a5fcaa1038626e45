// Tests of what a new project depends on: a clone, with and without its package, and a package, with and without its
// file.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findOwnPackage } from "./verb-ports.ts";
import { PUBLISHED } from "./published.ts";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-own-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string): string {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), "");
  return join(folder, path);
}

const product = { version: "1.2.3", nodeRequired: ">=24", dependencies: {} };
const clone = { ...product, root: join(folder, "clone") };
const file = (name: string): string => (PUBLISHED ? "^1.2.3" : `file:${join(folder, name)}`);

test("a clone refers to the package that it makes, and names the command until it is there", () => {
  write("clone/deploy/package.ts");
  const missing = findOwnPackage(clone);
  assert.equal(missing.dependency, file("clone/dist/packages/holdpoint-1.2.3.tgz"));
  assert.equal(missing.firstStep, PUBLISHED ? null : `npm --prefix ${JSON.stringify(clone.root)} run package`);
  write("clone/dist/packages/holdpoint-1.2.3.tgz");
  assert.deepEqual(findOwnPackage(clone), { ...missing, firstStep: null });
});

test("a package refers to the file that it came from, or to its version", () => {
  const root = join(folder, "package");
  const packedAt = write("packed.tgz");
  assert.equal(findOwnPackage({ ...product, root, packedAt }).dependency, file("packed.tgz"));
  for (const gone of [undefined, join(folder, "gone.tgz")])
    assert.deepEqual(findOwnPackage({ ...product, root, packedAt: gone }), { dependency: "^1.2.3", firstStep: null });
});
