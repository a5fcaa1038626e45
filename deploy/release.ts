// Release: `npm run release` checks that this commit can be released, and makes dist/release/: the packages, the
// chart, the site, the notes, an SBOM and checksums. The workflow release.yml publishes them. `--dry-run` does the same before the tag is
// there.
// Rules:
//   - Nothing is published from here.
//   - Every fault is reported at once, with exit code 1. A dry run makes the files all the same, and lists what is to
//     be done before the tag.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { PUBLISHED } from "../packages/holdpoint/src/main/published.ts";
import { CHART_FILE, packChart, packSite } from "./pack-chart.ts";
import { findNotes, findSection, releaseFaults, type ReleaseState } from "./release-faults.ts";

const ROOT = dirname(import.meta.dirname);
const TARGET = join(ROOT, "dist", "release");

const { values } = parseArgs({ options: { "dry-run": { type: "boolean", default: false } } });
const dryRun = values["dry-run"];
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const run = (command: string, args: readonly string[], cwd = ROOT): string =>
  execFileSync(command, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"],
  });

const manifest = JSON.parse(read("packages/holdpoint/package.json")) as { readonly version: string };
const { version } = manifest;
const changelog = read("CHANGELOG.md");
const state: ReleaseState = {
  manifest,
  lock: JSON.parse(read("package-lock.json")) as object,
  changelog,
  chart: readFileSync(CHART_FILE, "utf8"),
  tags: run("git", ["tag", "--points-at", "HEAD"]).split("\n").filter(Boolean),
  changedFiles: run("git", ["status", "--porcelain"]).split("\n").filter(Boolean),
  repository: process.env["GITHUB_REPOSITORY"] ?? null,
  published: PUBLISHED,
  dryRun,
};
const faults = releaseFaults(state);

if (dryRun || faults.length === 0) {
  run("npm", ["run", "package"]);
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(TARGET, { recursive: true });
  for (const folder of ["package", "dist/create-holdpoint", "dist/holdpoint-collector"])
    run("npm", ["pack", "--loglevel=error", "--pack-destination", TARGET], join(ROOT, folder));
  packChart(join(TARGET, `holdpoint-chart-${version}.tgz`));
  if (existsSync(join(ROOT, "docs/site/node_modules"))) run(process.execPath, ["docs/site/build.ts"]);
  else run("npm", ["run", "docs:build"]);
  packSite(join(TARGET, `holdpoint-docs-${version}.tgz`));
  const sbom = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--omit=dev", "--package-lock-only"];
  writeFileSync(join(TARGET, "sbom.cdx.json"), run("npm", [...sbom, "--loglevel=error"]));
  writeFileSync(join(TARGET, "notes.md"), findNotes(changelog, version) ?? findSection(changelog, "Unreleased"));
  const sums = readdirSync(TARGET).map((name) => {
    const hash = createHash("sha256").update(readFileSync(join(TARGET, name)));
    return `${hash.digest("hex")}  ${name}\n`;
  });
  writeFileSync(join(TARGET, "SHA256SUMS"), sums.join(""));
  process.stdout.write(`dist/release/ for ${version}:\n${sums.join("")}`);
}
if (dryRun) {
  const all = releaseFaults({ ...state, dryRun: false });
  for (const task of all.filter((one) => !faults.includes(one))) process.stdout.write(`before the tag: ${task}\n`);
}
for (const fault of faults) process.stderr.write(`release: ${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
