// Test of the packages and their imports.
// Rules:
//   architecture.1. What a package imports, its package.json declares: our own packages, others, and nothing besides. A
//        relative import stays in the package; no file imports a test.
//   architecture.2. The adapters of the server import only the ports and the model of it.
//   architecture.3. Only the entries of the program and of the collector read the environment.
//   architecture.4. Of the API, the console imports types, and code that runs in a browser.
//   architecture.5. No two packages import each other, over others neither; ARCHITECTURE.md has the same table.
//   architecture.6. A function takes the part of a transaction that it touches (ports/operations.ts), not all of it.
// Test files may import anything. The last tests plant wrong files, so that a blind check fails.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, posix } from "node:path";
import { test } from "node:test";
import { filesBelow, ROOT } from "./source-files.ts";

interface Manifest {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Name of the folder → what may be imported. */
type Packages = Readonly<Record<string, { readonly own: readonly string[]; readonly others: readonly string[] }>>;
type Read = (path: string) => string;

const readSource: Read = (path) => readFileSync(join(ROOT, path), "utf8");
const OWN = "@holdpoint/";

function readPackages(): Packages {
  const manifests = globSync("packages/*/package.json", { cwd: ROOT }).map((path) => {
    const { dependencies, devDependencies = {} } = JSON.parse(readSource(path)) as Manifest;
    const names = Object.keys({ ...dependencies, ...devDependencies });
    const own = names.filter((name) => name.startsWith(OWN)).map((name) => name.slice(OWN.length));
    return [path.split("/")[1] ?? "", { own, others: names.filter((name) => !name.startsWith(OWN)) }] as const;
  });
  return Object.fromEntries(manifests);
}

const PACKAGES = readPackages();
const PORTS_AND_MODEL = ["ports/", "model/"].map((folder) => `packages/server/src/${folder}`);
const ADAPTER = /^packages\/server\/src\/(?:graphs|storage|openid|telemetry)\//;
const TEST_FILE = /\.(test|contract)\.tsx?$|\/testkit\.ts$/;
const CODE_FILE = /\.[cm]?[jt]sx?$/;
/** `from "./x"`, `import "@holdpoint/x"`, `import("./x")`, `require("./x")`, `new URL("./x"`. */
const IMPORT = /\b(?:from|import|require|URL)\s*\(?\s*(["'`])((?:\.{1,2}|@holdpoint)\/[^"'`]*)\1/g;
/** `import … from "zod";`, `import "zod";`, `await import("zod")`. */
const PACKAGE_IMPORT =
  /(?:^(?:import|export)\b[^;"'`]*?\bfrom |^import |\bimport\()(["'])(@?[a-z][^"'\s]*)\1(?:;$|\)| with)/gm;
const TYPE_IMPORT = /\bimport type\s[^;]*?\bfrom\s*(["'`])[^"'`]*\1/g;
const READS_ENVIRONMENT = [
  "packages/holdpoint/src/main.ts",
  "packages/holdpoint/src/exports/open-holdpoint.ts",
  "packages/holdpoint/src/exports/requests.ts",
  "packages/collector/src/main.ts",
];
const ENVIRONMENT = /\bprocess\s*(?:\?\.|\.|\[\s*["'`])\s*env\b|\benv\b[^;]*\bfrom\s*["'](?:node:)?process["']/;
/** The parameter of a function, or of a type of function. */
const WHOLE_TRANSACTION = /\b\w+: Tx\b(?!\[)/;
/** The ports of storage give it, and their adapters make it. */
const TAKES_ALL = /^packages\/server\/src\/(?:ports|storage)\//;
const BUILT_IN = new Set(builtinModules);

/** A path from the root for files of ours; else the name of a package. */
function resolve(path: string, specifier: string): string {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(path), specifier);
  if (specifier.startsWith(OWN)) return `packages/${specifier.slice(OWN.length).replace("/", "/src/")}`;
  const [first = "", second = ""] = specifier.split("/");
  return first.startsWith("@") ? `${first}/${second}` : first;
}

function findImports(path: string, text: string): readonly string[] {
  const code = text.replaceAll(/`[^`]*`/g, (quoted) => (quoted.includes("\n") ? "``" : quoted)); // examples of code
  const found = [...code.matchAll(IMPORT), ...code.matchAll(PACKAGE_IMPORT)];
  return [...new Set(found.map(([, , specifier = ""]) => resolve(path, specifier)))];
}

function mayImport(path: string, target: string, packages: Packages): boolean {
  const [, own = ""] = path.split("/");
  const [root, part = ""] = target.split("/");
  if (root !== "packages") {
    if (target.startsWith("node:") || BUILT_IN.has(target)) return true;
    return !target.includes(".") && (packages[own]?.others ?? []).includes(target);
  }
  if (TEST_FILE.test(target)) return false;
  if (part !== own) return (packages[own]?.own ?? []).includes(part);
  const adapter = ADAPTER.exec(path)?.[0];
  return adapter === undefined || [adapter, ...PORTS_AND_MODEL].some((folder) => target.startsWith(folder));
}

function findFaults(path: string, text: string, packages: Packages = PACKAGES): string[] {
  if (TEST_FILE.test(path) || !CODE_FILE.test(path)) return [];
  const faults = findImports(path, text)
    .filter((target) => !mayImport(path, target, packages))
    .map((target) => `${path} must not import ${target}`);
  if (ENVIRONMENT.test(text) && !READS_ENVIRONMENT.includes(path)) faults.push(`${path} must not read the environment`);
  if (WHOLE_TRANSACTION.test(text) && !TAKES_ALL.test(path)) faults.push(`${path} must not take a whole Tx`);
  return faults;
}

/** The packages and modules that a file imports at run time, by itself and by the files that it imports. */
function findPackages(path: string, read: Read, seen = new Set<string>()): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  return findImports(path, read(path).replaceAll(TYPE_IMPORT, "")).flatMap((target) =>
    target.startsWith("packages/") ? findPackages(target, read, seen) : [`${target} (in ${path})`],
  );
}

/** architecture.4. Node's modules do not run in a browser; only the builder imports them. */
function findConsoleFaults(path: string, text: string, read: Read = readSource): string[] {
  if (TEST_FILE.test(path) || !CODE_FILE.test(path)) return [];
  const faults =
    !path.endsWith("/build.ts") && /["'`]node:/.test(text) ? [`${path} must not import Node's modules`] : [];
  for (const target of findImports(path, text.replaceAll(TYPE_IMPORT, ""))) {
    if (target.startsWith("packages/api/") && findPackages(target, read).length > 0)
      faults.push(`${path} must not import ${target}`);
  }
  return faults;
}

test("a package imports what its package.json declares, does not read the environment, and takes no whole Tx (architecture.1, architecture.2, architecture.3, architecture.6)", () => {
  const files = filesBelow("packages");
  assert.ok(files.includes("packages/base/src/config/config.ts"), "the sources were not found");
  assert.deepEqual(
    files.filter((path) => path.includes("/src/")).flatMap((path) => findFaults(path, readSource(path))),
    [],
  );
});

test("what a package.json declares is imported (architecture.1)", () => {
  const imported = Map.groupBy(
    filesBelow("packages").filter((path) => CODE_FILE.test(path) && !TEST_FILE.test(path)),
    (path) => path.split("/")[1] ?? "",
  );
  const unused = Object.entries(PACKAGES).flatMap(([name, { own }]) => {
    const text = (imported.get(name) ?? []).map(readSource).join("\n");
    return own.filter((other) => !text.includes(`${OWN}${other}/`)).map((other) => `${name} declares ${other}`);
  });
  assert.deepEqual(unused, []);
});

test("packages import one way, as the table of ARCHITECTURE.md says (architecture.5)", () => {
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (seen.has(from)) return false;
    seen.add(from);
    return (PACKAGES[from]?.own ?? []).some((one) => one === to || reaches(one, to, seen));
  };
  assert.deepEqual(
    Object.keys(PACKAGES).filter((name) => reaches(name, name)),
    [],
  );
  const documented: Record<string, readonly string[]> = {};
  for (const line of readSource("ARCHITECTURE.md").split("\n")) {
    const [, name = "", , words = ""] = line.split("|").map((cell) => cell.trim());
    const [, folder] = /^\[`packages\/(\w+)`\]/.exec(name) ?? [];
    if (folder !== undefined) documented[folder] = words === "—" ? [] : words.split(", ");
  }
  assert.deepEqual(documented, Object.fromEntries(Object.entries(PACKAGES).map(([name, { own }]) => [name, own])));
});

test("the console imports its own files, types of the API, and its code without packages (architecture.4)", () => {
  const files = filesBelow("packages/console/src");
  assert.ok(files.includes("packages/console/src/main.tsx"), "the console was not found");
  assert.deepEqual(
    files.flatMap((path) => findConsoleFaults(path, readSource(path))),
    [],
  );
});

test("a planted fault in the console is found (architecture.4)", () => {
  const sources: Readonly<Record<string, string>> = {
    "packages/api/src/b.ts": 'import { d } from "./d.ts";',
    "packages/api/src/d.ts": 'import type { Z } from "zod"; import { b } from "./b.ts";',
    "packages/api/src/c.ts": 'import { e } from "@holdpoint/base/e.ts";',
    "packages/base/src/e.ts": 'import { join } from "node:path";',
  };
  const page = "packages/console/src/pages/a.tsx";
  const faults = (text: string): string[] => findConsoleFaults(page, text, (path) => sources[path] as string);
  assert.deepEqual(faults('import type { B } from "@holdpoint/api/c.ts"; import { c } from "../parts/c.ts";'), []);
  assert.deepEqual(faults('import { b } from "@holdpoint/api/b.ts";'), []);
  assert.deepEqual(faults('import { c } from "@holdpoint/api/c.ts";'), [
    `${page} must not import packages/api/src/c.ts`,
  ]);
  assert.deepEqual(faults('import { join } from "node:path";'), [`${page} must not import Node's modules`]);
});

const PLANTED: Packages = {
  a: { own: ["b"], others: ["zod"] },
  b: { own: [], others: [] },
  server: { own: ["b"], others: [] },
};

const WRONG: readonly (readonly [path: string, text: string, says: string])[] = [
  ["packages/b/src/x.ts", 'import { y } from "@holdpoint/a/y.ts";', "must not import packages/a/src/y.ts"],
  ["packages/b/src/x.ts", 'import type { Y } from "@holdpoint/a/y.ts";', "must not import packages/a/src/y.ts"],
  ["packages/b/src/x.ts", 'import {\n  y,\n} from "@holdpoint/a/y.ts";', "must not import packages/a/src/y.ts"],
  ["packages/b/src/x.ts", "export * from '@holdpoint/a/y.ts';", "must not import packages/a/src/y.ts"],
  ["packages/b/src/x.ts", 'import "@holdpoint/a/y.ts";', "must not import packages/a/src/y.ts"],
  ["packages/b/src/x.ts", "const y = await import(\n  `@holdpoint/a/y.ts`,\n);", "must not import packages/a/src/y.ts"],
  ["packages/b/src/x.ts", 'import { z } from "zod";', "must not import zod"],
  ["packages/b/src/x.ts", 'import { z } from "@zod/mini/core";', "must not import @zod/mini"],
  ["packages/b/src/x.ts", 'import { y } from "../../a/src/y.ts";', "must not import packages/a/src/y.ts"],
  [
    "packages/b/src/x.ts",
    'new Worker(new URL("../../a/src/y.ts", import.meta.url));',
    "must not import packages/a/src/y.ts",
  ],
  ["packages/b/src/x.ts", 'import { y } from "./y.test.ts";', "must not import packages/b/src/y.test.ts"],
  [
    "packages/b/src/x.ts",
    'import y from "../../../package.json" with { type: "json" };',
    "must not import package.json",
  ],
  [
    "packages/server/src/graphs/x.ts",
    'import { y } from "../interrupts/y.ts";',
    "must not import packages/server/src/interrupts/y.ts",
  ],
  [
    "packages/server/src/storage/x.ts",
    'import { y } from "../graphs/y.ts";',
    "must not import packages/server/src/graphs/y.ts",
  ],
  ...["process.env.PORT", "process?.env", 'process["env"]', 'import { env } from "node:process";'].map(
    (text) => ["packages/a/src/x.ts", text, "must not read the environment"] as const,
  ),
  ...["function end(tx: Tx, run: Run) {", "readonly first?: (tx: Tx) => void;"].map(
    (text) => ["packages/server/src/runs/x.ts", text, "must not take a whole Tx"] as const,
  ),
];

for (const [path, text, says] of WRONG) {
  test(`a planted fault is found: ${path} ${says}, by ${JSON.stringify(text)}`, () => {
    assert.deepEqual(findFaults(path, text, PLANTED), [`${path} ${says}`]);
  });
}

const RIGHT: readonly (readonly [path: string, text: string])[] = [
  ["packages/b/src/x.ts", 'import { y } from "./y.ts"; import { createServer } from "node:http";'],
  [
    "packages/a/src/x.ts",
    'import { y } from "../y.ts"; import { c } from "@holdpoint/b/c.ts"; import { z } from "zod";',
  ],
  ["packages/server/src/storage/x.ts", 'import type { Y } from "../ports/y.ts"; import { z } from "../model/z.ts";'],
  ["packages/holdpoint/src/main.ts", "run(process.env);"],
  ["packages/server/src/runs/x.ts", 'function find(tx: Pick<Tx, "run">, id: Tx["run"]) {'],
  ["packages/server/src/storage/x.ts", "function begin(tx: Tx) {"],
  ["packages/b/src/x.test.ts", 'import { y } from "@holdpoint/a/y.ts"; run(process.env);'],
  ["packages/a/src/x.ts", "const line = process.environment;"],
];

for (const [path, text] of RIGHT) {
  test(`accepts ${path} with ${JSON.stringify(text)}`, () => {
    assert.deepEqual(findFaults(path, text, PLANTED), []);
  });
}
