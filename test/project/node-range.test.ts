// The Node that the product needs, declared once: `engines` of package.json. The pages, the lock file, the launcher and
// the packages say the same (those two are tested on real versions of Node in test/e2e/install.test.ts).
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { nodeCheck } from "../../packages/holdpoint/src/cli/commands/checks/machine-checks.ts";
import type { Surroundings } from "../../packages/holdpoint/src/cli/commands/checks/finding.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const { engines } = JSON.parse(read("package.json")) as { readonly engines: { readonly node: string } };
const [, oldMajor, oldMinor, newMajor, newMinor] =
  /^\^(\d+)\.(\d+)\.0 \|\| >=(\d+)\.(\d+)\.0$/.exec(engines.node) ?? assert.fail(engines.node);
const SENTENCE = `Node ${oldMajor}.${oldMinor} or newer of ${oldMajor}, or Node ${newMajor}.${newMinor} or newer`;

test("every page that names a version of Node names the declared ones", () => {
  const pages = globSync(["*.md", "docs/**/*.md", "examples/**/*.md", "packages/**/*.md"], {
    cwd: ROOT,
    exclude: ["**/node_modules/**"],
  });
  const naming = pages.filter(
    (page) =>
      page !== "CHANGELOG.md" &&
      /Node (?:\d+\.\d+|\d+ or newer)/.test(read(page).replaceAll(/under .*?Node [\d.]+;/g, "")),
  );
  assert.ok(naming.length >= 4, naming.join());
  for (const page of naming) {
    const rest = read(page)
      .replaceAll(SENTENCE, "")
      .replaceAll(/under .*?Node [\d.]+;/g, "");
    assert.doesNotMatch(rest, /Node (?:\d+\.\d+|\d+ or newer)/, page);
  }
});

test("the lock file, the launcher and both packages take the range from package.json", () => {
  const lock = JSON.parse(read("package-lock.json")) as { readonly packages: { readonly "": unknown } };
  assert.deepEqual((lock.packages[""] as { readonly engines: unknown }).engines, engines);
  assert.match(read("deploy/npm/holdpoint.cjs"), /require\("\.\.\/package\.json"\)\.engines\.node/);
  assert.match(read("deploy/npm/create-holdpoint.cjs"), /"holdpoint\.cjs"/);
  for (const file of ["deploy/package.ts", "deploy/npm/holdpoint.cjs"])
    assert.doesNotMatch(read(file), /node: "|"[\^>=]*2\d\.\d+/, file);
});

test("both commands and the image start V8 with the same flag", () => {
  const [, flag] = /^#!\/usr\/bin\/env -S node (\S+)\n/.exec(read("packages/holdpoint/src/main.ts")) ?? assert.fail();
  assert.ok(read("deploy/npm/holdpoint.cjs").startsWith(`#!/usr/bin/env -S node ${flag}\n`));
  assert.ok(read("deploy/Dockerfile").includes(`ENTRYPOINT ["node", "${flag}", `));
});

test("doctor takes the versions that the range takes", () => {
  const rows: readonly (readonly [version: string, fits: boolean])[] = [
    [`${oldMajor}.${oldMinor}.0`, true],
    [`${oldMajor}.${Number(oldMinor) - 1}.9`, false],
    [`${oldMajor}.${Number(oldMinor) + 9}.1`, true],
    [`${Number(oldMajor) + 1}.11.0`, false],
    [`${newMajor}.${Number(newMinor) - 1}.9`, false],
    [`${newMajor}.${newMinor}.0`, true],
    [`${Number(newMajor) + 2}.0.0`, true],
    ["20.19.0", false],
  ];
  for (const [nodeVersion, fits] of rows) {
    const { status } = nodeCheck({ nodeVersion, nodeRequired: engines.node } as Surroundings);
    assert.equal(status, fits ? "ok" : "fail", nodeVersion);
  }
});
