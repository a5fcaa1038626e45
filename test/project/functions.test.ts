// Test of the functions in packages/, tests and contracts of adapters not counted. Checked:
//   functions.1. No function has more than 80 lines.
//   functions.2. No function has more than four parameters: more are one object.
// The last test plants violations, so that a check that sees no functions cannot pass.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { functionShapes } from "./function-shapes.ts";
import { filesBelow, ROOT } from "./source-files.ts";

const LINES_MAX = 80;
const PARAMETERS_MAX = 4;
const SOURCE = /(?<!\.d|\.test|\.contract)\.tsx?$/;

function findFaults(sources: ReadonlyMap<string, string>): string[] {
  return functionShapes(sources).flatMap(({ path, name, lines, parameters }) => [
    ...(lines > LINES_MAX ? [`${path} ${name}: lines`] : []),
    ...(parameters > PARAMETERS_MAX ? [`${path} ${name}: parameters`] : []),
  ]);
}

function read(...roots: readonly string[]): ReadonlyMap<string, string> {
  const paths = roots.flatMap(filesBelow).filter((path) => SOURCE.test(path));
  return new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
}

test("functions keep to 80 lines and four parameters (functions.1, functions.2)", () => {
  assert.deepEqual(findFaults(read("packages")), []);
});

test("planted functions are found, of every kind (functions.1, functions.2)", () => {
  const lines = (count: number): string => "\n".repeat(count - 1);
  const sources = new Map([
    ["a.ts", `export function long() {${lines(81)}}\nfunction short() {${lines(80)}}\n// ${lines(100)}`],
    ["b.tsx", `const View = () => {${lines(81)}return <p />; };\nclass A { method() {${lines(90)}} }`],
    ["c.ts", "const wide = (a: 1, b: 2, c: 3, d: 4, e: 5) => a;\nfunction own(this: 1, a: 1, b: 2, c: 3, d: 4) {}"],
    ["d.ts", "class B { constructor(a: 1, { b }: { b: 2 }, c = 3, [d]: [4], ...e: 5[]) {} }"],
  ]);
  assert.deepEqual(findFaults(sources), [
    "a.ts long: lines",
    "b.tsx View: lines",
    "b.tsx method: lines",
    "c.ts wide: parameters",
    "d.ts B: parameters",
  ]);
});
