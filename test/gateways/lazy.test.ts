// A server whose gateways nobody calls loads nothing of their protocols: the routes import the libraries at the first
// request.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOT } from "../harness/server.ts";

const SOURCES = join(ROOT, "packages");
const LIBRARIES = /node_modules\/(@a2a-js|@modelcontextprotocol)\//;

/** Addresses of the modules that an import of these files loads. */
function loadedBy(...files: readonly string[]): readonly string[] {
  const code = `
    import { registerHooks } from "node:module";
    registerHooks({ load(url, context, next) { console.log(url); return next(url, context); } });
    for (const file of ${JSON.stringify(files.map((file) => pathToFileURL(join(SOURCES, file)).href))}) await import(file);`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }).split("\n");
}

test("the routes of the gateways, and the server that has them, load no library of a protocol", () => {
  const loaded = loadedBy(
    "gateways/src/mcp-routes.ts",
    "gateways/src/a2a-routes.ts",
    "holdpoint/src/main/agent-server.ts",
  );
  assert.ok(loaded.length > 10);
  assert.deepEqual(
    loaded.filter((url) => LIBRARIES.test(url)),
    [],
  );
});

test("the endpoints do, so the check above would see it", () => {
  const loaded = loadedBy("gateways/src/a2a/endpoint/endpoint.ts", "gateways/src/mcp/endpoint.ts");
  assert.equal(new Set(loaded.flatMap((url) => LIBRARIES.exec(url)?.[1] ?? [])).size, 2);
});
