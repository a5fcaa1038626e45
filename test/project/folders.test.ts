// Test of the folders inside the rooms, and of rule codes. Checked:
//   folders.1. Inside a room, a file imports its own folder or one further down the room's list; type imports count.
//   folders.2. Every folder of a room is on its list, and every folder on the list exists.
//   folders.3. No files import each other in a cycle, in src/ and in console/.
//   folders.4. No folder holds more than 20 source files; tests, fixtures and style sheets do not count.
//   folders.5. One file defines a rule code.
//   folders.6. ARCHITECTURE.md of each room lists its folders in the same order, each with a description.
//   folders.7. Every source file that an ARCHITECTURE.md names exists.
//   folders.10. Every source file and page that a comment names exists.
//   folders.9. No two folders import each other, in src/ and in console/. A folder inside a folder counts on its own.
//   folders.8. Every file and folder that a header lists under "The pieces:" exists, and the header of a room's main file
//        lists every folder of the room and every file beside them.
// The last tests plant violations, so that a check that finds no files cannot pass.
import assert from "node:assert/strict";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { filesBelow, ROOT } from "./source-files.ts";

const FILES_MAX = 20;

/** Room → its folders, top to bottom; "." is the room's own files. ARCHITECTURE.md of the room describes each. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "packages/base/src": ["config", "files", "log", "modules", ".", "json"],
  "packages/holdpoint/src/exports": [".", "interrupts"],
  "packages/base/src/http": ["pages", "server", "outbound"],
  "packages/api/src": ["openapi", "audit", "answers", "items", ".", "a2a", "notes", "text", "traces"],
  "packages/server/src": [
    "notify",
    "notify/slack",
    "notify/email",
    "notify/links",
    "notify/items",
    "notify/rules",
    "server",
    "protocol",
    "store",
    "routes",
    "audit",
    "crons",
    "inbox",
    "search",
    "streams",
    "runs",
    "runs/accept",
    "assistants",
    "runs/execute",
    "threads",
    ".",
    "interrupts",
    "events",
    "webhooks",
    "auth",
    "serializers",
    "review",
    "ports",
    "model",
  ],
  "packages/server/src/graphs": [
    ".",
    "extensions",
    "schemas",
    "state",
    "tracing",
    "loading",
    "config",
    "run",
    "checkpoints",
    "langgraph",
  ],
  "packages/collector/src": [
    "commands",
    ".",
    "pipeline",
    "forward",
    "receive",
    "spool",
    "spool/disk",
    "logs",
    "normalize",
    "translate",
    "upload",
    "assemble",
    "translate/fields",
    "translate/media",
    "upload/backend",
    "encode",
    "translate/messages",
    "translate/forms",
    "translate/attributes",
    "limit",
    "sample",
    "redact",
    "redact/find",
    "shared",
    "otlp",
  ],
  "packages/server/src/storage": [
    "contract",
    "postgres",
    "postgres/engine",
    "sqlite",
    "sqlite/reader",
    "dump",
    "local",
    "postgres/schema",
    "postgres/tables",
    "sqlite/schema",
    "sqlite/tables",
    "postgres/client",
    "shared",
    "sqlite/client",
  ],
  "packages/gateways/src": [".", "mcp/endpoint", "mcp", "a2a/endpoint", "a2a", "calls"],
  "packages/holdpoint/src/cli": ["program", "commands", "commands/checks", "commands/inbox", "template", "client", "errors", "output"],
};

const TEST_FILE = /\.(test|contract)\.tsx?$|(^|\/)testkit\.ts$/;
const CODE_FILE = /\.tsx?$/;
const IMPORT = /\b(?:from|import|URL)\s*\(?\s*(["'`])(\.{1,2}\/[^"'`]*)\1/g;
const RULE = /^(?:\/\/|\s*\*)\s+([a-z][\w/.-]*)\.(\d+)\. /gm;

type Sources = ReadonlyMap<string, string>;

function read(...roots: readonly string[]): Sources {
  const paths = roots.flatMap(filesBelow).filter((path) => CODE_FILE.test(path));
  return new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
}

function importsOf(path: string, text: string): readonly string[] {
  return [...text.matchAll(IMPORT)].map(([, , specifier = ""]) => posix.join(posix.dirname(path), specifier));
}

/** The entry of the room's list that a file belongs to: the longest that fits. */
function folderOf(room: string, path: string): string | null {
  const folder = posix.relative(room, posix.dirname(path)) || ".";
  const fits = (FOLDERS[room] ?? []).filter((one) => one === folder || folder.startsWith(`${one}/`));
  return fits.toSorted((one, other) => other.length - one.length)[0] ?? null;
}

/** folders.1 and folders.2. */
function upwardImports(sources: Sources): string[] {
  const faults: string[] = [];
  for (const [path, text] of sources) {
    const room = Object.keys(FOLDERS).find((one) => path.startsWith(`${one}/`));
    if (room === undefined || TEST_FILE.test(path)) continue;
    const order = FOLDERS[room] ?? [];
    const own = folderOf(room, path);
    if (own === null) {
      faults.push(`${path} is in no folder on the list of ${room}`);
      continue;
    }
    for (const target of importsOf(path, text)) {
      if (!target.startsWith(`${room}/`)) continue;
      const other = folderOf(room, target);
      if (other !== null && order.indexOf(other) < order.indexOf(own)) faults.push(`${path} imports upward: ${target}`);
    }
  }
  return faults;
}

/** Room → the file whose header lists its pieces. */
const MAINS: Readonly<Record<string, string>> = {
  "packages/server/src": "server/agent-server.ts",
  "packages/api/src": "operation.ts",
  "packages/holdpoint/src/cli": "program/register.ts",
  "packages/collector/src": "collector.ts",
  "packages/holdpoint/src/dev": "welcome.ts",
  "packages/holdpoint/src/exports": "create-holdpoint.ts",
  "packages/gateways/src": "mcp-routes.ts",
  "packages/server/src/graphs": "graphs.ts",
  "packages/server/src/telemetry": "tracing.ts",
  "packages/collector/src/traces": "server.ts",
};

/** The names in the header's list; null without one. */
function piecesOf(text: string): readonly string[] | null {
  const [, list] = /^\/\/ The pieces:\n((?:\/\/ {3}.*\n)+)/m.exec(text) ?? [];
  return list === undefined ? null : [...list.matchAll(/^\/\/ {3}([\w./-]+) /gm)].map(([, name = ""]) => name);
}

/** folders.8. @param paths of all sources */
function pieceFaults(sources: Sources, paths: readonly string[]): string[] {
  const known = new Set(paths);
  const faults: string[] = [];
  for (const [path, text] of sources) {
    const room = path.split("/").slice(0, 2).join("/");
    for (const name of piecesOf(text) ?? []) {
      const places = [posix.join(posix.dirname(path), name), posix.join(room, name)].map((one) =>
        one.replace(/\/$/, ""),
      );
      if (!places.some((place) => known.has(place))) faults.push(`${path} lists ${name}, which does not exist`);
    }
    if (MAINS[room] !== posix.relative(room, path)) continue;
    const listed = (piecesOf(text) ?? []).map((name) => name.replace(/\/.*$/, ""));
    const inRoom = paths.filter(
      (one) => one.startsWith(`${room}/`) && CODE_FILE.test(one) && !TEST_FILE.test(one) && one !== path,
    );
    const entries = new Set(inRoom.map((one) => posix.relative(room, one).replace(/\/.*$/, "")));
    for (const entry of entries) if (!listed.includes(entry)) faults.push(`${path} does not list ${entry}`);
  }
  return faults;
}

/** folders.3. Each cycle once, as the path that closes it. */
function cycles(sources: Sources): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) found.push([...trail.slice(at), path].join(" → "));
    if (at >= 0 || done.has(path)) return;
    for (const target of importsOf(path, sources.get(path) ?? "")) {
      if (sources.has(target)) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of sources.keys()) if (!TEST_FILE.test(path)) visit(path, []);
  return found;
}

/** folders.9. Each pair once, with an import of each direction. */
function twoWayFolders(sources: Sources): string[] {
  const firstImport = new Map<string, string>();
  for (const [path, text] of sources) {
    if (TEST_FILE.test(path)) continue;
    for (const target of importsOf(path, text)) {
      const key = `${posix.dirname(path)} ${posix.dirname(target)}`;
      if (sources.has(target) && !firstImport.has(key)) firstImport.set(key, `${path} → ${target}`);
    }
  }
  return [...firstImport].flatMap(([key, forth]) => {
    const [from = "", to = ""] = key.split(" ");
    const back = firstImport.get(`${to} ${from}`);
    return from < to && back !== undefined ? [`${from} ↔ ${to}: ${forth}, ${back}`] : [];
  });
}

/** folders.4. */
function crowded(paths: Iterable<string>): string[] {
  const counted = [...paths].filter((path) => !TEST_FILE.test(path));
  return [...Map.groupBy(counted, (path) => posix.dirname(path))]
    .filter(([, files]) => files.length > FILES_MAX)
    .map(([folder, files]) => `${folder} holds ${files.length} files`);
}

/** folders.5. */
function sharedCodes(sources: Sources): string[] {
  const definitions = [...sources].flatMap(([path, text]) =>
    [...new Set([...text.matchAll(RULE)].map(([, name = "", number = ""]) => `${name}.${number}`))].map(
      (code) => ({ code, path }) as const,
    ),
  );
  return [...Map.groupBy(definitions, ({ code }) => code)]
    .filter(([, places]) => places.length > 1)
    .map(([code, places]) => `${code} is defined in ${places.map(({ path }) => path).join(" and ")}`);
}

const SRC = read("src");

/** folders.6. The numbered list below `## Folders`. */
function readFolders(page: string): readonly string[] {
  const [, section = ""] = page.split("\n## Folders\n");
  const [list = ""] = section.split("\n## ");
  return [...list.matchAll(/^\d+\. `([^`]+)`: \S/gm)].map(([, folder = ""]) => folder);
}

const PAGES = globSync(["ARCHITECTURE.md", "{src,console}/**/ARCHITECTURE.md"], { cwd: ROOT });
const readPage = (path: string): string => readFileSync(join(ROOT, path), "utf8");

test("ARCHITECTURE.md of each room lists its folders in this order (folders.6)", () => {
  const documented = Object.keys(FOLDERS).map((room) => [room, readFolders(readPage(`${room}/ARCHITECTURE.md`))]);
  assert.deepEqual(Object.fromEntries(documented), FOLDERS);
  assert.deepEqual(readFolders("\n## Folders\n\n1. `b`: B\n2. `a`:\n\n## Ports\n1. `c`: C\n"), ["b"]);
});

test("ARCHITECTURE.md of the project has at most 2,500 words", () => {
  assert.ok(readPage("ARCHITECTURE.md").split(/\s+/).length <= 2500);
});

test("every source file that an ARCHITECTURE.md names exists (folders.7)", () => {
  const paths = [...read("src", "console", "test").keys()];
  const text = PAGES.map(readPage).join("\n");
  const named = [...text.matchAll(/`([\w/.-]+\.tsx?)`/g)].map(([, path = ""]) => path);
  assert.ok(named.length > 30);
  assert.deepEqual(
    named.filter((name) => !paths.some((path) => path === name || path.endsWith(`/${name}`))),
    [],
  );
});

const COMMENT = /(?:^|\s)\/\/.*|^\s*\/?\*.*/gm;
const FILE_NAME = /(?<![\w/.@{}*<-])\w[\w./-]*\.(?:tsx?|md)\b/g;
/** Examples, and files of other projects. */
const FOREIGN = new Set(["docs/cli/telemetry.md", "g.ts", "gen-ai-attributes.ts", "parts/word.ts", "y.ts"]);

/** folders.10. A name may leave out the first folders. */
function missingInComments(sources: Sources, paths: readonly string[]): readonly string[] {
  const ends = new Set(paths.flatMap((path) => path.split("/").map((_, at, parts) => parts.slice(at).join("/"))));
  return [...sources].flatMap(([path, text]) =>
    (text.match(COMMENT) ?? [])
      .flatMap((comment) => comment.match(FILE_NAME) ?? [])
      .filter((name) => !ends.has(name) && !FOREIGN.has(name))
      .map((name) => `${path} names ${name}`),
  );
}

test("every source file and page that a comment names exists (folders.10)", () => {
  const pages = readdirSync(ROOT).filter((name) => name.endsWith(".md"));
  const paths = [...pages, ...["src", "console", "test", "deploy", "docs", "bench", "examples"].flatMap(filesBelow)];
  assert.deepEqual(missingInComments(read("src", "console"), paths), []);
});

test("inside a room, imports only go down its list of folders (folders.1, folders.2)", () => {
  assert.deepEqual(upwardImports(SRC), []);
});

test("every folder on a list exists (folders.2)", () => {
  const used = new Set([...SRC.keys()].map((path) => posix.dirname(path)));
  const missing = Object.entries(FOLDERS).flatMap(([room, list]) =>
    list
      .map((one) => posix.join(room, one))
      .filter((folder) => ![...used].some((one) => `${one}/`.startsWith(`${folder}/`))),
  );
  assert.deepEqual(missing, []);
});

test("no files import each other in a cycle (folders.3)", () => {
  assert.deepEqual(cycles(read("src", "console")), []);
});

test("no two folders import each other (folders.9)", () => {
  assert.deepEqual(twoWayFolders(read("src", "console")), []);
});

test("no folder holds more than 20 source files (folders.4)", () => {
  assert.deepEqual(crowded(read("src", "console", "test", "bench", "examples").keys()), []);
});

test("a rule code is defined in one file (folders.5)", () => {
  const all = read("src", "console", "test", "bench");
  const count = [...all.values()].reduce((sum, text) => sum + [...text.matchAll(RULE)].length, 0);
  assert.ok(count > 500, `${count} rules found`);
  assert.deepEqual(sharedCodes(all), []);
});

const planted = (...files: readonly (readonly [path: string, text: string])[]): Sources => new Map(files);

test("the pieces that headers list exist, and those of a room are complete (folders.8)", () => {
  const paths = ["src", "console"].flatMap((root) =>
    readdirSync(join(ROOT, root), { recursive: true, encoding: "utf8" }).map((path) =>
      posix.join(root, path.replaceAll("\\", "/")),
    ),
  );
  assert.deepEqual(pieceFaults(read("src", "console"), paths), []);
});

test("a piece that does not exist, and one that is not listed, are found (folders.8)", () => {
  const sources = new Map([["packages/holdpoint/src/dev/welcome.ts", "// Welcome.\n// The pieces:\n//   gone.ts  nothing\n"]]);
  assert.deepEqual(pieceFaults(sources, ["packages/holdpoint/src/dev/welcome.ts", "packages/holdpoint/src/dev/pending.ts"]), [
    "packages/holdpoint/src/dev/welcome.ts lists gone.ts, which does not exist",
    "packages/holdpoint/src/dev/welcome.ts does not list pending.ts",
  ]);
});

test("a comment that names a missing file is found, in each form of a comment (folders.10)", () => {
  const text =
    'import "./none.ts";\n// b/one.ts and gone.ts\n/** c/one.ts */\nconst x = 1; // docs/none.md\n * two.ts\n';
  const expected = ["a.ts names gone.ts", "a.ts names c/one.ts", "a.ts names docs/none.md", "a.ts names two.ts"];
  assert.deepEqual(missingInComments(new Map([["a.ts", text]]), ["src/b/one.ts"]), expected);
});

test("a planted upward import is found, of a type too (folders.1)", () => {
  const up = 'import type { Route } from "../routes/route.ts";';
  assert.deepEqual(upwardImports(planted(["packages/server/src/model/a.ts", up])), [
    "packages/server/src/model/a.ts imports upward: packages/server/src/routes/route.ts",
  ]);
  assert.deepEqual(
    upwardImports(planted(["packages/server/src/routes/a.ts", 'import type { Run } from "../model/model.ts";'])),
    [],
  );
});

test("a planted folder that is on no list is found (folders.2)", () => {
  assert.deepEqual(upwardImports(planted(["packages/server/src/misc/a.ts", ""])), [
    "packages/server/src/misc/a.ts is in no folder on the list of packages/server/src",
  ]);
});

test("a planted cycle is found, of types and over three files (folders.3)", () => {
  const ring = planted(
    ["src/a/a.ts", 'import type { B } from "../b/b.ts";'],
    ["src/b/b.ts", 'export * from "./c.ts";'],
    ["src/b/c.ts", 'const a = await import("../a/a.ts");'],
  );
  assert.deepEqual(cycles(ring), ["src/a/a.ts → src/b/b.ts → src/b/c.ts → src/a/a.ts"]);
});

test("a planted pair of folders that import each other is found, parent and child too (folders.9)", () => {
  const down = ["src/a/a.ts", 'import { c } from "./b/c.ts";'] as const;
  const rest = [["src/a/b/c.ts", ""] as const, ["src/a/d.ts", ""] as const];
  const up = ["src/a/b/e.ts", 'import type { D } from "../d.ts";'] as const;
  assert.deepEqual(twoWayFolders(planted(down, ...rest, up)), [
    "src/a ↔ src/a/b: src/a/a.ts → src/a/b/c.ts, src/a/b/e.ts → src/a/d.ts",
  ]);
  assert.deepEqual(twoWayFolders(planted(down, ...rest)), []);
});

test("a planted file too many is found, a test is not counted (folders.4)", () => {
  const paths = Array.from({ length: 20 }, (_, at) => `src/a/${at}.ts`);
  assert.deepEqual(crowded([...paths, "src/a/0.test.ts"]), []);
  assert.deepEqual(crowded([...paths, "src/a/20.ts"]), ["src/a holds 21 files"]);
});

test("a planted second definition of a rule is found, a citation is not (folders.5)", () => {
  const rule = "//   queue-limit.1. A cached count admits runs.";
  const sources = planted(["src/a.ts", rule], ["src/b.ts", "const left = 1; // queue-limit.1. See there."]);
  assert.deepEqual(sharedCodes(sources), []);
  assert.deepEqual(sharedCodes(planted(["src/a.ts", rule], ["src/b.ts", rule])), [
    "queue-limit.1 is defined in src/a.ts and src/b.ts",
  ]);
});
