// Tests of langgraph.json, langgraph-json.1: values, warnings, and errors with their place.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { compilePattern } from "@holdpoint/base/linear-pattern.ts";
import { ConfigFileError, readGraphsConfig } from "./langgraph-json.ts";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-config-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "langgraph.json");

function read(content: unknown, env: Record<string, string> = {}) {
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return readGraphsConfig(file, env);
}

const graphs = { agent: "./agent.ts:graph" };

test("graphs have a file, an export and a description, in file order", () => {
  const { graphs: list, folder: at } = read({
    graphs: {
      first: "./a.ts:graph",
      second: { path: "./deep/b.mjs:make", description: "makes one" },
      third: "c.js",
      fourth: { path: `${join(folder, "d.mts")}:graph`, description: null },
    },
  });
  assert.equal(at, folder);
  assert.deepEqual(list, [
    { graphId: "first", file: join(folder, "a.ts"), exportName: "graph", description: null },
    { graphId: "second", file: join(folder, "deep", "b.mjs"), exportName: "make", description: "makes one" },
    { graphId: "third", file: join(folder, "c.js"), exportName: "default", description: null },
    { graphId: "fourth", file: join(folder, "d.mts"), exportName: "graph", description: null },
  ]);
});

test("the environment comes from a file, from an object, or as a list of required names", () => {
  writeFileSync(join(folder, ".env"), "A=1\nB='two words'\n# no\n");
  assert.deepEqual(read({ graphs, env: ".env" }).env, { A: "1", B: "two words" });
  assert.deepEqual(read({ graphs, env: { A: "x", N: 1 } }).env, { A: "x", N: "1" });
  assert.deepEqual(read({ graphs, env: ["A", "B"] }, { A: "1", B: "" }).env, {});
  assert.deepEqual(read({ graphs }).env, {});
});

const REMARKS: readonly (readonly [key: string, remark: RegExp | null])[] = [
  ["node_version", null],
  ["dependencies", null],
  ["$schema", null],
  ["ui", null],
  ["ui_config", null],
  ["dockerfile_lines", /Dockerfile/],
  ["base_image", /FROM of your Dockerfile/],
  ["image_distro", /FROM of your Dockerfile/],
  ["_INTERNAL_docker_tag", /Dockerfile/],
  ["docker_compose_file", /compose\.yaml/],
  ["api_version", /"holdpoint" in package\.json/],
  ["priority", /each caller has its turn/],
  ["node_loader", /compiles TypeScript/],
  ["python_version", /Python/],
  ["pip_config_file", /Python/],
  ["pip_installer", /Python/],
  ["keep_pkg_tools", /Python/],
  ["source", /Python/],
  ["store", null],
  ["auth", null],
  ["checkpointer", null],
  ["grahps", /not a known key/],
];

for (const [key, remark] of REMARKS) {
  test(`the key ${key} ${remark === null ? "needs no warning" : "causes a warning"} (langgraph-json.1)`, () => {
    const { remarks, graphs: list } = read({ graphs, [key]: {} });
    assert.equal(list.length, 1);
    assert.equal(remarks.length, remark === null ? 0 : 1);
    if (remark !== null) assert.match(remarks[0] ?? "", new RegExp(`"${key}".*${remark.source}`));
  });
}

const REFUSED: readonly { readonly name: string; readonly content: unknown; readonly says: RegExp }[] = [
  { name: "text that is not JSON", content: "{", says: /is not valid JSON/ },
  { name: "a list", content: [], says: /the file: / },
  {
    name: "encryption",
    content: { graphs, encryption: { path: "./e.ts:e" } },
    says: /encryption: .*HOLDPOINT_ENCRYPTION_KEYS/,
  },
  { name: "ui that is a text", content: { graphs, ui: "./ui.tsx" }, says: /ui: / },
  { name: "no graphs", content: {}, says: /graphs: is missing: write \{"graphs": / },
  {
    name: "a mistyped key in place of graphs",
    content: { graph: { a: "./a.ts:graph" }, store: {} },
    says: /graphs: is missing.*; "graph" is not a known key and has no effect: did you mean "graphs"\?$/,
  },
  { name: "a list of graphs", content: { graphs: ["./a.ts:graph"] }, says: /graphs: is not an object: write/ },
  { name: "a graph that is a number", content: { graphs: { a: 1 } }, says: /graphs\.a: is not of the form "\.\/agent/ },
  { name: "a graph without a path", content: { graphs: { a: { description: "x" } } }, says: /graphs\.a: / },
  { name: "a Python graph", content: { graphs: { a: "./a.py:graph" } }, says: /graphs\.a: .*Python/ },
  {
    name: "a graph file that is not a module",
    content: { graphs: { a: "./a.json:graph" } },
    says: /graphs\.a: .*\.\/file\.ts:export/,
  },
  { name: "an empty export", content: { graphs: { a: "./a.ts:" } }, says: /graphs\.a: / },
  { name: "an env file that does not exist", content: { graphs, env: "none.env" }, says: /env: the file none\.env/ },
  { name: "handlers in Python", content: { graphs, auth: { path: "./auth.py:auth" } }, says: /auth\.path: / },
  { name: "an auth that is a text", content: { graphs, auth: "./auth.ts:auth" }, says: /auth: / },
  ...(
    [
      [{ app: "./app.py:app" }, /http\.app: .*\.\/file\.ts:export/],
      [{ mount_prefix: "api" }, /http\.mount_prefix: /],
      [{ mount_prefix: "/a/../b" }, /http\.mount_prefix: /],
      [{ mount_prefix: "/a b" }, /http\.mount_prefix: /],
      [{ disable_webhooks: true }, /http\.disable_webhooks: .*webhooks\.url\.allowed_domains/],
      [{ disable_runs: "yes" }, /http\.disable_runs: /],
      [{ cors: { allow_origins: "*" } }, /http\.cors\.allow_origins: /],
      [{ cors: { allow_origin_regex: "(" } }, /http\.cors\.allow_origin_regex: /],
      [{ cors: { max_age: -1 } }, /http\.cors\.max_age: /],
      [{ configurable_headers: { includes: ["a b"] } }, /http\.configurable_headers\.includes/],
    ] as const
  ).map(([http, says]) => ({ name: `http with ${JSON.stringify(http)}`, content: { graphs, http }, says })),
  { name: "unset variables", content: { graphs, env: ["A_1", "B_2"] }, says: /env: A_1, B_2 must be set/ },
];

for (const { name, content, says } of REFUSED) {
  test(`${name} stops the server and names the place (langgraph-json.1)`, () => {
    assert.throws(
      () => read(content),
      (error) => error instanceof ConfigFileError && error.message.startsWith(`${file}: `) && says.test(error.message),
    );
  });
}

test("auth names the handlers; other keys cause warnings (langgraph-json.1)", () => {
  const auth = {
    path: "./auth.ts:auth",
    disable_studio_auth: true,
    openapi: { securitySchemes: {} },
    cache: {},
    cach: 1,
  };
  const { auth: path, authorizationServers, remarks } = read({ graphs, auth });
  assert.deepEqual(path, { file: join(folder, "auth.ts"), exportName: "auth" });
  assert.deepEqual(
    remarks.map((remark) => remark.replace(/: .*/, "")),
    ['"auth.cache" has no effect', '"auth.cach" is not a known key and has no effect'],
  );
  assert.deepEqual(authorizationServers, []);
  const openIdConnectUrl = "https://id.example/realm/.well-known/openid-configuration";
  const openapi = { securitySchemes: { own: { type: "openIdConnect", openIdConnectUrl }, key: { type: "apiKey" } } };
  assert.deepEqual(read({ graphs, auth: { openapi } }).authorizationServers, ["https://id.example/realm"]);
  assert.equal(read({ graphs, auth: { disable_studio_auth: true } }).auth, null);
});

test("a file without a graph is for requests, and says so", () => {
  const { graphs: none, remarks } = read({ graphs: {} });
  assert.deepEqual(none, []);
  assert.match(remarks.join(), /names no graph, so the server takes requests only/);
});

test("an empty http section serves all routes unchanged (langgraph-json.1)", () => {
  const open = {
    app: null,
    customRouteAuth: true,
    authBeforeMiddleware: false,
    mountPrefix: "",
    disabled: [],
    cors: null,
    configurableHeaders: null,
  };
  assert.deepEqual(read({ graphs }).http, open);
  assert.deepEqual(read({ graphs, http: {} }).http, open);
});

test("http sets routes, prefix and origins; other keys cause warnings (langgraph-json.1)", () => {
  const { http, remarks } = read({
    graphs,
    http: {
      app: "./app.ts",
      enable_custom_route_auth: false,
      mount_prefix: "/api/",
      disable_store: true,
      disable_runs: false,
      disable_mcp: true,
      disable_a2a: true,
      disable_webhooks: false,
      cors: {
        allow_origins: ["https://a.example/", "*"],
        allow_origin_regex: "https://.*",
        allow_credentials: true,
        x: 1,
      },
      configurable_headers: { includes: ["X-User-*"], exclude: ["X-User-Note"] },
      logging_headers: { includes: ["a"] },
      nonsense: 1,
    },
  });
  assert.deepEqual(http, {
    app: { file: join(folder, "app.ts"), exportName: "default" },
    customRouteAuth: false,
    authBeforeMiddleware: false,
    mountPrefix: "/api",
    disabled: ["store", "mcp", "a2a"],
    cors: {
      origins: ["https://a.example", "*"],
      pattern: compilePattern("^(?:https://.*)$"),
      methods: null,
      headers: null,
      credentials: true,
      exposed: [],
      maxAgeSecs: null,
    },
    configurableHeaders: { includes: ["x-user-*"], excludes: ["x-user-note"] },
  });
  assert.deepEqual(
    remarks.map((remark) => /"([^"]+)"/.exec(remark)?.[1]),
    ["http.logging_headers", "http.nonsense", "http.cors.x", "http.cors.allow_credentials"],
  );
});

test("a missing file stops the server, with its name (langgraph-json.1)", () => {
  assert.throws(() => readGraphsConfig(join(folder, "none.json"), {}), /none\.json: cannot be read/);
});
