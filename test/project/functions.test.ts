// Test of the functions, names and rules in packages/, tests and contracts of adapters not counted. Checked:
//   functions.1. No function has more than 80 lines.
//   functions.2. No function has more than four parameters: more are one object.
//   functions.3. A name is a verb with its noun: at most 3 % end with "Of".
//   functions.4. No function name is declared in more than six files, except by role: `create…`, `parse…`.
//   functions.5. A doc comment begins with a noun or a verb, not with "Of" or "As it came".
//   functions.6. Participles and private words are no nouns: parcel, talk, heard, spoken, taken.
//   functions.7. A rule of a file has a number only if a test cites it; the others begin with a dash.
// The last tests plant violations, so that a check that sees no functions cannot pass.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { type FunctionShape, functionShapes } from "./function-shapes.ts";
import { filesBelow, ROOT } from "./source-files.ts";

const LINES_MAX = 80;
const PARAMETERS_MAX = 4;
const OF_SHARE_MAX = 0.03;
const FILES_MAX = 6;
const ROLE = /^(?:create|parse)(?![a-z])/;
const PRIVATE_COMMENT = /\/\*\*\s*(?:\*\s*)?(?:Of|As it came)\b/g;
const PRIVATE_NOUN = /^(?:parcel|talk|heard|spoken|taken)s?(?![a-z])/;
const DECLARED = /\b(?:const|let|function|interface|type)\s+([$\w]+)/g;
const RULE = /^\/\/ (?:  |Invariant )([a-z][a-z\d/-]*\.\d+)[.:] /gm;
const CITED = /(?<![\w./-])([a-z][a-z\d/-]*)\.(\d+)(?: to (?:[a-z][a-z\d/-]*\.)?(\d+))?/g;
const TEST = /^test\/.*\.m?ts$|\.(?:test|contract)\.tsx?$/;
const SOURCE = /(?<!\.d|\.test|\.contract)\.tsx?$/;

function findFaults(shapes: readonly FunctionShape[]): string[] {
  return shapes.flatMap(({ path, name, lines, parameters }) => [
    ...(lines > LINES_MAX ? [`${path} ${name}: lines`] : []),
    ...(parameters > PARAMETERS_MAX ? [`${path} ${name}: parameters`] : []),
  ]);
}

/** Share of the names that end with "Of". */
function measureShare(shapes: readonly FunctionShape[]): number {
  const names = shapes.map(({ name }) => name).filter((name) => name !== "(anonymous)");
  return names.filter((name) => /[a-z\d]Of$/.test(name)).length / names.length;
}

function findRepeated(shapes: readonly FunctionShape[]): string[] {
  const files = Map.groupBy(
    shapes.filter(({ name, isDeclared }) => isDeclared && !ROLE.test(name)),
    ({ name }) => name,
  );
  return [...files].flatMap(([name, of]) => {
    const count = new Set(of.map(({ path }) => path)).size;
    return count > FILES_MAX ? [`${name}: ${count} files`] : [];
  });
}

function findPrivate(sources: ReadonlyMap<string, string>): string[] {
  return [...sources].flatMap(([path, text]) => [
    ...[...text.matchAll(PRIVATE_COMMENT)].map(([comment]) => `${path} ${comment}`),
    ...[basename(path), ...[...text.matchAll(DECLARED)].map(([, name = ""]) => name)]
      .filter((name) => PRIVATE_NOUN.test(name.replace(/^[A-Z]/, (letter) => letter.toLowerCase())))
      .map((name) => `${path} ${name}`),
  ]);
}

function listCited(texts: readonly string[]): ReadonlySet<string> {
  const cited = texts.flatMap((text) =>
    [...text.replaceAll(/\n\/\/ +/g, " ").matchAll(CITED)].flatMap(([, subject, first, last = first]) =>
      Array.from(
        { length: Math.min(100, Number(last) - Number(first) + 1) },
        (_, at) => `${subject}.${Number(first) + at}`,
      ),
    ),
  );
  return new Set(cited);
}

function findUncited(sources: ReadonlyMap<string, string>, tests: readonly string[]): string[] {
  const cited = listCited(tests);
  return [...sources.values()]
    .flatMap((text) => [...text.matchAll(RULE)].map(([, rule = ""]) => rule))
    .filter((rule) => !cited.has(rule));
}

function read(...roots: readonly string[]): ReadonlyMap<string, string> {
  const paths = roots.flatMap(filesBelow).filter((path) => SOURCE.test(path));
  return new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
}

const sources = read("packages");
const shapes = functionShapes(sources);

test("functions keep to 80 lines and four parameters (functions.1, functions.2)", () => {
  assert.deepEqual(findFaults(shapes), []);
});

test("names are verbs with nouns, and say one thing in few files (functions.3, functions.4)", () => {
  assert.ok(measureShare(shapes) <= OF_SHARE_MAX);
  assert.deepEqual(findRepeated(shapes), []);
});

test("comments and names use plain nouns (functions.5, functions.6)", () => {
  assert.deepEqual(findPrivate(sources), []);
});

test("a rule with a number has a test that cites it (functions.7)", () => {
  const tests = ["packages", "test"].flatMap(filesBelow).filter((path) => TEST.test(path));
  const texts = tests.map((path) => readFileSync(join(ROOT, path), "utf8"));
  assert.deepEqual(findUncited(sources, texts), []);
});

test("planted functions are found, of every kind (functions.1, functions.2)", () => {
  const lines = (count: number): string => "\n".repeat(count - 1);
  const planted = new Map([
    ["a.ts", `export function long() {${lines(81)}}\nfunction short() {${lines(80)}}\n// ${lines(100)}`],
    ["b.tsx", `const View = () => {${lines(81)}return <p />; };\nclass A { method() {${lines(90)}} }`],
    ["c.ts", "const wide = (a: 1, b: 2, c: 3, d: 4, e: 5) => a;\nfunction own(this: 1, a: 1, b: 2, c: 3, d: 4) {}"],
    ["d.ts", "class B { constructor(a: 1, { b }: { b: 2 }, c = 3, [d]: [4], ...e: 5[]) {} }"],
  ]);
  assert.deepEqual(findFaults(functionShapes(planted)), [
    "a.ts long: lines",
    "b.tsx View: lines",
    "b.tsx method: lines",
    "c.ts wide: parameters",
    "d.ts B: parameters",
  ]);
});

test("planted names are found (functions.3, functions.4, functions.5, functions.6)", () => {
  const many = ["a", "b", "c", "d", "e", "f", "g"].map(
    (name) =>
      [`${name}.ts`, "function textOf() {}\nfunction createIt() {}\nexport const it = { member() {} };"] as const,
  );
  const planted = functionShapes(new Map(many));
  assert.equal(measureShare(planted), 1 / 3);
  assert.deepEqual(findRepeated(planted), ["textOf: 7 files"]);
  const words = new Map([
    ["spoken.ts", "/** Of a list. */\nconst takenRows = [];\nconst talkative = 1;"],
    ["plain.ts", "/**\n * As it came. */\n/** Offers. */"],
  ]);
  assert.deepEqual(findPrivate(words), [
    "spoken.ts /** Of",
    "spoken.ts spoken.ts",
    "spoken.ts takenRows",
    "plain.ts /**\n * As it came",
  ]);
});

test("planted rules without a test are found (functions.7)", () => {
  const rules = [1, 2, 3, 4].map((number) => `//   a/b.${number}. A rule.`);
  const sources = new Map([["b.ts", ["// B. Invariants:", ...rules, "// Invariant c.1: another."].join("\n")]]);
  assert.deepEqual(findUncited(sources, ["// Checked: a/b.1\n//   to a/b.3."]), ["a/b.4", "c.1"]);
  assert.deepEqual(findUncited(sources, ["(a/b.1 to 4), c.1", "x/a/b.4"]), []);
});
