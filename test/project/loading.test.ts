// Tests of loading graphs in the styles of real projects. Rules:
//   loading.1. Every style, and each of the official templates, loads and runs unmodified, from a project with its own
//        package.json.
//   loading.2. CommonJS in a project gets the copy of LangGraph that modules get.
//   loading.3. The error of a failed import names the import, the importing file and the remedy.
//   loading.4. A project without `type` in its package.json causes no warning of Node in the log.
//   loading.5. Decorator metadata comes from the project's TypeScript; without it the error names the option.
//   loading.6. An import of a name that the other file does not export is found also where it would be undefined.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { loadGraph } from "@holdpoint/server/graphs/loading/load-graph.ts";
import { missingExports } from "@holdpoint/server/graphs/loading/missing-exports.ts";
import { importExport } from "@holdpoint/server/graphs/loading/import-user-module.ts";
import { IMPORT_STYLES } from "../fixtures/import-styles.ts";
import { OFFICIAL_TEMPLATES } from "../fixtures/official-templates.ts";
import { writeProject, type ProjectFiles } from "../harness/project.ts";
import { removeFolder } from "../harness/server.ts";

const folders: string[] = [];
after(() => folders.forEach(removeFolder));

function project(files: ProjectFiles): string {
  const folder = writeProject(files);
  folders.push(folder);
  return folder;
}

for (const { name, files, graph: file = "src/graph.ts", said } of [...OFFICIAL_TEMPLATES, ...IMPORT_STYLES]) {
  test(`${name} (loading.1)`, async () => {
    const path = join(project(files), file);
    const source = { graphId: "agent", file: path, exportName: "graph", description: null };
    const { graph } = await loadGraph(source, dirname(path));
    const runnable = graph as unknown as { invoke(input: object): Promise<{ readonly said: string }> };
    assert.equal((await runnable.invoke({})).said, said);
    assert.deepEqual(await missingExports(path, dirname(path)), []);
  });
}

test("CommonJS gets the copy of LangGraph that modules get (loading.2)", async () => {
  const folder = project({
    "package.json": {},
    "one.ts": 'export { StateGraph } from "@langchain/langgraph";',
    "two.cjs": 'exports.StateGraph = require("@langchain/langgraph").StateGraph;',
    "three.mts": 'export { StateGraph } from "@langchain/langgraph";',
  });
  const [one, two, three] = await Promise.all(
    ["one.ts", "two.cjs", "three.mts"].map((name) =>
      importExport({ file: join(folder, name), exportName: "StateGraph" }, folder),
    ),
  );
  assert.equal(one, three);
  assert.equal(two, three);
});

test("JavaScript modules without a type cause no warning (loading.4)", async (t) => {
  const folder = project({
    "package.json": {},
    "graph.js":
      '#!/usr/bin/env node\nimport { b } from "./b.js";\nexport const graph = `${b} ${(await import("./c.js")).default.c}`;',
    "b.js": "const { b } = await Promise.resolve({ b: import.meta.filename.slice(-4) });\nexport { b };",
    "c.js": 'const { join } = require("node:path");\nmodule.exports = { c: join("c", ".") };',
  });
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on("warning", note);
  t.after(() => process.off("warning", note));
  assert.equal(await importExport({ file: join(folder, "graph.js"), exportName: "graph" }, folder), "b.js c");
  await new Promise((resolve) => setImmediate(resolve)); // Node prints warnings later
  assert.deepEqual(warnings, []);
});

test("an import that would be undefined is found with file and line (loading.6)", async () => {
  const folder = project({
    "package.json": {},
    "tsconfig.json": { compilerOptions: { verbatimModuleSyntax: false, paths: { "@/*": ["./*"] } } },
    "graph.ts":
      'import { type Word, Kind, size } from "./word.js";\n' +
      'import { size as alias } from "@/word";\nimport old from "./old.cjs";\n' +
      "export const graph = (word: Word, kind: Kind) => [word, kind, size, alias, old.undeclared];",
    "word.ts": "export type Word = 1;\nexport type Kind = 2;\nexport const length = 3;",
    "old.cjs": "exports.size = 1;",
  });
  const found = await missingExports(join(folder, "graph.ts"), folder);
  assert.deepEqual(
    found.map(({ file, line, reason }) => `${file}:${line}: ${reason}`),
    [
      'graph.ts:1: No matching export in "word.ts" for import "size"',
      'graph.ts:2: No matching export in "word.ts" for import "size"',
    ],
  );
});

/** Replaces TypeScript 5: the used part of its interface, and its JavaScript output for the file below. */
const TYPESCRIPT_5 = `
exports.convertCompilerOptionsFromJson = (options) => ({ options });
exports.transpileModule = (text, { compilerOptions }) => {
  if (compilerOptions.emitDecoratorMetadata !== true) throw new Error("the option is missing");
  return { outputText: 'export const graph = []; class Part {} graph.push("design:paramtypes", [Part]);' };
};`;
const DECORATED = `export const graph: unknown[] = [];
class Part {}
function mark(target: unknown) { graph.push(target); }
@mark class Box { constructor(part: Part) {} }
`;

test("decorator metadata comes from the project's TypeScript (loading.5)", async () => {
  const files = { ...WITH_METADATA, "graph.ts": DECORATED };
  const bare = project(files);
  await assert.rejects(
    importExport({ file: join(bare, "graph.ts"), exportName: "graph" }, bare),
    /^Error: SyntaxError: emitDecoratorMetadata of tsconfig\.json needs TypeScript 5 or 6 .* \(graph\.ts\)$/,
  );
  const folder = project({ ...files, "node_modules/typescript/index.js": TYPESCRIPT_5 });
  const [key, [part]] = (await importExport({ file: join(folder, "graph.ts"), exportName: "graph" }, folder)) as [
    string,
    { name: string }[],
  ];
  assert.deepEqual([key, part?.name], ["design:paramtypes", "Part"]);
});

/** What holds an `@` and has no decorator loads as it is; `file` is graph.ts unless it says more. */
const UNDECORATED: readonly (readonly [name: string, source: string, file?: string])[] = [
  ["a JSDoc comment", "/**\n * @param x a number\n * @returns {@link x}\n */\nexport const graph = (x: number) => x;"],
  ["a line comment", "// @ts-expect-error: for @Someone\nexport const graph = 1;"],
  ["a text", 'export const graph = "by @someone, (@Injectable) {@b}";'],
  ["a template literal", "const y = 1;\nexport const graph = `\n@Component\nclass X {} ${y} @Input() ${`@${y}`}`;"],
  ["a pattern", "export const graph = / @a(@b) [,@c]/u;"],
  ["a division and a pattern", 'export const graph = 4 / 2 / 1 + "/ @x".split(/ @y/).length;'],
  [
    "a private member asked for with `in`",
    "class Box { #x = 1; static has = (o: object) => #x in o; }\nexport const graph = Box.has({});",
  ],
  ["an address", "export const graph = ['a @b.example', `me@example.com`, { '@id': 1 }];"],
  [
    "JSX",
    '/** @jsx h */\nconst h = (...all: unknown[]) => all;\nexport const graph = <p title="(@a)">write to @someone, @ two</p>;',
    "graph.tsx",
  ],
  [
    "a name like that of the function that applies decorators",
    "const __decorateClass = 1;\nexport const graph = __decorateClass;",
  ],
];
const DECORATIONS: readonly (readonly [name: string, source: string])[] = [
  ["a class", "@mark class Box {}"],
  ["a class that is exported", "@mark\nexport class Box {}"],
  ["a class behind export", "export @mark class Box {}"],
  ["a class, by a call", "@made('@') class Box {}"],
  ["a method", "class Box { @mark go(): void {} }"],
  ["a member", "class Box { @mark size = 1 }"],
  ["an accessor", "class Box { @mark get size() { return 1; } }"],
  ["a parameter", "class Box { constructor(@mark part: object) {} }"],
  ["a method behind a comment", "class Box { /* @x */@mark go(): void {} }"],
  [
    "a class beside a variable of the function's name",
    "const __decorateClass = 1;\n@mark class Box { size = __decorateClass }",
  ],
];
const WITH_METADATA = {
  "package.json": {},
  "tsconfig.json": { compilerOptions: { experimentalDecorators: true, emitDecoratorMetadata: true } },
};

for (const [name, source, file = "graph.ts"] of UNDECORATED)
  test(`${name} with an @ needs no compiler for metadata (loading.5)`, async () => {
    const folder = project({ ...WITH_METADATA, [file]: source });
    await importExport({ file: join(folder, file), exportName: "graph" }, folder);
  });

for (const [name, source] of DECORATIONS)
  test(`a decorator of ${name} needs a compiler for metadata (loading.5)`, async () => {
    const start = "const mark: any = () => undefined, made = () => mark;\nexport const graph = mark;\n";
    const folder = project({ ...WITH_METADATA, "graph.ts": start + source });
    await assert.rejects(
      importExport({ file: join(folder, "graph.ts"), exportName: "graph" }, folder),
      /emitDecoratorMetadata of tsconfig\.json needs TypeScript 5 or 6/,
    );
  });

const FAILURES: readonly { readonly name: string; readonly files: ProjectFiles; readonly cause: RegExp }[] = [
  {
    name: "a relative path that leads nowhere",
    files: { "graph.ts": 'export * from "./parts/word";', "parts/word.ts": 'export * from "./lost.js";' },
    cause: /^parts\/word\.ts imports "\.\/lost\.js", which does not exist: correct the path, or create the file$/,
  },
  {
    name: "a package that is not installed",
    files: { "graph.ts": 'import { x } from "@scope/absent/deep";\nexport const graph = x;' },
    cause:
      /^graph\.ts imports "@scope\/absent\/deep", a package that is not installed: run npm install @scope\/absent in .*, or add it to "paths" of tsconfig\.json/,
  },
  {
    name: "an alias that the tsconfig.json does not have",
    files: { "graph.ts": 'import { x } from "@/lib";\nexport const graph = x;' },
    cause: /^graph\.ts imports "@\/lib", which is no package: add it to "paths" of the tsconfig\.json nearest/,
  },
  {
    name: "an alias that leads to no file",
    files: {
      "graph.ts": 'import { x } from "@lib/wrod";\nexport const graph = x;',
      "lib/word.ts": "export const x = 1;",
      "tsconfig.json": { compilerOptions: { paths: { "@lib/*": ["./lib/*"] } } },
    },
    cause:
      /^graph\.ts imports "@lib\/wrod", which "paths" of tsconfig\.json leads to lib\/wrod, where no file is: .*; did you mean "@lib\/word"\?$/,
  },
  {
    name: "another alias than the tsconfig.json has",
    files: {
      "graph.ts": 'import { x } from "~/word";\nexport const graph = x;',
      "tsconfig.json": { compilerOptions: { paths: { "@/*": ["./*"] } } },
    },
    cause: /^graph\.ts imports "~\/word", which is no package: .* \(it has @\/\*\)$/,
  },
  {
    name: "a mistyped path",
    files: { "graph.ts": 'export * from "./wrod.js";', "word.ts": "export const graph = 1;" },
    cause: /^graph\.ts imports "\.\/wrod\.js", which does not exist: .*; did you mean "\.\/word\.js"\?$/,
  },
  {
    name: "an alias in a tsconfig.json that cannot be read",
    files: {
      "graph.ts": 'import { x } from "@/lib";\nexport const graph = x;',
      "tsconfig.json": { extends: "@tsconfig/absent", compilerOptions: { paths: { "@/*": ["./*"] } } },
    },
    cause: /its tsconfig\.json is not used: File '@tsconfig\/absent' not found/,
  },
  {
    name: "a name that the other file does not export",
    files: {
      "package.json": { type: "module" },
      "graph.ts": 'export { Word } from "./word";',
      "word.ts": "export type Word = 1;",
    },
    cause:
      /^SyntaxError: The requested module '\.\/word' does not provide an export named 'Word' \(graph\.ts:1\)\. If Word is a type, re-export it with "export type"$/,
  },
  {
    name: "a mistake in an imported file",
    files: { "graph.ts": 'export * from "./word";', "word.ts": "\nexport const = 1;" },
    cause: /^SyntaxError: Expected identifier but found "=" \(word\.ts:2\)$/,
  },
  {
    name: "JSON that is none",
    files: { "graph.ts": 'import data from "./data.json";\nexport const graph = data;', "data.json": "{," },
    cause: /^SyntaxError: .*data\.json.*graph\.ts/,
  },
  {
    name: "a folder without an index file",
    files: { "graph.ts": importing("./parts"), "parts/note.txt": "" },
    cause: /^graph\.ts imports "\.\/parts", which does not exist as a file or a folder with an index file: /,
  },
  {
    name: "a package that is not built",
    files: {
      "graph.ts": importing("lib"),
      "node_modules/lib/package.json": { name: "lib", exports: { ".": "./dist/index.js" } },
    },
    cause: /^graph\.ts imports "lib", a package without the file that its package\.json names: build it/,
  },
  {
    name: "a path that a package does not export",
    files: {
      "graph.ts": importing("lib/deep"),
      "node_modules/lib/package.json": { name: "lib", exports: { ".": "./index.js" } },
      "node_modules/lib/index.js": "",
    },
    cause: /^graph\.ts imports "lib\/deep", which "exports" of package\.json of lib does not have: correct the path/,
  },
  {
    name: "a built-in module that does not exist",
    files: { "graph.ts": importing("node:fss") },
    cause: /^graph\.ts imports "node:fss", which this version of Node does not have: correct the name$/,
  },
  {
    name: "a file of another kind",
    files: { "package.json": { type: "module" }, "graph.ts": importing("./style.css"), "style.css": "a {}" },
    cause: /^graph\.ts imports "\.\/style\.css", a file of a kind that the server does not load: /,
  },
  {
    name: "an address",
    files: { "package.json": { type: "module" }, "graph.ts": importing("https://example.com/x.js") },
    cause: /^graph\.ts imports "https:\/\/example\.com\/x\.js", an address that Node does not load: /,
  },
  {
    name: "a module with await in a file that requires it",
    files: {
      "package.json": {},
      "graph.ts": importing("./late.mts"),
      "late.mts": "await Promise.resolve();\nexport default 1;",
    },
    cause: /^graph\.ts requires late\.mts, which has a top-level await: make graph\.ts an ES module/,
  },
];

/** A graph file that uses the default export of another module. */
function importing(specifier: string): string {
  return `import data from ${JSON.stringify(specifier)};\nexport const graph = data;`;
}

for (const { name, files, cause } of FAILURES) {
  for (const type of ["module", "commonjs"]) {
    if (type === "commonjs" && "package.json" in files) continue;
    test(`${name} is reported with file, import and remedy (loading.3; ${type})`, async () => {
      const folder = project({ "package.json": { type }, ...files });
      await assert.rejects(importExport({ file: join(folder, "graph.ts"), exportName: "graph" }, folder), {
        message: cause,
      });
    });
  }
}
