// Test of the rooms and their imports.
// Rules:
//   architecture.1. ARCHITECTURE.md has the same table of rooms as this file.
//   architecture.2. Every file under src/ is in a room, and imports only the rooms in its row; no file imports a test.
//   architecture.3. Only packages/holdpoint/src/main.ts and the entry for host programs read the environment.
//   architecture.4. The console imports its own files, types of packages/api/src, and code of packages/api/src that runs in a browser.
// Test files may import anything. The last tests plant wrong files, so that a blind check fails.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { filesBelow, ROOT } from "./source-files.ts";

/** Room → the imports allowed besides itself, as in ARCHITECTURE.md. */
const ROOMS: Readonly<Record<string, string>> = {
  "packages/base/src/": "—",
  "packages/base/src/http/": "base",
  "packages/api/src/": "base",
  "packages/collector/src/": "base, http",
  "packages/server/src/": "base, http, api",
  "packages/server/src/graphs/": "base, agent (ports and model)",
  "packages/server/src/storage/": "base, agent (ports and model)",
  "packages/collector/src/traces/": "base, http, api",
  "packages/server/src/telemetry/": "base, agent (ports and model)",
  "packages/notify/src/adapters/": "base, agent (ports and model)",
  "packages/server/src/openid/": "base, agent (ports and model)",
  "packages/gateways/src/": "base, http, api",
  "packages/holdpoint/src/cli/": "base, api",
  "packages/holdpoint/src/dev/": "base",
  "packages/holdpoint/src/main/": "all",
  "packages/holdpoint/src/exports/": "base, http, graphs, main",
  "packages/holdpoint/src/main.ts": "all",
};

const PORTS_AND_MODEL = ["packages/server/src/ports/", "packages/server/src/model/"];
const TEST_FILE = /\.(test|contract)\.ts$/;
const CODE_FILE = /\.[cm]?[jt]sx?$/;
/** `from "./x"`, `import "./x"`, `import("./x")`, `require("./x")`, `new URL("./x"`. */
const IMPORT = /\b(?:from|import|require|URL)\s*\(?\s*(["'`])(\.{1,2}\/[^"'`]*)\1/g;
const READS_ENVIRONMENT = ["packages/holdpoint/src/main.ts", "packages/holdpoint/src/exports/open-holdpoint.ts"];
const ENVIRONMENT = /\bprocess\s*(?:\?\.|\.|\[\s*["'`])\s*env\b|\benv\b[^;]*\bfrom\s*["'](?:node:)?process["']/;

function roomOf(path: string): string | undefined {
  return Object.keys(ROOMS).find((room) => (room.endsWith("/") ? path.startsWith(room) : path === room));
}

function mayImport(room: string, target: string): boolean {
  if (TEST_FILE.test(target)) return false;
  if (roomOf(target) === room) return true;
  return (ROOMS[room] ?? "").split(", ").some((word) => {
    if (word === "all") return true;
    if (word === "agent (ports and model)") return PORTS_AND_MODEL.some((folder) => target.startsWith(folder));
    return target.startsWith(`src/${word}/`);
  });
}

function faultsOf(path: string, text: string): string[] {
  const room = roomOf(path);
  if (room === undefined) return [`${path} is in no room of ARCHITECTURE.md`];
  if (TEST_FILE.test(path) || !CODE_FILE.test(path)) return [];
  const faults: string[] = [];
  for (const [, , specifier = ""] of text.matchAll(IMPORT)) {
    const target = posix.join(posix.dirname(path), specifier);
    if (!mayImport(room, target)) faults.push(`${path} must not import ${target}`);
  }
  if (ENVIRONMENT.test(text) && !READS_ENVIRONMENT.includes(path)) faults.push(`${path} must not read the environment`);
  return faults;
}

const TYPE_IMPORT = /\bimport type\s[^;]*?\bfrom\s*(["'`])[^"'`]*\1/g;
/** A package or a module of Node's: `from "zod"`, `import("node:fs")`. */
const PACKAGE_IMPORT = /\b(?:from|import)\s*\(?\s*(["'`])([^."'`][^"'`]*)\1/g;

type Read = (path: string) => string;

/** The packages that a file of src/ imports at run time, by itself and by the files that it imports. */
function packagesOf(path: string, read: Read, seen = new Set<string>()): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  const code = read(path).replaceAll(TYPE_IMPORT, "");
  const own = [...code.matchAll(PACKAGE_IMPORT)].map(([, , name = ""]) => `${name} (in ${path})`);
  const targets = [...code.matchAll(IMPORT)].map(([, , name = ""]) => posix.join(posix.dirname(path), name));
  return [...own, ...targets.flatMap((target) => packagesOf(target, read, seen))];
}

const readSource: Read = (path) => readFileSync(join(ROOT, path), "utf8");

/** architecture.4. Node's modules do not run in a browser; only the builder imports them. */
function consoleFaultsOf(path: string, text: string, read: Read = readSource): string[] {
  if (TEST_FILE.test(path) || !CODE_FILE.test(path)) return [];
  const faults =
    path !== "console/build.ts" && /["'`]node:/.test(text) ? [`${path} must not import Node's modules`] : [];
  const targetsOf = (part: string): string[] =>
    [...part.matchAll(IMPORT)].map(([, , specifier = ""]) => posix.join(posix.dirname(path), specifier));
  for (const target of targetsOf(text.replaceAll(TYPE_IMPORT, ""))) {
    if (`${target}/`.startsWith("console/")) continue;
    const packages = target.startsWith("packages/api/src/") ? packagesOf(target, read) : ["no browser code"];
    if (packages.length > 0) faults.push(`${path} must not import ${target}`);
  }
  for (const target of targetsOf(text)) {
    const allowed = target.startsWith("src/") ? target.startsWith("packages/api/src/") : true;
    if (!allowed && !faults.includes(`${path} must not import ${target}`))
      faults.push(`${path} must not import ${target}`);
  }
  return faults;
}

test("ARCHITECTURE.md has the same table of rooms as this test (architecture.1)", () => {
  const documented: Record<string, string> = {};
  for (const line of readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8").split("\n")) {
    const [, room = "", , words = ""] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    if (room.startsWith("`src/")) documented[room.slice(1, -1)] = words;
  }
  assert.deepEqual(documented, ROOMS);
});

test("every source file is in a room, imports only allowed rooms, and does not read the environment (architecture.2, architecture.3)", () => {
  const files = filesBelow("src");
  assert.ok(files.includes("packages/base/src/config/config.ts"), "the sources were not found");
  assert.deepEqual(
    files.flatMap((path) => faultsOf(path, readFileSync(join(ROOT, path), "utf8"))),
    [],
  );
});

test("the console imports its own files, types of packages/api/src, and its code without packages (architecture.4)", () => {
  const files = filesBelow("console");
  assert.ok(files.includes("console/main.tsx"), "the console was not found");
  assert.deepEqual(
    files.flatMap((path) => consoleFaultsOf(path, readFileSync(join(ROOT, path), "utf8"))),
    [],
  );
});

test("a planted fault in the console is found (architecture.4)", () => {
  const sources: Readonly<Record<string, string>> = {
    "packages/api/src/b.ts": 'import { d } from "./d.ts";',
    "packages/api/src/d.ts": 'import type { Z } from "zod"; import { b } from "./b.ts";',
    "packages/api/src/c.ts": 'import { e } from "../base/e.ts";',
    "packages/base/src/e.ts": 'import { join } from "node:path";',
  };
  const faults = (text: string): string[] =>
    consoleFaultsOf("console/pages/a.tsx", text, (path) => sources[path] as string);
  assert.deepEqual(faults('import type { B } from "../../src/api/c.ts"; import { c } from "../parts/c.ts";'), []);
  assert.deepEqual(faults('import { b } from "../../src/api/b.ts";'), []);
  assert.deepEqual(faults('import { c } from "../../src/api/c.ts";'), [
    "console/pages/a.tsx must not import packages/api/src/c.ts",
  ]);
  assert.deepEqual(faults('import type { B } from "../../src/agent/b.ts";'), [
    "console/pages/a.tsx must not import packages/server/src/b.ts",
  ]);
  assert.deepEqual(faults('import { join } from "node:path";'), ["console/pages/a.tsx must not import Node's modules"]);
});

const WRONG: readonly { readonly path: string; readonly text: string; readonly says: string }[] = [
  { path: "src/shed/a.ts", text: "", says: "src/shed/a.ts is in no room of ARCHITECTURE.md" },
  { path: "src/tool.ts", text: "", says: "src/tool.ts is in no room of ARCHITECTURE.md" },
  { path: "packages/holdpoint/src/main.ts/a.ts", text: "", says: "packages/holdpoint/src/main.ts/a.ts is in no room of ARCHITECTURE.md" },
  ...[
    ["packages/base/src/a.ts", 'import { b } from "../http/b.ts";', "packages/base/src/http/b.ts"],
    ["packages/base/src/a.ts", 'import type { B } from "../agent/b.ts";', "packages/server/src/b.ts"],
    ["packages/base/src/a.ts", 'import {\n  b,\n} from "../api/b.ts";', "packages/api/src/b.ts"],
    ["packages/base/src/a.ts", "export * from '../api/b.ts';", "packages/api/src/b.ts"],
    ["packages/base/src/a.ts", 'import "../api/b.ts";', "packages/api/src/b.ts"],
    ["packages/base/src/a.ts", 'const b = await import("../api/b.ts");', "packages/api/src/b.ts"],
    ["packages/base/src/a.ts", "const b = await import(\n  `../api/b.ts`,\n);", "packages/api/src/b.ts"],
    ["packages/base/src/a.ts", 'new Worker(new URL("../api/b.ts", import.meta.url));', "packages/api/src/b.ts"],
    ["packages/base/src/a.ts", 'import { b } from "./b.test.ts";', "packages/base/src/b.test.ts"],
    ["packages/base/src/a.ts", 'import b from "../main.ts";', "packages/holdpoint/src/main.ts"],
    ["packages/base/src/a.ts", 'import b from "../../package.json" with { type: "json" };', "package.json"],
    ["packages/server/src/routes/a.ts", 'import { b } from "../../storage/b.ts";', "packages/server/src/storage/b.ts"],
    ["packages/server/src/a.ts", 'import { b } from "../graphs/b.ts";', "packages/server/src/graphs/b.ts"],
    [
      "packages/server/src/graphs/a.ts",
      'import { b } from "../agent/interrupts/resume-rules.ts";',
      "packages/server/src/interrupts/resume-rules.ts",
    ],
    ["packages/server/src/graphs/a.ts", 'import { b } from "../http/b.ts";', "packages/base/src/http/b.ts"],
    ["packages/server/src/storage/sqlite/a.ts", 'import { b } from "../../graphs/b.ts";', "packages/server/src/graphs/b.ts"],
    ["packages/collector/src/a.ts", 'import { b } from "../agent/ports/ports.ts";', "packages/server/src/ports/ports.ts"],
    ["packages/holdpoint/src/cli/a.ts", 'import { b } from "../http/b.ts";', "packages/base/src/http/b.ts"],
  ].map(([path = "", text = "", target = ""]) => ({ path, text, says: `${path} must not import ${target}` })),
  ...["process.env.PORT", "process?.env", 'process["env"]', 'import { env } from "node:process";'].map((text) => ({
    path: "packages/server/src/a.ts",
    text,
    says: "packages/server/src/a.ts must not read the environment",
  })),
];

for (const { path, text, says } of WRONG) {
  test(`a planted fault is found: ${says}, by ${JSON.stringify(text)}`, () => {
    assert.deepEqual(faultsOf(path, text), [says]);
  });
}

const RIGHT: readonly (readonly [path: string, text: string])[] = [
  ["packages/base/src/a.ts", 'import { b } from "./b.ts"; import { createServer } from "node:http";'],
  ["packages/server/src/routes/a.ts", 'import { b } from "../b.ts"; import { c } from "../../base/c.ts";'],
  [
    "packages/server/src/storage/sqlite/a.ts",
    'import type { B } from "../../agent/ports/ports.ts"; import { c } from "../../agent/model/model.ts";',
  ],
  ["packages/holdpoint/src/main.ts", 'import { b } from "./storage/b.ts"; run(process.env);'],
  ["packages/base/src/a.test.ts", 'import { b } from "../http/b.ts"; run(process.env);'],
  ["packages/server/src/storage/contract/storage.contract.ts", 'import { b } from "../http/b.ts";'],
  ["packages/server/src/a.ts", "const line = process.environment;"],
];

for (const [path, text] of RIGHT) {
  test(`accepts ${path} with ${JSON.stringify(text)}`, () => {
    assert.deepEqual(faultsOf(path, text), []);
  });
}
