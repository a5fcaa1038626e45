// Tests of exact imports: the oracle is Node, which resolves everything that a server loads.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { PATIENCE } from "../../../test/harness/patience.ts";
import { createExactImports } from "./exact-imports.ts";

const SOURCE = new URL("../../", import.meta.url).href;
const EXACT_IMPORTS = new URL("exact-imports.ts", import.meta.url).href;

async function run(args: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout);
}

test("it resolves as Node does, for all that a server loads (exact-imports.1)", PATIENCE, async () => {
  const [same, different] = (await run([
    "--input-type=module",
    "-e",
    `import { registerHooks } from "node:module";
    import { createExactImports } from "${EXACT_IMPORTS}";
    const exactImport = createExactImports("${SOURCE}");
    const different = [];
    let same = 0;
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context);
        const exact = new Set(context.conditions).has("require") ? null : exactImport(specifier, context.parentURL ?? "");
        if (exact !== null && exact.url === found.url && exact.format === found.format) same++;
        else if (exact !== null) different.push([specifier, context.parentURL, exact, found.url, found.format]);
        return found;
      },
    });
    await import("${SOURCE}main/serve.ts");
    await import("${SOURCE}graphs/graphs.ts");
    await import("${SOURCE}gateways/a2a-routes.ts");
    await import("@langchain/langgraph");
    console.log(JSON.stringify([same, different]));
  `,
  ])) as readonly [number, readonly unknown[]];
  assert.deepEqual(different, []);
  assert.ok(same > 500, `${same} imports`);
});

function project(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdpoint-imports-")));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return pathToFileURL(`${folder}/`).href;
}

const MODULE = '{"type": "module"}';

test("all else is left to Node (exact-imports.1)", (t) => {
  const folder = project(t, {
    "package.json": MODULE,
    "program/a.ts": "",
    "program/b.ts": "",
    "project/c.js": "",
    "node_modules/m/package.json": MODULE,
    "node_modules/m/a.js": "",
    "node_modules/m/b.js": "",
    "node_modules/m/cjs/package.json": "{}",
    "node_modules/m/cjs/c.js": "",
    "node_modules/m/node_modules/inner/package.json": MODULE,
    "node_modules/m/node_modules/inner/d.js": "",
    "node_modules/m/t.ts": "",
  });
  symlinkSync("b.js", new URL("node_modules/m/link.js", folder));
  const exactImport = createExactImports(`${folder}program/`);
  const inModule = (specifier: string) => exactImport(specifier, `${folder}node_modules/m/a.js`);
  assert.deepEqual(exactImport("./b.ts", `${folder}program/a.ts`), {
    url: `${folder}program/b.ts`,
    format: "module-typescript",
  });
  assert.deepEqual(inModule("./b.js"), { url: `${folder}node_modules/m/b.js`, format: "module" });
  for (const specifier of [
    "./missing.js",
    "./link.js",
    "./cjs/c.js",
    "./node_modules/inner/d.js",
    "./t.ts",
    "./b.js?query",
    "./b.js#part",
    "./%62.js",
    "./b",
    "m",
    "/b.js",
    "../../project/c.js",
  ])
    assert.equal(inModule(specifier), null, specifier);
  assert.equal(exactImport("./c.js", `${folder}project/d.js`), null);
});

/** Specifiers that a hook from before sees: those that are resolved the ordinary way. */
async function seenBy(folder: string, options: readonly string[]): Promise<unknown> {
  const driver = fileURLToPath(`${folder}program/driver.js`);
  writeFileSync(
    driver,
    `import { registerHooks } from "node:module";
    const { resolveExactImports } = await import("${EXACT_IMPORTS}");
    const seen = [];
    registerHooks({ resolve: (specifier, context, next) => (seen.push(specifier), next(specifier, context)) });
    resolveExactImports("${folder}program/", ${JSON.stringify(options)});
    for (const file of ["program/start.js", "project/graph.js", "program/later.js"]) await import("${folder}" + file);
    console.log(JSON.stringify(seen.filter((specifier) => specifier.startsWith("."))));
  `,
  );
  return run([driver]);
}

const PROJECT = {
  "package.json": MODULE,
  "program/start.js": 'import "./first.js";',
  "program/first.js": "",
  "program/later.js": 'import "./second.js";',
  "program/second.js": "",
  "project/graph.js": 'import "./tools.js";',
  "project/tools.js": "",
};

test("it ends with the first import from other code (exact-imports.2)", PATIENCE, async (t) => {
  assert.deepEqual(await seenBy(project(t, PROJECT), []), ["./tools.js", "./second.js"]);
});

test("a process with hooks from its command line resolves by these alone (exact-imports.3)", PATIENCE, async (t) => {
  const folder = project(t, PROJECT);
  for (const options of [["--import", "x"], ["--import=x"], ["--experimental-loader=x"], ["-r", "x"], ["-r x"]])
    assert.deepEqual(await seenBy(folder, options), ["./first.js", "./tools.js", "./second.js"], options.join(" "));
  assert.deepEqual(await seenBy(folder, ["--enable-source-maps"]), ["./tools.js", "./second.js"]);
});
