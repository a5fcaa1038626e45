// Release faults: why a commit cannot be released. Pure.

export interface ReleaseState {
  readonly manifest: object;
  readonly lock: object;
  readonly changelog: string;
  /** Chart.yaml. */
  readonly chart: string;
  /** Tags of the commit. */
  readonly tags: readonly string[];
  readonly changedFiles: readonly string[];
  /** `owner/name` of the repository that the workflow runs in; null elsewhere. */
  readonly repository: string | null;
  /** The pages and `holdpoint new` refer to the registry (packages/holdpoint/src/main/published.ts). */
  readonly published: boolean;
  /** Nothing need be there yet that only the owner of the accounts decides: tag, date, addresses, turned texts. */
  readonly dryRun: boolean;
}

/** The addresses in package.json until the project has a public repository. */
const PLACEHOLDER = "holdpoint/holdpoint";
const VERSION = /^\d+\.\d+\.\d+$/;

export function releaseFaults(state: ReleaseState): readonly string[] {
  const version = text(state.manifest, "version");
  const faults: string[] = [];
  if (!VERSION.test(version)) faults.push(`package.json: "${version}" is not a version such as 1.2.3`);
  if (text(state.lock, "version") !== version) faults.push(`package-lock.json has another version than package.json`);
  if (!state.chart.includes(`\nversion: ${version}\nappVersion: ${version}\n`))
    faults.push(`deploy/helm/Chart.yaml has another version than package.json`);
  if (state.changedFiles.length > 0) faults.push(`the working tree has changes: ${state.changedFiles.join(", ")}`);
  return state.dryRun ? faults : [...faults, ...ownerFaults(state, version)];
}

/** What the person with the accounts does before the tag. */
function ownerFaults(state: ReleaseState, version: string): readonly string[] {
  const faults: string[] = [];
  const notes = findNotes(state.changelog, version);
  if (notes === null) faults.push(`CHANGELOG.md has no section "## [${version}] - <year>-<month>-<day>"`);
  else if (notes === "") faults.push(`CHANGELOG.md: the section of ${version} is empty`);
  if (notes !== null && findSection(state.changelog, "Unreleased") !== "")
    faults.push(`CHANGELOG.md: [Unreleased] is not empty: move its lines to ${version}`);
  if (!state.tags.includes(`v${version}`)) faults.push(`the commit has no tag v${version}`);
  if (!state.published)
    faults.push("the texts refer to a clone: run node deploy/publish-texts.ts and commit what it turns");
  return [...faults, ...addressFaults(state)];
}

/** The text of a version's section; null without one. */
export function findNotes(changelog: string, version: string): string | null {
  const escaped = version.replaceAll(".", "\\.");
  return new RegExp(`^## \\[${escaped}\\] - \\d{4}-\\d\\d-\\d\\d$`, "m").test(changelog)
    ? findSection(changelog, version)
    : null;
}

export function findSection(changelog: string, name: string): string {
  const [, below = ""] = changelog.split(`\n## [${name}]`);
  return (below.split("\n## ")[0] ?? "").split("\n").slice(1).join("\n").trim();
}

/** npm rejects provenance when `repository` is not the repository of the workflow. */
function addressFaults({ manifest, repository }: ReleaseState): readonly string[] {
  const addresses = JSON.stringify(["repository", "homepage", "bugs"].map((name) => Reflect.get(manifest, name)));
  if (repository !== null && !addresses.includes(`github.com/${repository}.git`))
    return [`package.json: repository is not github.com/${repository}, where this workflow runs`];
  if (repository !== null || !addresses.includes(`github.com/${PLACEHOLDER}`)) return [];
  return [
    `package.json: repository, homepage and bugs (github.com/${PLACEHOLDER}) are placeholders: set the real ones`,
  ];
}

function text(value: object, name: string): string {
  const found: unknown = Reflect.get(value, name);
  return typeof found === "string" ? found : "";
}
