import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeFolder } from "./private-folder.ts";

const root = mkdtempSync(join(tmpdir(), "holdpoint-folder-"));
after(() => rmSync(root, { recursive: true }));

test("a folder is created with its parents, for its owner only, and a second call does no harm", () => {
  const path = join(root, "a", "b", "c");
  makeFolder(path);
  makeFolder(path);
  for (const one of [path, join(root, "a")]) assert.equal(statSync(one).mode & 0o777, 0o700, one);
});

const file = join(root, "file");
writeFileSync(file, "");

const REFUSED: readonly (readonly [path: string, code: string])[] = [
  [file, "EEXIST"],
  [join(file, "below"), "ENOTDIR"],
  [join(file, "far", "below"), "ENOTDIR"],
  ["/proc/nope", "ENOENT"],
  ["/proc/nope/below", "ENOENT"],
];

for (const [path, code] of REFUSED) {
  test(`an impossible folder fails with ${code}: ${path.replace(root, "")}`, () => {
    assert.throws(() => makeFolder(path), { code });
  });
}
