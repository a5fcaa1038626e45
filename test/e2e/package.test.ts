// Tests of the package: built as for a release, put where npm would put it, and run from there.
//   e2e/package.1. It depends on every module that it imports, and on no tool.
//   e2e/package.2. It serves the sample graphs and the console, with nothing from this repository but its dependencies,
//        on the embedded database and on PostgreSQL.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { before, test } from "node:test";
import { buildPackage } from "./build-package.ts";
import { newDatabase } from "../harness/postgres/databases.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

const PACKAGE = join(ROOT, "package");
const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*["']((?:@[\w-]+\/)?[\w:-][\w.-]*)(?:\/[\w./-]+)?["']/g;

before(buildPackage);

test("the package declares every module that it imports (e2e/package.1)", () => {
  const {
    name: own,
    dependencies,
    peerDependencies,
    ...rest
  } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as { readonly name: string } & Readonly<
    Record<"dependencies" | "peerDependencies", Readonly<Record<string, string>>>
  >;
  const asked = new Set([own, ...Object.keys(dependencies), ...Object.keys(peerDependencies)]); // examples name the package itself
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => name.startsWith("@langchain/")),
    [],
  );
  assert.deepEqual(
    ["devDependencies", "optionalDependencies", "scripts", "private"].filter((member) => member in rest),
    [],
  );
  const missing = new Set<string>();
  const files = globSync("{dist,examples}/**/*.js", { cwd: PACKAGE, exclude: ["dist/console/**"] });
  assert.ok(files.length > 100);
  for (const file of files) {
    for (const [, name = ""] of readFileSync(join(PACKAGE, file), "utf8").matchAll(IMPORT)) {
      if (!isBuiltin(name) && !asked.has(name)) missing.add(`${file}: ${name}`);
    }
  }
  assert.deepEqual(missing, new Set());
});

for (const storage of ["the embedded database", "PostgreSQL"]) {
  test(`from node_modules, on ${storage}, the package serves its samples and the console (e2e/package.2)`, () =>
    serve(storage));
}

async function serve(storage: string): Promise<void> {
  const database = storage === "PostgreSQL" ? { DATABASE_URI: await newDatabase() } : {};
  const folder = temporaryFolder();
  const home = join(folder, "node_modules", "holdpoint");
  mkdirSync(join(folder, "node_modules"));
  cpSync(PACKAGE, home, { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
  const env = { PATH: process.env["PATH"] ?? "", PORT: "0", LOG_JSON: "true", LOG_LEVEL: "info", ...database };
  const child = spawn(
    process.execPath,
    [join(home, "bin", "holdpoint.cjs"), "serve", "--config", join(home, "examples", "langgraph.json")],
    { cwd: folder, env },
  );
  try {
    const exited = once(child, "exit");
    const url = await new Promise<string>((resolve, reject) => {
      let output = "";
      void exited.then(() => reject(new Error(output)));
      createInterface({ input: child.stderr }).on("line", (line) => {
        output += `${line}\n`;
        if (!line.startsWith("{")) return;
        const entry = JSON.parse(line) as { readonly event: string; readonly url: string };
        if (entry.event === "listening") resolve(entry.url);
      });
    });
    const post = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
      const headers = { "content-type": "application/json" };
      const reply = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
      assert.equal(reply.status, 200, await reply.clone().text());
      return (await reply.json()) as Readonly<Record<string, unknown>>;
    };
    const { thread_id: id } = await post("/threads", {});
    const asked = await post(`/threads/${String(id)}/runs/wait`, { assistant_id: "agent", input: {} });
    assert.ok(Array.isArray(asked["__interrupt__"]));
    const done = await post(`/threads/${String(id)}/runs/wait`, { assistant_id: "agent", command: { resume: "yes" } });
    assert.ok(!("__interrupt__" in done) && !("__error__" in done));
    const page = await fetch(`${url}/console/inbox`);
    assert.equal(page.status, 200);
    const [, script = ""] = /<script[^>]+src="([^"]+\.js)"/.exec(await page.text()) ?? [];
    assert.equal((await fetch(new URL(script, `${url}/console/inbox`))).status, 200);
    child.kill("SIGTERM");
    assert.deepEqual((await exited)[0], 0);
  } finally {
    child.kill("SIGKILL");
    removeFolder(folder);
  }
}
