// Tests of a start: it loads nothing that only some servers, or only later requests, need; it needs no graph.
import assert from "node:assert/strict";
import { test } from "node:test";
import { call, removeFolder, startServer, temporaryFolder } from "../harness/server.ts";

/** Writes the packages and the built-in modules that the process has loaded, when it ends. */
const WATCH = `import { registerHooks } from "node:module";
const packages = new Set();
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(found.url) ?? [];
    if (name !== undefined) packages.add(name);
    return found;
  },
});
process.on("exit", () => console.log("loaded:" + JSON.stringify([...packages, ...process.moduleLoadList])));`;

const LATER = [
  "@a2a-js/sdk",
  "@modelcontextprotocol/server",
  "@opentelemetry/api", // with an OTLP endpoint
  "nodemailer",
  "openid-client",
  "pg",
  "typescript",
  "ws", // at the first upgrade
  "NativeModule internal/deps/undici/undici", // with `fetch`, and with an `import` of node:http
  "NativeModule https",
];

test("a start loads no part that only later requests or other configurations need", async (t) => {
  if (process.env["HOLDPOINT_TEST_STORAGE"] === "postgres")
    return t.skip("the client of PostgreSQL loads modules of its own");
  const server = await startServer({ nodeArgs: ["--import", `data:text/javascript,${encodeURIComponent(WATCH)}`] });
  t.after(() => removeFolder(server.dataDir));
  assert.equal((await fetch(`${server.url}/ok`)).status, 200);
  await server.stop();
  const loaded = JSON.parse(/^loaded:(.*)$/m.exec(server.output())?.[1] ?? "[]") as readonly string[];
  assert.ok(loaded.includes("@langchain/langgraph"), server.output());
  assert.deepEqual(
    LATER.filter((name) => loaded.includes(name)),
    [],
  );
});

test("a folder without a langgraph.json serves requests", async (t) => {
  const dataDir = temporaryFolder();
  const server = await startServer({ dataDir, cwd: dataDir, config: null });
  t.after(() => removeFolder(dataDir));
  const asked = await call(server, "POST", "/requests", { payload: "Deploy?" });
  assert.equal(asked.status, 201, asked.text);
  assert.deepEqual((await call(server, "POST", "/assistants/search", {})).body, []);
  assert.ok(server.logs.some(({ event }) => event === "no_graphs"));
  await server.stop();
});
