// Package: what `npm run build` made → package/, the folder that is published and that the image holds.
// Invariants:
//   PK1. It is all JavaScript: Node strips no types below node_modules.
//   PK2. Its package.json asks for what running needs and for nothing else: no copy of Node, no tools, no scripts.
//   PK3. What the program finds by its place below the root has the same place here.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = dirname(import.meta.dirname);
const TARGET = join(ROOT, "package");
const PLACES: readonly (readonly [from: string, to: string])[] = [
  ["dist/program", "dist"],
  ["dist/console", "dist/console"],
  ["dist/examples", "examples"],
  ["examples/README.md", "examples/README.md"],
  ["src/cli/template", "src/cli/template"],
  ["docs", "docs"],
  ["README.md", "README.md"],
  ["CHANGELOG.md", "CHANGELOG.md"],
  ["LICENSE", "LICENSE"],
];

interface Manifest {
  readonly [member: string]: unknown;
}

const text = (path: string): string => readFileSync(join(ROOT, path), "utf8");

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET);
for (const [from, to] of PLACES) cpSync(join(ROOT, from), join(TARGET, to), { recursive: true });
writeFileSync(join(TARGET, "examples/langgraph.json"), text("examples/langgraph.json").replaceAll(".ts:", ".js:")); // PK1
const { name, version, description, keywords, license, type, engines, dependencies } = JSON.parse(
  text("package.json"),
) as Manifest;
const bin = { holdpoint: "dist/main.js" };
const manifest = { name, version, description, keywords, license, bin, type, engines, dependencies }; // PK2
writeFileSync(join(TARGET, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
