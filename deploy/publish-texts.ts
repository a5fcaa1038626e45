// Publish texts: `node deploy/publish-texts.ts` turns the pages, and the switch of `holdpoint new`, from "install what a
// clone packs" to "install from the registry". For the commit of the first release.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = dirname(import.meta.dirname);

/** Lines that only hold until the packages are in the registry stand between two such comments. */
const UNTIL = /<!-- until the release -->\n.*?<!-- \/until the release -->\n+/gs;

const REPLACED: readonly (readonly [until: string, from: string])[] = [
  ['npm install "$HOLDPOINT"', "npm install holdpoint"],
  [
    "npm run package && npm run holdpoint -- new ../my-agent && cd ../my-agent",
    "npm create holdpoint@latest my-agent && cd my-agent",
  ],
  ["```sh\nnpm ci && npm start\n```", "```sh\nnpx holdpoint dev\n```"],
  ["PUBLISHED: boolean = false", "PUBLISHED: boolean = true"],
];

/** @returns the text as it is from the release on */
export function publishText(text: string): string {
  return REPLACED.reduce((turned, [until, from]) => turned.replaceAll(until, from), text.replace(UNTIL, ""));
}

export function findTexts(): readonly string[] {
  return globSync(["README.md", "docs/**/*.md", "examples/**/*.md", "packages/holdpoint/src/main/published.ts"], {
    cwd: ROOT,
    exclude: (path) => path.includes("node_modules"),
  });
}

if (import.meta.main) {
  for (const path of findTexts()) {
    const text = readFileSync(join(ROOT, path), "utf8");
    const turned = publishText(text);
    if (turned === text) continue;
    writeFileSync(join(ROOT, path), turned);
    process.stdout.write(`${path}\n`);
  }
}
