// Test of the folders inside the packages. Checked:
//   folders.1. Inside a package, a file imports its own folder or one further down the list; type imports count. The
//        list is the one below `## Folders` in ARCHITECTURE.md of the package, or of a folder with a list of its own.
//   folders.2. Every folder is on its list, and every folder on a list exists.
//   folders.3. No files import each other in a cycle.
//   folders.5. One file defines a rule code.
//   folders.7. Every source file that an ARCHITECTURE.md names exists, and so does one that a comment names.
//   folders.9. No two folders import each other. A folder inside a folder counts on its own.
//   folders.10. A file of less than 40 lines with one importer is part of it, unless KEPT says why not. What loads later,
//        what an index exports and what another package imports are no such files.
//   folders.11. A folder has more than one file or folder in it.
// The last tests plant violations, so that a check that finds no files cannot pass.
import assert from "node:assert/strict";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { filesBelow, ROOT } from "./source-files.ts";

const TEST_FILE = /\.(test|contract)\.tsx?$|(^|\/)testkit\.ts$/;
const CODE_FILE = /\.tsx?$/;
const IMPORT = /\b(?:from|import|URL)\s*\(?\s*(["'`])(\.{1,2}\/[^"'`]*)\1/g;
const RULE = /^(?:\/\/|\s*\*)\s+([a-z][\w/.-]*)\.(\d+)\. /gm;

type Sources = ReadonlyMap<string, string>;
/** Folder with a list → the folders on it, top to bottom; "." is its own files. */
type Lists = Readonly<Record<string, readonly string[]>>;

const readPage = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const PAGES = globSync(["ARCHITECTURE.md", "packages/**/ARCHITECTURE.md"], {
  cwd: ROOT,
  exclude: ["**/node_modules/**"],
});

function readSources(...roots: readonly string[]): Sources {
  const paths = roots.flatMap(filesBelow).filter((path) => CODE_FILE.test(path));
  return new Map(paths.map((path) => [path, readPage(path)]));
}

/** The numbered list below `## Folders`. */
function readFolders(page: string): readonly string[] {
  const [, section = ""] = page.split("\n## Folders\n");
  const [list = ""] = section.split("\n## ");
  return [...list.matchAll(/^\d+\. `([^`]+)`: \S/gm)].map(([, folder = ""]) => folder);
}

/** A package's page stands beside its src/. */
function readLists(): Lists {
  const lists = PAGES.map((page) => {
    const folder = posix.dirname(page);
    return [/^packages\/\w+$/.test(folder) ? `${folder}/src` : folder, readFolders(readPage(page))] as const;
  });
  return Object.fromEntries(lists.filter(([, list]) => list.length > 0));
}

function findImports(path: string, text: string): readonly string[] {
  return [...text.matchAll(IMPORT)].map(([, , specifier = ""]) => posix.join(posix.dirname(path), specifier));
}

/** The entry of a list that a file belongs to: the longest that fits. */
function findFolder(root: string, list: readonly string[], path: string): string | null {
  const folder = posix.relative(root, posix.dirname(path)) || ".";
  const fits = list.filter((one) => one === folder || folder.startsWith(`${one}/`));
  return fits.toSorted((one, other) => other.length - one.length)[0] ?? null;
}

/** folders.1 and folders.2. */
function findUpwardImports(sources: Sources, lists: Lists): string[] {
  const faults: string[] = [];
  for (const [root, list] of Object.entries(lists)) {
    for (const [path, text] of sources) {
      if (!path.startsWith(`${root}/`) || TEST_FILE.test(path)) continue;
      const own = findFolder(root, list, path);
      if (own === null) {
        faults.push(`${path} is in no folder on the list of ${root}`);
        continue;
      }
      for (const target of findImports(path, text)) {
        const other = target.startsWith(`${root}/`) ? findFolder(root, list, target) : null;
        if (other !== null && list.indexOf(other) < list.indexOf(own)) faults.push(`${path} imports upward: ${target}`);
      }
    }
  }
  return faults;
}

/** folders.3. Each cycle once, as the path that closes it. */
function findCycles(sources: Sources): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) found.push([...trail.slice(at), path].join(" → "));
    if (at >= 0 || done.has(path)) return;
    for (const target of findImports(path, sources.get(path) ?? "")) {
      if (sources.has(target)) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of sources.keys()) if (!TEST_FILE.test(path)) visit(path, []);
  return found;
}

/** folders.9. Each pair once, with an import of each direction. */
function findTwoWayFolders(sources: Sources): string[] {
  const firstImport = new Map<string, string>();
  for (const [path, text] of sources) {
    if (TEST_FILE.test(path)) continue;
    for (const target of findImports(path, text)) {
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

/** folders.5. */
function findSharedRules(sources: Sources): string[] {
  const definitions = [...sources].flatMap(([path, text]) =>
    [...new Set([...text.matchAll(RULE)].map(([, name = "", number = ""]) => `${name}.${number}`))].map(
      (code) => ({ code, path }) as const,
    ),
  );
  return [...Map.groupBy(definitions, ({ code }) => code)]
    .filter(([, places]) => places.length > 1)
    .map(([code, places]) => `${code} is defined in ${places.map(({ path }) => path).join(" and ")}`);
}

const COMMENT = /(?:^|\s)\/\/.*|^\s*\/?\*.*/gm;
const FILE_NAME = /(?<![\w/.@{}*<-])\w[\w./-]*\.(?:tsx?|md)\b/g;
/** Examples, and files of other projects. */
const FOREIGN = new Set(["docs/cli/telemetry.md", "g.ts", "gen-ai-attributes.ts", "parts/word.ts", "y.ts"]);

/** Every name of these files: it may leave out the first folders, and `src/` of a package. */
function nameFiles(paths: readonly string[]): ReadonlySet<string> {
  return new Set(
    paths
      .flatMap((path) => [path, path.replace(/^packages\/(\w+)\/src\//, "$1/")])
      .flatMap((path) => path.split("/").map((_, at, parts) => parts.slice(at).join("/"))),
  );
}

/** folders.7. */
function findMissingNames(sources: Sources, paths: readonly string[]): readonly string[] {
  const ends = nameFiles(paths);
  return [...sources].flatMap(([path, text]) =>
    (text.match(COMMENT) ?? [])
      .flatMap((comment) => comment.match(FILE_NAME) ?? [])
      .filter((name) => !ends.has(name) && !FOREIGN.has(name))
      .map((name) => `${path} names ${name}`),
  );
}

const SMALL_LINES_MAX = 40;
const FROM = /^(import|export)\b[^;]*?\bfrom "((?:\.{1,2}|@holdpoint)\/[^"]*)"/gm;
const LATER = /\b(?:import|URL)\s*\(\s*["'`](\.{1,2}\/[^"'`]*|@holdpoint\/[^"'`]*)["'`]/g;

/** folders.10. */
function findSmall(sources: Sources): string[] {
  const uses = [...sources].flatMap(([path, text]) => {
    if (TEST_FILE.test(path)) return [];
    const found = [...text.matchAll(FROM)].map(([, word, to = ""]) => ({ path, to, isPart: word === "import" }));
    return [...found, ...[...text.matchAll(LATER)].map(([, to = ""]) => ({ path, to, isPart: false }))].map((use) => ({
      ...use,
      to: use.to.startsWith(".")
        ? posix.join(posix.dirname(path), use.to)
        : use.to.replace(/^@holdpoint\/(\w+)/, "packages/$1/src"),
    }));
  });
  return [...Map.groupBy(uses, ({ to }) => to)].flatMap(([file, by]) => {
    const lines =
      sources
        .get(file)
        ?.split("\n")
        .filter((line) => line.trim() !== "").length ?? SMALL_LINES_MAX;
    const [importer = ""] = new Set(by.map(({ path }) => path));
    const isOnly = by.every(({ path, isPart }) => path === importer && isPart);
    const isOwn = importer.split("/")[1] === file.split("/")[1];
    return lines < SMALL_LINES_MAX && isOnly && isOwn ? [file.replace("packages/", "")] : [];
  });
}

/** Small files that stay, and why. */
const KEPT: Readonly<Record<string, string>> = {
  "collector/src/traces/upload-body.ts": "the limits of a body, tested without a store",
  "collector/src/translate/fields/attachments.ts": "a field of a run has a file",
  "collector/src/translate/forms/written-lists.ts": "envelopes.ts would have more than 400 lines",
  "collector/src/translate/messages/haystack.ts": "a search in messages, below the fields",
  "console/src/answering/model/outcome.ts": "tests import no page",
  "console/src/browser/press.ts": "another idea than the start of the console",
  "console/src/json/json-search.ts": "tests import no page",
  "console/src/pages/threads/query.ts": "tests import no page",
  "holdpoint/src/cli/client/program-name.ts": "an import of main.ts runs it",
  "holdpoint/src/main/published.ts": "the release writes it",
  "server/src/graphs/config/auth-section.ts": "a section of langgraph.json has a file",
  "server/src/graphs/config/policies-section.ts": "a section of langgraph.json has a file",
  "server/src/graphs/schemas/subgraph-types.ts": "an import of type-extractor.ts runs it",
  "server/src/interrupts/current-votes.ts": "accept-run.ts is the list of steps, and would have more than 400 lines",
  "server/src/interrupts/outdated-votes.ts": "a rule of votes, beside the other",
  "server/src/protocol/socket/one-copy.ts": "tested without a socket",
  "server/src/runs/accept/queue-limit.ts": "a rule of acceptance; its importer only composes",
  "server/src/runs/accept/queue-placement.ts": "accept-run.ts, as above",
  "server/src/runs/accept/request-only.ts": "accept-run.ts, as above",
  "server/src/runs/accept/trace-link.ts": "accept-run.ts, as above",
  "server/src/storage/postgres/tables/copies.ts": "one file a table, in both adapters",
};

/** folders.11. */
function findLoneFiles(paths: readonly string[]): readonly string[] {
  const entries = new Map<string, Set<string>>();
  for (const path of paths) {
    const [, root = "", below = ""] = /^(packages\/\w+\/src)\/(.+)$/.exec(path) ?? [];
    const parts = below.split("/");
    for (let at = 1; at < parts.length; at++) {
      const folder = posix.join(root, ...parts.slice(0, at));
      entries.set(folder, (entries.get(folder) ?? new Set()).add(parts[at] as string));
    }
  }
  return [...entries].filter(([, inside]) => inside.size === 1).map(([folder]) => folder);
}

const PACKAGES = readSources("packages");
const LISTS = readLists();

test("inside a package, imports only go down its list of folders (folders.1, folders.2)", () => {
  assert.deepEqual(findUpwardImports(PACKAGES, LISTS), []);
});

test("every package has a list, and every folder on a list exists (folders.2)", () => {
  const packages = globSync("packages/*/package.json", { cwd: ROOT }).map((path) => `${posix.dirname(path)}/src`);
  assert.deepEqual(
    packages.filter((folder) => LISTS[folder] === undefined),
    ["packages/console/src"], // flat: a page a folder
  );
  const used = [...PACKAGES.keys()].map((path) => `${posix.dirname(path)}/`);
  const listed = Object.entries(LISTS).flatMap(([root, list]) => list.map((one) => `${posix.join(root, one)}/`));
  assert.deepEqual(
    listed.filter((folder) => !used.some((one) => one.startsWith(folder.replace(/\/\/$/, "/")))),
    [],
  );
});

test("ARCHITECTURE.md of the project has at most 2,500 words", () => {
  assert.ok(readPage("ARCHITECTURE.md").split(/\s+/).length <= 2500);
});

test("every source file that an ARCHITECTURE.md names exists (folders.7)", () => {
  const known = nameFiles(["packages", "test", "deploy"].flatMap(filesBelow));
  const named = [
    ...PAGES.map(readPage)
      .join("\n")
      .matchAll(/`([\w/.-]+\.tsx?)`/g),
  ].map(([, path = ""]) => path);
  assert.ok(named.length > 30);
  assert.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  );
});

test("every link in an ARCHITECTURE.md leads to a file or a folder (folders.7)", () => {
  const links = PAGES.flatMap((page) =>
    [...readPage(page).matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, to = ""]) => ({ page, to }) as const),
  );
  assert.ok(links.length > 30);
  assert.deepEqual(
    links.filter(({ page, to }) => !existsSync(join(ROOT, posix.dirname(page), to))),
    [],
  );
});

test("every source file and page that a comment names exists (folders.7)", () => {
  const pages = readdirSync(ROOT).filter((name) => name.endsWith(".md"));
  const paths = [...pages, ...["packages", "test", "deploy", "docs", "bench", "examples"].flatMap(filesBelow)];
  assert.deepEqual(findMissingNames(PACKAGES, paths), []);
});

test("no files import each other in a cycle (folders.3)", () => {
  assert.deepEqual(findCycles(PACKAGES), []);
});

test("no two folders import each other (folders.9)", () => {
  assert.deepEqual(findTwoWayFolders(PACKAGES), []);
});

test("a rule code is defined in one file (folders.5)", () => {
  const all = readSources("packages", "test", "bench");
  const count = [...all.values()].reduce((sum, text) => sum + [...text.matchAll(RULE)].length, 0);
  assert.ok(count > 500, `${count} rules found`);
  assert.deepEqual(findSharedRules(all), []);
});

test("a small file with one importer is part of it, or has a reason (folders.10)", () => {
  assert.deepEqual(findSmall(PACKAGES).toSorted(), Object.keys(KEPT).toSorted());
});

test("no folder holds one file alone (folders.11)", () => {
  assert.deepEqual(findLoneFiles(filesBelow("packages")), []);
  assert.deepEqual(findLoneFiles(["packages/a/src/a.ts", "packages/a/src/b/c/d.ts", "packages/a/src/b/e.ts"]), [
    "packages/a/src/b/c",
  ]);
});

const plant = (...files: readonly (readonly [path: string, text: string])[]): Sources => new Map(files);
const TWO: Lists = { "packages/a/src": ["routes", "model"] };

test("a list is read up to the next heading, with its descriptions (folders.2)", () => {
  assert.deepEqual(readFolders("\n## Folders\n\n1. `b`: B\n2. `a`:\n\n## Ports\n1. `c`: C\n"), ["b"]);
});

test("a planted upward import is found, of a type too (folders.1)", () => {
  const up = 'import type { Route } from "../routes/route.ts";';
  assert.deepEqual(findUpwardImports(plant(["packages/a/src/model/a.ts", up]), TWO), [
    "packages/a/src/model/a.ts imports upward: packages/a/src/routes/route.ts",
  ]);
  const down = 'import type { Run } from "../model/model.ts";';
  assert.deepEqual(findUpwardImports(plant(["packages/a/src/routes/a.ts", down]), TWO), []);
});

test("a planted folder that is on no list is found (folders.2)", () => {
  assert.deepEqual(findUpwardImports(plant(["packages/a/src/misc/a.ts", ""]), TWO), [
    "packages/a/src/misc/a.ts is in no folder on the list of packages/a/src",
  ]);
});

test("a comment that names a missing file is found, in each form of a comment (folders.7)", () => {
  const text =
    'import "./none.ts";\n// b/one.ts and gone.ts\n/** c/one.ts */\nconst x = 1; // docs/none.md\n * two.ts\n';
  const expected = ["a.ts names gone.ts", "a.ts names c/one.ts", "a.ts names docs/none.md", "a.ts names two.ts"];
  assert.deepEqual(findMissingNames(plant(["a.ts", text]), ["packages/b/src/one.ts"]), expected);
});

test("a planted cycle is found, of types and over three files (folders.3)", () => {
  const ring = plant(
    ["src/a/a.ts", 'import type { B } from "../b/b.ts";'],
    ["src/b/b.ts", 'export * from "./c.ts";'],
    ["src/b/c.ts", 'const a = await import("../a/a.ts");'],
  );
  assert.deepEqual(findCycles(ring), ["src/a/a.ts → src/b/b.ts → src/b/c.ts → src/a/a.ts"]);
});

test("a planted pair of folders that import each other is found, parent and child too (folders.9)", () => {
  const down = ["src/a/a.ts", 'import { c } from "./b/c.ts";'] as const;
  const rest = [["src/a/b/c.ts", ""] as const, ["src/a/d.ts", ""] as const];
  const up = ["src/a/b/e.ts", 'import type { D } from "../d.ts";'] as const;
  assert.deepEqual(findTwoWayFolders(plant(down, ...rest, up)), [
    "src/a ↔ src/a/b: src/a/a.ts → src/a/b/c.ts, src/a/b/e.ts → src/a/d.ts",
  ]);
  assert.deepEqual(findTwoWayFolders(plant(down, ...rest)), []);
});

test("a planted small file is found, and no part of an index, no file that loads later (folders.10)", () => {
  const files = ["one", "two", "three", "four"].map((name) => [`packages/a/src/${name}.ts`, "export {};"] as const);
  const index = 'export * from "./two.ts";\nawait import("./three.ts");\nimport { one } from "./one.ts";';
  const other = 'import { four } from "@holdpoint/a/four.ts";';
  const sources = plant(...files, ["packages/a/src/a.ts", index], ["packages/b/src/b.ts", other]);
  assert.deepEqual(findSmall(sources), ["a/src/one.ts"]);
});

test("a planted second definition of a rule is found, a citation is not (folders.5)", () => {
  const rule = "//   queue-limit.1. A cached count admits runs.";
  const sources = plant(["src/a.ts", rule], ["src/b.ts", "const left = 1; // queue-limit.1. See there."]);
  assert.deepEqual(findSharedRules(sources), []);
  assert.deepEqual(findSharedRules(plant(["src/a.ts", rule], ["src/b.ts", rule])), [
    "queue-limit.1 is defined in src/a.ts and src/b.ts",
  ]);
});
