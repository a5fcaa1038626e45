// Test of the type reader, with stand-ins for the TypeScript of a project: one call, in a separate process, and an
// answer in time whatever it does. The stand-ins are of the library kind; type-schemas.test.ts has the native kind.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { systemClock } from "@holdpoint/base/clock.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { createTypeReader } from "./type-reader.ts";

/** A type checker that knows one graph with the state `{a: string}`. It records each start. */
const KNOWS = `
const string = { flags: 4, getSymbol: () => undefined };
const state = { flags: 32, getSymbol: () => undefined };
const graph = { flags: 32, getSymbol: () => undefined };
const found = { name: "graph", flags: 0, type: graph };
const a = { name: "a", flags: 0, type: string, getDocumentationComment: () => [] };
const checker = {
  getSymbolAtLocation: () => ({}),
  getExportsOfModule: () => [found],
  getTypeOfSymbol: (symbol) => symbol.type,
  getPropertyOfType: (type, name) => type === graph && name.startsWith("~") ? { name, type: state } : undefined,
  getPropertiesOfType: (type) => (type === state ? [a] : []),
  getIndexInfosOfType: () => [],
  getSignaturesOfType: () => [],
  getNonNullableType: (type) => type,
  getTypeArguments: () => [],
  isArrayType: () => false,
  isTupleType: () => false,
};
module.exports = {
  createProgram(files, options) {
    require("node:fs").appendFileSync(__dirname + "/starts", JSON.stringify({ files, options, env: process.env }) + "\\n");
    return { getTypeChecker: () => checker, getSourceFile: () => ({}) };
  },
  findConfigFile: () => undefined,
  displayPartsToString: () => "",
  sys: {},
  TypeFlags: { String: 4, Object: 32 },
  SymbolFlags: { Optional: 16777216, Class: 32 },
};`;

/** The error of a busy machine. */
const PATIENCE_MS = 120_000;

interface Project {
  readonly folder: string;
  readonly file: string;
  readonly starts: () => readonly { readonly files: readonly string[]; readonly env: object }[];
  readonly reasons: string[];
  readonly pass: (ms: number) => void;
  readonly read: (graphId?: string) => Promise<unknown>;
}

function project(t: TestContext, typescript: string | null, timeoutMs = PATIENCE_MS, extension = "ts"): Project {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-types-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, `graph.${extension}`);
  writeFileSync(file, "");
  writeFileSync(join(folder, "package.json"), "{}");
  const modules = join(folder, "node_modules", "typescript");
  if (typescript !== null) {
    mkdirSync(modules, { recursive: true });
    writeFileSync(join(modules, "package.json"), '{"name":"typescript","main":"index.cjs"}');
    writeFileSync(join(modules, "index.cjs"), typescript);
  }
  const reasons: string[] = [];
  const write = (line: string): void => void reasons.push(String((JSON.parse(line) as { reason: unknown }).reason));
  const log = createLog({ level: "warning", json: true, secrets: [], now: Date.now, write });
  const graphs = [{ graphId: "g", file, exportName: "graph", description: null }];
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const reader = createTypeReader({ folder, graphs }, timeoutMs, { clock, log });
  const starts = (): ReturnType<Project["starts"]> => {
    const path = join(modules, "starts");
    const lines = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
    return lines.map((line) => JSON.parse(line) as { files: string[]; env: object });
  };
  const pass = (ms: number): void => void (now += ms);
  return { folder, file, starts, reasons, pass, read: (graphId = "g") => reader.read(graphId) };
}

const STATE = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
const TOLD = { input: STATE, output: STATE, state: STATE, context: null };

test("the project's own TypeScript runs without the server's environment", async (t) => {
  const { read, starts, file, reasons } = project(t, KNOWS);
  assert.deepEqual(await read(), TOLD);
  assert.deepEqual(
    starts().map(({ files }) => files),
    [[file]],
  );
  assert.ok(!("PATH" in (starts()[0]?.env ?? {})));
  assert.deepEqual(reasons, []);
});

test("one call serves all callers, and a changed file causes another (type-reader.1)", async (t) => {
  const { read, starts, file } = project(t, KNOWS);
  assert.deepEqual(await Promise.all([read(), read(), read()]), [TOLD, TOLD, TOLD]);
  assert.deepEqual(await read(), TOLD);
  assert.equal(starts().length, 1);
  utimesSync(file, 1, 1);
  await Promise.all([read(), read()]);
  assert.equal(starts().length, 2);
});

const FAILING: readonly (readonly [name: string, typescript: string, timeoutMs: number, reason: RegExp])[] = [
  ["never comes to an end", "for (;;) {}", 1000, /took too long/],
  ["ends the process", "process.exit(3)", PATIENCE_MS, /Command failed/],
  ["prints something else", 'process.stdout.write("hello"); process.exit(0)', PATIENCE_MS, /printed no result/],
  [
    "prints too much",
    "(function write() { process.stdout.write('x'.repeat(1e6), write); })()",
    PATIENCE_MS,
    /maxBuffer/,
  ],
];

for (const [name, typescript, timeoutMs, reason] of FAILING) {
  test(`a TypeScript that ${name} yields no types, and the log has the reason (type-reader.1, type-reader.2)`, async (t) => {
    const { read, reasons, pass } = project(t, typescript, timeoutMs);
    assert.equal(await read(), null);
    pass(4 * 60_000);
    assert.equal(await read(), null); // no second attempt so far
    assert.equal(reasons.length, 1);
    assert.match(reasons[0] ?? "", reason);
    pass(60_000);
    assert.equal(await read(), null);
    assert.equal(reasons.length, 2);
  });
}

const SILENT: readonly (readonly [name: string, open: (t: TestContext) => Project, graphId?: string])[] = [
  ["a project without TypeScript", (t) => project(t, null)],
  ["a TypeScript without an interface", (t) => project(t, "module.exports = {}")],
  ["a TypeScript that does not load", (t) => project(t, "throw new Error('broken')")],
  [
    "a TypeScript that fails on the graph (type-extractor.2)",
    (t) => project(t, KNOWS.replace("getSymbolAtLocation: () => ({})", "getSymbolAtLocation: null")),
  ],
  ["an export that the types do not have", (t) => project(t, KNOWS.replace('name: "graph"', 'name: "other"'))],
];

for (const [name, open] of SILENT) {
  test(`${name} yields no types, and that is not a failure`, async (t) => {
    const { read, reasons } = open(t);
    assert.equal(await read(), null);
    assert.deepEqual(reasons, []);
  });
}

test("no call for plain JavaScript, for other graphs, or with types disabled", async (t) => {
  const cases = [project(t, KNOWS, 20_000, "mjs"), project(t, KNOWS, 0)];
  for (const { read, starts } of cases) {
    assert.equal(await read(), null);
    assert.equal(starts().length, 0);
  }
  const { read, starts } = project(t, KNOWS);
  assert.equal(await read("other"), null);
  assert.equal(starts().length, 0);
});
