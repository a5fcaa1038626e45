// Test of the release: the faults it finds, and the workflows. Checked:
//   release.1. The check reports all faults of a commit at once; a good commit has none.
//   release.2. The release workflow publishes with provenance, and makes the image for two architectures.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findNotes, releaseFaults, type ReleaseState } from "../../deploy/release-faults.ts";

const ROOT = join(import.meta.dirname, "../..");
const CHANGELOG =
  "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-12-01\n\n- Added: a line.\n\n## [1.2.2] - 2026-11-01\n\n- Old.\n";
const address = "git+https://github.com/someone/holdpoint.git";
const GOOD: ReleaseState = {
  manifest: { version: "1.2.3", repository: { url: address } },
  lock: { version: "1.2.3" },
  changelog: CHANGELOG,
  chart: "apiVersion: v2\nversion: 1.2.3\nappVersion: 1.2.3\n",
  tags: ["v1.2.3"],
  changedFiles: [],
  repository: "someone/holdpoint",
  published: true,
  dryRun: false,
};
const PLACEHOLDER = { version: "1.2.3", homepage: "https://github.com/holdpoint/holdpoint#readme" };

const FAULTS: readonly (readonly [name: string, change: Partial<ReleaseState>, fault: RegExp])[] = [
  ["a version that is none", { manifest: { version: "1.2", repository: { url: address } } }, /"1\.2" is not a version/],
  ["another version in the lock file", { lock: { version: "1.2.2" } }, /package-lock\.json has another version/],
  ["another version in the chart", { chart: "version: 1.2.3\nappVersion: 1.2.2\n" }, /Chart\.yaml has another version/],
  ["no section", { changelog: "## [Unreleased]\n\n- A line.\n" }, /no section "## \[1\.2\.3\]/],
  ["an empty section", { changelog: "## [1.2.3] - 2026-12-01\n\n## [1.2.2] - 2026-11-01\n" }, /no section|is empty/],
  [
    "unreleased lines",
    { changelog: CHANGELOG.replace("Unreleased]\n", "Unreleased]\n\n- New.\n") },
    /Unreleased\] is not empty/,
  ],
  ["no tag", { tags: ["v1.2.2"] }, /no tag v1\.2\.3/],
  ["texts of a clone", { published: false }, /run node deploy\/publish-texts\.ts/],
  ["changed files", { changedFiles: [" M a.ts"] }, /has changes:  M a\.ts/],
  ["another repository", { repository: "other/holdpoint" }, /repository is not github\.com\/other\/holdpoint/],
  ["placeholders", { manifest: PLACEHOLDER, repository: null }, /are placeholders/],
];
for (const [name, change, fault] of FAULTS) {
  test(`found: ${name} (release.1)`, () => {
    const found = releaseFaults({ ...GOOD, ...change });
    assert.ok(
      found.some((one) => fault.test(one)),
      found.join("\n"),
    );
  });
}

test("a good commit has no fault, a dry run needs no tag, and the notes are its section (release.1)", () => {
  assert.deepEqual(releaseFaults(GOOD), []);
  assert.deepEqual(releaseFaults({ ...GOOD, tags: [], published: false, repository: null, dryRun: true }), []);
  assert.equal(findNotes(CHANGELOG, "1.2.3"), "- Added: a line.");
});

test("the release has provenance and two architectures (release.2)", () => {
  const content = readFileSync(join(ROOT, ".github/workflows/release.yml"), "utf8");
  assert.equal(content.match(/npm publish --provenance/g)?.length, 3);
  assert.match(content, /attest-build-provenance@[^]*subject-path: dist\/release\/\*/);
  assert.match(content, /helm push "dist\/release\/holdpoint-chart-/);
  assert.match(content, /platforms: linux\/amd64,linux\/arm64/);
  assert.match(content, /id-token: write/);
});

test("the site is published under the path of its pages (release.2)", () => {
  const content = readFileSync(join(ROOT, ".github/workflows/docs.yml"), "utf8");
  assert.match(content, /pages: write[^]*SITE_BASE: "\$\{\{ steps\.pages\.outputs\.base_path \}\}"[^]*deploy-pages@/);
});
