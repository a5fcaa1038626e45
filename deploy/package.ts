// Package: the output of `npm run build` → package/, the content of the published package and of the image, and
// dist/create-holdpoint/, for `npm create holdpoint`, and dist/holdpoint-collector/, the collector alone.
// Rules:
//   - It is all JavaScript: Node strips no types below node_modules.
//   - Its package.json requires only run-time dependencies: no copy of Node, no tools, no scripts.
//   - Files that the program finds by their path below the root have the same path here.
//   - LangGraph is the project's: a second copy would have other classes.
//   - The oldest Node is that of the root package.json: process.threadCpuUsage is in 22.19, the backup of node:sqlite
//     in 24.1. deploy/npm/holdpoint.cjs reads it from the package.
//   - They are packed into dist/packages/. Until they are in the registry, they refer to that file.
//   - No pictures, and declarations only of importable modules.
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PUBLISHED } from "../packages/holdpoint/src/main/published.ts";

const ROOT = dirname(import.meta.dirname);
const TARGET = join(ROOT, "package");
const CREATE = join(ROOT, "dist", "create-holdpoint");
const COLLECTOR = join(ROOT, "dist", "holdpoint-collector");
const PACKED = join(ROOT, "dist", "packages");
const PLACES: readonly (readonly [from: string, to: string])[] = [
  ["deploy/npm/holdpoint.cjs", "bin/holdpoint.cjs"],
  ["dist/program", "dist"],
  ["dist/console", "dist/console"],
  ["dist/examples", "examples"],
  ["examples/README.md", "examples/README.md"],
  ["packages/holdpoint/src/cli/template", "packages/holdpoint/src/cli/template"],
  ["packages/api/src/docs-page/index.html", "packages/api/src/docs-page/index.html"],
  ["packages/api/src/docs-page/page.js", "packages/api/src/docs-page/page.js"],
  ["node_modules/swagger-ui-dist/swagger-ui-bundle.js", "packages/api/src/docs-page/swagger-ui-bundle.js"],
  ["node_modules/swagger-ui-dist/swagger-ui.css", "packages/api/src/docs-page/swagger-ui.css"],
  ["node_modules/swagger-ui-dist/LICENSE", "packages/api/src/docs-page/swagger-ui.LICENSE"],
  ["node_modules/swagger-ui-dist/NOTICE", "packages/api/src/docs-page/swagger-ui.NOTICE"],
  ["docs", "docs"],
  ["README.md", "README.md"],
  ["CHANGELOG.md", "CHANGELOG.md"],
  ["LICENSE", "LICENSE"],
];
const COLLECTOR_PARTS = ["base", "api", "collector"];
const ENTRIES = ["holdpoint/src/exports/", "holdpoint/src/cli/client/requests"];
/** LangGraph: from the first version that the server starts with (packages/server/src/graphs/langgraph/library.ts) to the next major one. */
const PEERS: Readonly<Record<string, string>> = {
  "@langchain/core": ">=1.1.0 <2",
  "@langchain/langgraph": ">=1.4.18 <2",
  "@langchain/langgraph-checkpoint": ">=1.0.0 <2",
  "@langchain/langgraph-sdk": ">=1.0.0 <2",
};

interface Manifest {
  readonly exports: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly version: string;
}

const text = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const writeJson = (path: string, value: object): void => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

const readManifest = (part: string): Manifest => JSON.parse(text(`packages/${part}/package.json`)) as Manifest;

/** What these packages need of others. */
function collectDependencies(parts: readonly string[]): Readonly<Record<string, string>> {
  const all = parts.flatMap((part) => Object.entries(readManifest(part).dependencies));
  return Object.fromEntries(
    all.filter(([one]) => !one.startsWith("@holdpoint/")).toSorted(([one], [other]) => one.localeCompare(other)),
  );
}

function isPublished(path: string): boolean {
  if (path.endsWith(".png")) return false;
  if (path.startsWith(join(ROOT, "docs", "site"))) return false; // built and published on its own
  return !path.endsWith(".d.ts") || ENTRIES.some((entry) => path.includes(`/dist/program/${entry}`));
}

/** A source file of the `exports` → its counterpart in the package. */
function published(file: string): unknown {
  if (!file.endsWith(".ts")) return file;
  const built = file.replace("./src/", "./dist/holdpoint/src/").slice(0, -".ts".length);
  return { types: `${built}.d.ts`, default: `${built}.js` };
}

for (const folder of [TARGET, CREATE, COLLECTOR, PACKED]) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
for (const [from, to] of PLACES) cpSync(join(ROOT, from), join(TARGET, to), { recursive: true, filter: isPublished });
for (const path of globSync("dist/**/*.d.ts", { cwd: TARGET })) {
  const declared = readFileSync(join(TARGET, path), "utf8"); // the compiler rewrites specifiers only in code
  writeFileSync(join(TARGET, path), declared.replaceAll(/(\bfrom "\.[^"]+)\.ts"/g, '$1.js"'));
}
rmSync(join(TARGET, "docs", "images"), { recursive: true, force: true });
writeFileSync(join(TARGET, "examples/langgraph.json"), text("examples/langgraph.json").replaceAll(".ts:", ".js:"));

const { name, version, description, keywords, homepage, bugs, license, repository, type, engines, exports } =
  JSON.parse(text("packages/holdpoint/package.json")) as Manifest;
const common = {
  homepage,
  bugs,
  license,
  repository,
  engines,
  publishConfig: { access: "public", provenance: true },
};
const tarball = join(PACKED, `holdpoint-${version}.tgz`);
const dependencies = collectDependencies(["base", "api", "server", "collector", "gateways", "notify", "holdpoint"]);
const own = Object.fromEntries(Object.entries(dependencies).filter(([one]) => !(one in PEERS)));
const testedWith = Object.fromEntries(Object.keys(PEERS).map((one) => [one, dependencies[one]]));
writeJson(join(TARGET, "package.json"), {
  name,
  version,
  description,
  keywords,
  ...common,
  bin: { holdpoint: "bin/holdpoint.cjs" },
  type,
  exports: Object.fromEntries(Object.entries(exports).map(([path, file]) => [path, published(file)])),
  dependencies: own,
  peerDependencies: PEERS,
  testedWith,
  ...(PUBLISHED ? {} : { packedAt: tarball }),
});

cpSync(join(ROOT, "deploy/npm/create-holdpoint.cjs"), join(CREATE, "bin/create-holdpoint.cjs"));
cpSync(join(ROOT, "LICENSE"), join(CREATE, "LICENSE"));
writeFileSync(
  join(CREATE, "README.md"),
  "# create-holdpoint\n\n```sh\nnpm create holdpoint@latest my-agent\n```\n\nmakes a project with an agent that asks a person before it acts, served by [Holdpoint](https://www.npmjs.com/package/holdpoint).\n",
);
writeJson(join(CREATE, "package.json"), {
  name: "create-holdpoint",
  version,
  description: "Makes a project for Holdpoint: an agent that asks a person before it acts.",
  ...common,
  type: "commonjs",
  bin: { "create-holdpoint": "bin/create-holdpoint.cjs" },
  dependencies: { holdpoint: PUBLISHED ? version : `file:${tarball}` },
});

// The collector alone: its launcher is that of the whole, with another program behind it.
for (const part of COLLECTOR_PARTS)
  cpSync(join(ROOT, "dist/program", part), join(COLLECTOR, "dist", part), { recursive: true, filter: isPublished });
mkdirSync(join(COLLECTOR, "bin"));
writeFileSync(
  join(COLLECTOR, "bin/holdpoint-collector.cjs"),
  text("deploy/npm/holdpoint.cjs")
    .replace("../dist/holdpoint/src/main.js", "../dist/collector/src/main.js")
    .replace('"holdpoint needs', '"holdpoint-collector needs'),
);
cpSync(join(ROOT, "LICENSE"), join(COLLECTOR, "LICENSE"));
writeFileSync(
  join(COLLECTOR, "README.md"),
  "# @holdpoint/collector\n\nThe trace collector proxy of [Holdpoint](https://www.npmjs.com/package/holdpoint) alone: `holdpoint-collector` takes OTLP traces and delivers them to a tracing backend.\n",
);
writeJson(join(COLLECTOR, "package.json"), {
  name: "@holdpoint/collector",
  version,
  description: readManifest("collector").description,
  ...common,
  bin: { "holdpoint-collector": "bin/holdpoint-collector.cjs" },
  type,
  exports: { "./package.json": "./package.json" },
  dependencies: collectDependencies(COLLECTOR_PARTS),
});

for (const folder of [TARGET, CREATE, COLLECTOR])
  execFileSync("npm", ["pack", "--silent", "--pack-destination", PACKED], { cwd: folder });
if (!PUBLISHED)
  process.stdout.write(`
The package is ${tarball}

In the folder of your project:

  export HOLDPOINT=${tarball}
  npm install "$HOLDPOINT"

A new project: npm run holdpoint -- new ../my-agent
`);
