// Folders of a release as one file each. The chart is packed as `helm package` does: helm is not needed to build a release.
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";

const SITE = join(dirname(import.meta.dirname), "docs/site/.vitepress/dist");

/** @param target the file to write */
export function packChart(target: string): void {
  pack(join(import.meta.dirname, "helm"), "holdpoint", target);
}

/** The pages as `npm run docs:build` made them. */
export function packSite(target: string): void {
  pack(SITE, "holdpoint-docs", target);
}

/** @param name of the folder within the file */
function pack(folder: string, name: string, target: string): void {
  const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
  execFileSync("tar", [...same, `--transform=s,^\\.,${name},`, "-czf", target, "-C", folder, "."]);
}

export const CHART_FILE = join(import.meta.dirname, "helm/Chart.yaml");
