import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test, type TestContext } from "node:test";
import { importExport } from "./import-user-module.ts";
import { prepareSources } from "./prepare-sources.ts";

function project(t: TestContext, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-test-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  for (const [name, text] of Object.entries(files)) write(name, text);
  const load = (name: string) => importExport({ file: join(folder, name), exportName: "graph" }, folder);
  const prepare = async (...names: string[]) => {
    const { files: compiled, forget } = await prepareSources(names.map((name) => join(folder, name)));
    t.after(forget);
    return compiled.map((path) => basename(path)).toSorted();
  };
  return { write, load, prepare };
}

const MODULE = JSON.stringify({ type: "module" });
const ALIASES = JSON.stringify({ compilerOptions: { paths: { "@/*": ["./*"] } } });

test("it compiles the files of the graphs and what they import, by path and by alias", async (t) => {
  const { load, prepare } = project(t, {
    "package.json": MODULE,
    "tsconfig.json": ALIASES,
    "graph.ts":
      'import { a, type A } from "./a.js";\nimport { b } from "@/b";\nimport "node:fs";\nconst first: A = a;\nexport const graph = `${first} ${b}`;',
    "a.ts": 'export type A = string;\nexport { c as a } from "./c.ts";',
    "b.mts": 'import { c } from "./c.js";\nexport const b: string = `b${c}`;',
    "c.ts": 'import "./graph.ts";\nexport const c: string = "c";',
    "d.js": "export const graph = 1;",
  });
  assert.deepEqual(await prepare("graph.ts", "d.js"), ["a.ts", "b.mts", "c.ts", "graph.ts"]);
  assert.equal(await load("graph.ts"), "c bc");
});

test("CommonJS is followed too", async (t) => {
  const { load, prepare } = project(t, {
    "package.json": "{}",
    "graph.ts": 'import { a } from "./a";\nexport const graph: number = a;',
    "a.cts": "export const a: number = 3;",
  });
  assert.deepEqual(await prepare("graph.ts"), ["a.cts", "graph.ts"]);
  assert.equal(await load("graph.ts"), 3);
});

test("a file that changes before its load is compiled anew", async (t) => {
  const { write, load, prepare } = project(t, {
    "package.json": MODULE,
    "graph.ts": "export const graph: number = 1;",
  });
  assert.deepEqual(await prepare("graph.ts"), ["graph.ts"]);
  write("graph.ts", "export const graph: number = 2;");
  assert.equal(await load("graph.ts"), 2);
});

test("a file that does not compile, or is not there, fails at its load", async (t) => {
  const { load, prepare } = project(t, { "package.json": MODULE, "graph.ts": "export const graph: number = ;" });
  assert.deepEqual(await prepare("graph.ts", "missing.ts"), []);
  await assert.rejects(load("graph.ts"), /SyntaxError: Unexpected ";" \(graph\.ts:1\)/);
  await assert.rejects(load("missing.ts"), /the file does not exist/);
});

test("it ends although the thread is blocked for longer than the compiler idles (source-transform.5)", async (t) => {
  const names = Array.from({ length: 40 }, (_, index) => `g${index}.ts`);
  const files = Object.fromEntries(names.map((name) => [name, "export const graph: number = 1;"]));
  const { prepare } = project(t, { "package.json": MODULE, ...files });
  const prepared = prepare(...names);
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve)); // files are read
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
  assert.equal((await prepared).length, names.length);
});
