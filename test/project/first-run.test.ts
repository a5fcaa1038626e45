// `npm test` is what a reader runs after `npm ci` of the root. Checked:
//   first-run.1. No file that it reaches uses an npm project inside the repository, or a program that .ci/run installs.
//   first-run.2. A file that needs one of them is in test/outside/, and has no test that is skipped without it.
//   first-run.4. A rule that a test of the long form names is named by one of the others in its file, too.
//   first-run.3. Every test file is in one suite. .ci/run runs all but the long forms, which run every night.
// test/no-skips.ts fails a run of `npm test` that skips a test, and .ci/run installs nothing before that run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { SUITES, TAKES_LONG } from "../suites.ts";
import { filesBelow, ROOT } from "./source-files.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Only what a file always imports: with HOLDPOINT_TEST_LANGGRAPH=oldest a harness loads more. */
const IMPORT = /^(?:import|export)\b[^;]*?"(\.{1,2}\/[^"]+)"/gm;

/** The files, and what they import below test/. */
function reach(files: readonly string[], readFile: (path: string) => string): ReadonlyMap<string, string> {
  const reached = new Map<string, string>();
  const visit = (path: string): void => {
    if (reached.has(path) || !/\.[mc]?tsx?$/.test(path)) return;
    const text = readFile(path);
    reached.set(path, text);
    for (const [, specifier = ""] of text.matchAll(IMPORT)) {
      const imported = posix.join(posix.dirname(path), specifier);
      if (imported.startsWith("test/")) visit(imported);
    }
  };
  for (const file of files) visit(file);
  return reached;
}

const programs = [
  ...(/^for tool in (.+); do$/m.exec(read(".ci/run"))?.[1]?.split(" ") ?? []),
  "script", // of util-linux, other options on other systems
  "mount", // needs root
];
const PROGRAM = new RegExp(`"(?:${programs.join("|")})"`);
const USES: readonly (readonly [what: string, RegExp])[] = [
  ["nested-project.ts", /\bnested-project\.ts"/],
  ["a program", PROGRAM],
];

/** `FILE: WHAT` */
const needs = (reached: ReadonlyMap<string, string>): readonly string[] =>
  [...reached].flatMap(([path, text]) => USES.flatMap(([what, use]) => (use.test(text) ? [`${path}: ${what}`] : [])));

test("no file of npm test needs more than npm ci (first-run.1)", () => {
  assert.ok(programs.length > 5, programs.join());
  const names = "test/project/first-run.test.ts"; // names them all
  const files = SUITES.first.filter((path) => path !== names);
  const reached = reach(files, read);
  assert.ok(reached.size > files.length);
  assert.deepEqual(needs(reached), []);
});

test("tests of other programs and projects are not skipped without them (first-run.2)", () => {
  const outside = SUITES.rest.filter((path) => path.startsWith("test/outside/"));
  assert.ok(outside.length > 5);
  for (const path of outside) assert.doesNotMatch(read(path), /\bskip\b/, path);
});

test("every test file is in one suite, and every suite is run (first-run.3)", () => {
  const all = ["packages", "test"].flatMap(filesBelow).filter((path) => path.endsWith(".test.ts"));
  const { first, rest, e2e, long, oldest, "oldest-long": oldestLong } = SUITES;
  const only = long.filter((path) => path.endsWith(".long.test.ts"));
  assert.deepEqual([...first, ...rest, ...e2e, ...only].toSorted(), all.toSorted());
  const again = [...oldest, ...oldestLong];
  assert.equal(new Set(again).size, again.length);
  assert.deepEqual(
    [...again, ...TAKES_LONG].filter((path) => !all.includes(path)),
    [],
  );
  const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
  const named = Object.values(scripts).flatMap((script) => [...script.matchAll(/test\/run\.ts ([\w-]+)/g)]);
  assert.deepEqual(new Set(named.map(([, suite]) => suite)), new Set(Object.keys(SUITES)));
  const commands = scripts["test:all"]?.split(" && ") ?? [];
  const called = commands.map((command) => {
    const [, script = "", more = ""] = /([\w:]+)(?: -- (.*))?$/.exec(command) ?? [];
    return `${scripts[script]} ${more}`;
  });
  const run = called.flatMap((script) => [...script.matchAll(/test\/run\.ts ([^&]+)/g)]);
  assert.deepEqual(new Set(run.flatMap(([, suites = ""]) => suites.trim().split(" "))), new Set(Object.keys(SUITES)));
  const ci = read(".ci/run");
  for (const command of commands) assert.match(ci, new RegExp(`^(?:  )?alone .*\\b${command}(?: &)?$`, "m"), command);
  assert.match(read(".github/workflows/nightly.yml"), /\.ci\/run --long$/m);
});

/** Rules named by tests of the long form alone. */
function findLongOnly(text: string): readonly string[] {
  const [long, others] = [/\btestInLong\(\s*(["`].*)/g, /\btest\(\s*(["`].*)/g].map((form) =>
    [...text.matchAll(form)].flatMap(([, title = ""]) => title.match(/\b[a-z][\w/-]*\.\d+\b/g) ?? []),
  );
  return (long ?? []).filter((rule) => others?.includes(rule) !== true);
}

test("every rule of a long form has a test in the short one (first-run.4)", () => {
  const found = SUITES.rest.flatMap((path) => findLongOnly(read(path)).map((rule) => `${path}: ${rule}`));
  assert.deepEqual(found, []);
  const planted = 'testInLong("it stands (a.1, a.2)", f); test("it runs (a.2)", f);';
  assert.deepEqual(findLongOnly(planted.replaceAll("; ", ";\n")), ["a.1"]);
});

test("a need is found in a file, and in one that it imports (first-run.1)", () => {
  const files: Readonly<Record<string, string>> = {
    "test/a/one.test.ts": 'import { x } from "../harness/x.ts";\n',
    "test/harness/x.ts": 'import {\n  y,\n} from "./nested-project.ts";\n',
    "test/harness/nested-project.ts": "",
    "test/a/two.test.ts": 'spawnSync("fish", []);\n',
  };
  const reached = reach(["test/a/one.test.ts", "test/a/two.test.ts"], (path) => files[path] ?? assert.fail(path));
  assert.deepEqual(needs(reached), ["test/harness/x.ts: nested-project.ts", "test/a/two.test.ts: a program"]);
});
