// `npm test` is what a reader runs after `npm ci` of the root. Checked:
//   first-run.1. No file that it reaches uses an npm project inside the repository, or a program that .ci/run installs.
//   first-run.2. A file that needs one of them is in test/outside/, and has no test that is skipped without it.
//   first-run.3. The two suites, with the browser's, have every test file.
// test/no-skips.ts fails a run of `npm test` that skips a test, and .ci/run installs nothing before that run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { FIRST, REST } from "../suites.ts";
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
  const files = FIRST.filter((path) => path !== names);
  const reached = reach(files, read);
  assert.ok(reached.size > files.length);
  assert.deepEqual(needs(reached), []);
});

test("tests of other programs and projects are not skipped without them (first-run.2)", () => {
  const outside = REST.filter((path) => path.startsWith("test/outside/"));
  assert.ok(outside.length > 5);
  for (const path of outside) assert.doesNotMatch(read(path), /\bskip\b/, path);
});

test("every test file is in a suite (first-run.3)", () => {
  const all = ["packages", "test"].flatMap(filesBelow).filter((path) => path.endsWith(".test.ts"));
  const known = [...FIRST, ...REST, ...all.filter((path) => path.startsWith("test/e2e/"))];
  assert.deepEqual(known.toSorted(), all.toSorted());
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
