// The Helm chart as one file, as `helm package` makes it: helm is not needed to build a release.
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** @param target the file to write */
export function packChart(target: string): void {
  const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
  execFileSync("tar", [...same, "--transform=s,^helm,holdpoint,", "-czf", target, "-C", import.meta.dirname, "helm"]);
}

export const CHART_FILE = join(import.meta.dirname, "helm/Chart.yaml");
