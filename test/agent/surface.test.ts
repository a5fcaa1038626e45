// Tests of the `http` section of langgraph.json.
// Rules:
//   surface.1. A custom app's routes win over the server's; other paths stay the server's. Bodies pass unchanged in
//        both directions, within the server's limits. (Middleware, clients and webhooks inside: custom-app.slow.test.ts.)
//   surface.2. No failure of the app stops the server.
//   surface.3. Custom routes are for authenticated callers, unless configured otherwise.
//   surface.4. Disabled routes are absent, also from the OpenAPI document.
//   surface.5. A prefix changes nothing else, Location and Content-Location included.
//   surface.6. Other origins read as the rules allow.
//   surface.7. Graphs see the headers in the rules, from headers only; credentials never appear.
//   surface.8. An invalid section stops the start, with its place.
//   surface.9. A variable with our prefix that is no setting is a warning of the start; so is one of another server.
import { Client } from "@langchain/langgraph-sdk";
import { WebSocket } from "ws";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { raw } from "../harness/raw.ts";
import { NotStarted, startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, startServer } from "../harness/server.ts";
import { PATIENCE } from "../harness/patience.ts";

const FIXTURES = join(ROOT, "test", "graphs");
const folder = mkdtempSync(join(tmpdir(), "holdpoint-surface-"));
const started: ServerHere[] = [];
after(async () => {
  await Promise.all(started.map((server) => server.stop()));
  for (const path of [folder, ...started.map(({ dataDir }) => dataDir)]) removeFolder(path);
});

const GRAPHS = {
  agent: join(ROOT, "examples/agent/graph.ts:graph"),
  whoami: join(FIXTURES, "tenants/whoami.ts:whoami"),
};
let files = 0;
function configWith(sections: object): string {
  const file = join(folder, `langgraph-${++files}.json`);
  writeFileSync(file, JSON.stringify({ graphs: GRAPHS, ...sections }));
  return file;
}
async function serve(sections: object, env: Record<string, string> = {}): Promise<ServerHere> {
  const server = await startServerHere({ config: configWith(sections), env });
  started.push(server);
  return server;
}

const APP = join(FIXTURES, "surface/app.ts:app");
const BODY_MAX = 100_000;
/** A separate process: its app tries to end it (surface.2). */
const custom = await startServer({
  config: configWith({ http: { app: APP } }),
  env: { HOLDPOINT_MAX_BODY_BYTES: String(BODY_MAX) },
});
started.push(custom);
const HELLO = { hello: "you", auth: null };

// Custom routes (surface.1, surface.2).

test("routes of the app answer, with its middleware; routes of the server stay (surface.1)", async () => {
  const hello = await call(custom, "GET", "/custom/hello?name=ann");
  assert.deepEqual([hello.status, hello.body], [200, { hello: "ann", auth: null }]);
  assert.equal(hello.headers.get("x-mine"), "yes");
  const thread = await call(custom, "POST", "/threads", {});
  assert.equal(thread.status, 200);
  assert.equal(thread.headers.get("x-mine"), "yes", "middleware for every path runs around the server's routes too");
});

test("a route of the app wins over one of the server (surface.1)", async () => {
  assert.deepEqual((await call(custom, "GET", "/info")).body, { shadowed: true });
});

test("the address of the server leads to its first page, or belongs to the app (surface.1)", async () => {
  for (const [path, env, location] of [
    ["/", {}, "/console"],
    ["/agents", { MOUNT_PREFIX: "/agents" }, "/agents/console"],
    ["/", { HOLDPOINT_CONSOLE: "false" }, "/docs"],
  ] as const) {
    const { url } = await serve({}, env);
    const { status, headers } = await fetch(new URL(path, url), { redirect: "manual" });
    assert.deepEqual([status, headers.get("location")], [302, location]);
  }
  const plain = await serve({ http: { app: join(FIXTURES, "surface/plain.ts") } });
  assert.equal((await call(plain, "GET", "/")).text, "plain GET /");
});

test("an unknown path is 404, a method that the route does not take is 405 (surface.1)", async () => {
  const server = await serve({ http: { app: join(FIXTURES, "surface/plain.ts") } });
  assert.equal(
    (await call(server, "GET", "/nowhere")).text,
    "plain GET /nowhere",
    "an app of fetch alone takes the rest",
  );
  assert.equal((await call(server, "DELETE", "/info")).status, 405);
  assert.match((await call(server, "GET", "/ok")).text, /^{"ok":true,/);
  assert.equal((await call(server, "GET", "/boom")).status, 500);
  assert.equal((await raw(server, { path: "/a/%2e%2e/b" })).status, 404, "a path with two readings is not passed on");
  assert.equal((await raw(server, { path: "/a/../threads" })).status, 404);
});

test("bodies arrive whole, with their type, and replies keep status and every cookie (surface.1)", async () => {
  const sent = "ä".repeat(40_000);
  const echo = await call(custom, "POST", "/custom/echo", sent, { "content-type": "text/csv" });
  assert.deepEqual([echo.status, echo.body], [201, { units: 40_000, type: "text/csv" }]);
  const { status, headers } = await call(custom, "GET", "/custom/cookies");
  assert.deepEqual([status, headers.getSetCookie()], [202, ["a=1", "b=2"]]);
  assert.notEqual(headers.get("connection"), "close");
  const redirect = await fetch(`${custom.url}/custom/redirect`, { redirect: "manual" });
  assert.deepEqual([redirect.status, redirect.headers.get("location")], [302, "/custom/hello"]);
  assert.equal((await fetch(`${custom.url}/custom/hello`, { method: "HEAD" })).status, 200);
});

test(
  "bodies go both ways piece by piece: the reply begins before the request has ended (surface.1)",
  PATIENCE,
  async () => {
    const { hostname, port } = new URL(custom.url);
    const outgoing = request({ hostname, port, path: "/custom/pipe", method: "POST" });
    const answer = new Promise<string>((resolve, reject) => {
      outgoing.on("response", (incoming) => {
        incoming.setEncoding("utf8");
        let text = "";
        incoming.on("data", (piece: string) => {
          text += piece;
          if (text === "one") outgoing.end("two");
        });
        incoming.on("end", () => resolve(text));
      });
      outgoing.on("error", reject);
    });
    outgoing.write("one");
    assert.equal(await answer, "onetwo");
  },
);

for (const path of ["/custom/echo", "/custom/swallows", "/custom/pipe"]) {
  test(`a body over the limit is 413 on ${path}, with any handling by the app (surface.1)`, PATIENCE, async () => {
    const body = "x".repeat(BODY_MAX + 1);
    const declared = await raw(custom, { method: "POST", path, body });
    assert.equal(declared.status, 413);
    const pieces = Array.from({ length: 11 }, () => "x".repeat(BODY_MAX / 10));
    const chunked = raw(custom, { method: "POST", path, body: pieces });
    if (path === "/custom/pipe") await assert.rejects(chunked, "its reply has begun: it is cut off");
    else assert.equal((await chunked).status, 413);
  });
}

test("an app that does not read the body still answers, and the connection stays open (surface.1)", async () => {
  for (let at = 0; at < 3; at++) {
    const answer = await call(custom, "POST", "/custom/ignores", "x".repeat(50_000));
    assert.deepEqual([answer.status, answer.text], [200, "not read"]);
  }
});

test(
  "a caller that hangs up aborts the request's signal and cancels the reply's source (surface.1)",
  PATIENCE,
  async () => {
    const controller = new AbortController();
    const response = await fetch(`${custom.url}/custom/endless`, { signal: controller.signal });
    await response.body?.getReader().read();
    controller.abort();
    assert.deepEqual((await call(custom, "GET", "/custom/seen")).body, { aborted: 1, cancelled: 1 });
  },
);

const FAILURES: readonly (readonly [path: string, says: RegExp])[] = [
  ["/custom/throws", /Internal Server Error/],
  ["/custom/nothing", /Internal Server Error|internal_error/],
];

for (const [path, says] of FAILURES) {
  test(`${path}: 500, and the server continues (surface.2)`, async () => {
    const answer = await call(custom, "GET", path);
    assert.equal(answer.status, 500);
    assert.match(answer.text, says);
    assert.ok(!answer.text.includes("secret of the app"));
    assert.deepEqual((await call(custom, "GET", "/custom/hello")).body, HELLO);
  });
}

test("an aborted reply looks aborted; an unhandled promise does no harm (surface.2)", async () => {
  const broken = await fetch(`${custom.url}/custom/breaks`);
  await assert.rejects(broken.text());
  assert.equal((await call(custom, "GET", "/custom/rejects")).text, "ok");
  assert.deepEqual((await call(custom, "GET", "/custom/hello")).body, HELLO);
});

// Authentication of custom routes (surface.3).

const KEYS = { HOLDPOINT_API_KEYS: "ann:the-key-of-ann-5511" };
const KEY = { "x-api-key": "the-key-of-ann-5511" };

test("custom routes are for authenticated callers, and the app gets the identity (surface.3)", async () => {
  const server = await serve({ http: { app: APP } }, { ...KEYS, HOST: "0.0.0.0" }); // with keys it may listen anywhere
  for (const path of ["/custom/hello", "/info"]) {
    assert.equal((await call(server, "GET", path)).status, 401, path);
  }
  assert.equal((await call(server, "GET", "/custom/nowhere")).status, 404, "as any path that nothing serves");
  const { body } = await call(server, "GET", "/custom/hello", undefined, KEY);
  const { auth } = body as { readonly auth: { readonly user: { readonly identity: string } } };
  assert.equal(auth.user.identity, "ann");
});

test("enable_custom_route_auth: false opens them, and nothing else (surface.3)", async () => {
  const auth = { path: join(FIXTURES, "tenants/auth.ts:auth") };
  const server = await serve({ auth, http: { app: APP, enable_custom_route_auth: false } }, { HOST: "0.0.0.0" });
  assert.deepEqual((await call(server, "GET", "/custom/hello")).body, HELLO);
  assert.equal((await call(server, "POST", "/threads", {})).status, 401);
});

// Disabled groups (surface.4).

const GROUPS: readonly (readonly [names: readonly string[], gone: readonly string[], stays: readonly string[]])[] = [
  [
    ["assistants", "store", "inbox"],
    ["POST /assistants", "GET /assistants/agent", "PUT /store/items", "GET /inbox", "POST /inbox/answers"],
    ["POST /threads", "POST /runs", "GET /info", "GET /docs"],
  ],
  [["threads"], ["POST /threads", "POST /threads/search"], ["POST /runs", "POST /assistants/search"]],
  [
    ["runs", "meta"],
    [
      "POST /runs",
      "POST /runs/stream",
      "POST /runs/batch",
      "GET /info",
      "GET /metrics",
      "GET /openapi.json",
      "GET /docs",
    ],
    ["GET /ok", "GET /ready", "POST /threads", "POST /assistants/search"],
  ],
  [
    ["mcp", "a2a"],
    ["POST /mcp", "POST /a2a/agent", "GET /.well-known/agent-card.json?assistant_id=agent"],
    ["POST /threads", "POST /assistants/search"],
  ],
];

for (const [names, gone, stays] of GROUPS) {
  test(`without ${names.join(", ")} their routes are not there, and the others are (surface.4)`, async () => {
    const server = await serve({ http: Object.fromEntries(names.map((name) => [`disable_${name}`, true])) });
    const ask = (route: string) => {
      const [method = "", path = ""] = route.split(" ");
      return call(
        server,
        method,
        path,
        method === "GET" ? undefined : { assistant_id: "agent", input: { some_text: "x" } },
      );
    };
    for (const route of gone) assert.equal((await ask(route)).status, 404, route);
    for (const route of stays) assert.equal((await ask(route)).status, 200, route);
    if (names.includes("meta")) return;
    const { paths }: { paths: Record<string, Record<string, object>> } = (await ask("GET /openapi.json")).body;
    for (const route of gone) {
      const [method = "", path = ""] = route.split(" ");
      assert.equal(paths[path]?.[method.toLowerCase()], undefined, route);
    }
    const { flags }: { flags: Record<string, boolean> } = (await ask("GET /info")).body;
    for (const part of ["assistants", "threads", "runs", "crons", "store", "inbox"])
      assert.equal(flags[part], !names.includes(part), `${part} in /info`);
  });
}

test("without threads no WebSocket opens: its commands would start runs on them (surface.4)", async () => {
  const opened = async (sections: object): Promise<string> => {
    const { url } = await serve(sections);
    const socket = new WebSocket(`${url.replace("http", "ws")}/threads/${randomUUID()}/stream/events`);
    const first = await Promise.race([
      once(socket, "open").then(() => "opened"),
      once(socket, "unexpected-response").then(([, answer]) => String((answer as IncomingMessage).statusCode)),
    ]);
    socket.on("error", () => undefined); // of a socket that ends before it opens
    socket.terminate();
    return first;
  };
  assert.equal(await opened({}), "opened");
  assert.equal(await opened({ http: { disable_threads: true } }), "404");
});

// Prefix (surface.5).

test("a prefix serves all routes, and the official client works below it (surface.5)", PATIENCE, async () => {
  // The variable wins over the file.
  const server = await serve({ http: { mount_prefix: "/other", app: APP } }, { MOUNT_PREFIX: "/api/v1/" });
  assert.equal((await call(server, "GET", "/ok")).status, 404);
  assert.equal((await call(server, "GET", "/api/v1/ok")).status, 200);
  assert.deepEqual((await call(server, "GET", "/api/v1/custom/hello")).body, HELLO);
  assert.equal((await call(server, "GET", "/custom/hello")).status, 404);
  const { servers }: { servers: unknown } = (await call(server, "GET", "/api/v1/openapi.json")).body;
  assert.deepEqual(servers, [{ url: "/api/v1" }]);

  const client = new Client({ apiUrl: `${server.url}/api/v1` });
  const { thread_id: thread } = await client.threads.create();
  const path = `/api/v1/threads/${thread}/runs/wait`;
  const { headers } = await call(server, "POST", path, { assistant_id: "agent", input: { some_text: "x" } });
  for (const name of ["location", "content-location"]) {
    assert.match(headers.get(name) ?? "", new RegExp(`^/api/v1/threads/${thread}/runs/`), name);
  }
  const joined = await call(server, "GET", headers.get("location") ?? "");
  assert.equal(joined.status, 200);
  let runId: string | undefined;
  const stream = client.runs.stream(thread, "agent", {
    command: { resume: "y" },
    onRunCreated: ({ run_id: id }) => (runId = id),
  });
  for await (const _ of stream);
  assert.notEqual(runId, undefined, "Content-Location is read below the prefix too");
});

// Origins (surface.6).

test("origins that the rules name may read replies and preflights; custom routes too (surface.6)", async () => {
  const cors = {
    allow_origins: ["https://app.example.com"],
    allow_credentials: true,
    expose_headers: ["x-mine"],
    max_age: 7,
  };
  const server = await serve({ http: { cors, app: APP } });
  const origin = "https://app.example.com";
  for (const path of ["/ok", "/custom/hello"]) {
    const { headers } = await call(server, "GET", path, undefined, { origin });
    assert.equal(headers.get("access-control-allow-origin"), origin);
    assert.equal(headers.get("access-control-allow-credentials"), "true");
    assert.match(headers.get("access-control-expose-headers") ?? "", /X-Pagination-Next.*x-mine/);
    const foreign = await call(server, "GET", path, undefined, { origin: "http://localhost:3000" });
    assert.equal(foreign.headers.get("access-control-allow-origin"), null, "the default is replaced");
    const method = { "access-control-request-method": "GET", origin };
    const preflight = await raw(server, { method: "OPTIONS", path, headers: method });
    assert.deepEqual([preflight.status, preflight.headers["access-control-max-age"]], [204, "7"]);
  }
  const own = await call(server, "GET", "/custom/cors", undefined, { origin });
  assert.equal(own.headers.get("access-control-allow-origin"), "https://own.example", "the app may decide for itself");
});

test("a browser's request from another site changes nothing (surface.6)", async () => {
  const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  for (const path of ["/threads", "/runs/cancel?action=interrupt"]) {
    const { status, text } = await raw(custom, { method: "POST", path, headers });
    assert.equal(status, 403, text);
    assert.match(text, /forbidden_origin/);
  }
});

// Headers that graphs see (surface.7).

const SECRET = "secret-of-a-header-9a1f";
const SECRETS = {
  authorization: `Bearer ${SECRET}`,
  cookie: `s=${SECRET}`,
  "x-api-key": SECRET,
  "x-user-token": SECRET,
};

test("a graph sees the headers that the rules include, and no others (surface.7)", PATIENCE, async () => {
  const rules = { includes: ["x-*", "cookie", "authorization"], excludes: ["x-user-note"] };
  const server = await serve({ http: { configurable_headers: rules } });
  const headers = { ...SECRETS, "x-user-id": "7", "x-user-note": "n" };
  const body = {
    assistant_id: "whoami",
    input: {},
    config: { configurable: { "x-user-id": "8", "X-User-Role": "root", mine: 1 } },
  };
  const { thread_id: thread }: { thread_id: string } = (await call(server, "POST", "/threads", {}, headers)).body;
  const path = `/threads/${thread}`;
  const { text, body: result } = await call(server, "POST", `${path}/runs/wait`, body, headers);
  const { before } = result as { readonly before: { readonly configurable: Record<string, unknown> } };
  const { configurable } = before;
  assert.equal(configurable["x-user-id"], "7", "the header counts, not the body");
  assert.equal(configurable["X-User-Role"], undefined);
  assert.equal(configurable["x-user-note"], undefined);
  assert.equal(configurable["mine"], 1);
  const modes = ["values", "updates", "debug", "checkpoints", "events", "tasks", "messages-tuple", "custom"];
  const resume = { ...body, input: null, command: { resume: 1 }, stream_mode: modes };
  const streamed = await call(server, "POST", `${path}/runs/stream`, resume, headers);
  const kept = [text, streamed.text, server.output()];
  for (const at of ["state", "history", "runs", "audit"]) kept.push((await call(server, "GET", `${path}/${at}`)).text);
  kept.push((await call(server, "POST", "/threads/search", {})).text, (await call(server, "GET", "/metrics")).text);
  for (const one of kept) assert.ok(!one.includes(SECRET), one.slice(0, 2000));
});

test("the body cannot supply an included header that is absent (surface.7)", PATIENCE, async () => {
  const server = await serve({ http: { configurable_headers: { includes: ["x-user-id"] } } });
  const assistant = await call(server, "POST", "/assistants", {
    graph_id: "whoami",
    config: { configurable: { "x-user-id": "9" } },
  });
  const { assistant_id: id }: { assistant_id: string } = assistant.body;
  const body = { assistant_id: id, input: {}, config: { configurable: { "x-user-id": "8" } } };
  const { text } = await call(server, "POST", "/runs/wait", body);
  assert.doesNotMatch(text, /x-user-id/);
});

test("without rules a graph sees no header (surface.7)", PATIENCE, async () => {
  const { text } = await call(
    custom,
    "POST",
    "/runs/wait",
    { assistant_id: "whoami", input: {} },
    { "x-user-id": "7", ...SECRETS },
  );
  assert.doesNotMatch(text, /x-user-id/);
  assert.ok(!text.includes(SECRET));
});

// Mistakes (surface.8).

const WRONG: readonly (readonly [name: string, sections: object, says: RegExp])[] = [
  [
    "an app that is not there",
    { http: { app: "./none.ts:app" } },
    /http\.app \(.*none\.ts, export app\) does not load/,
  ],
  ["an export without fetch", { http: { app: join(FIXTURES, "note.ts:note") } }, /http\.app .*no fetch/],
  [
    "handlers that are not there",
    { auth: { path: "./none.ts:auth" } },
    /auth \(.*none\.ts, export auth\) does not load/,
  ],
  ["handlers that are none", { auth: { path: APP } }, /auth .*not an Auth/],
];

for (const [name, sections, says] of WRONG) {
  test(`${name} stops the start, with its place (surface.8)`, PATIENCE, async () => {
    const { code, stderr } = await start(sections);
    assert.equal(code, 1, stderr);
    assert.match(stderr, says);
  });
}

test("keys and handlers together are rejected as ambiguous (surface.8)", PATIENCE, async () => {
  const auth = { path: join(FIXTURES, "tenants/auth.ts:auth") };
  const { code, stderr } = await start({ auth }, { HOLDPOINT_API_KEYS: "ann:the-key-of-ann-5511" });
  assert.equal(code, 78);
  assert.match(stderr, /HOLDPOINT_API_KEYS: .*auth\.path/);
});

for (const [name, reason] of [
  ["LANGGRAPH_AES_JSON_KEYS", "metadata plain"],
  ["LANGGRAPH_ENCRYPTION", "no encryption of a deployment's own"],
] as const) {
  test(`${name} would be a promise that nothing keeps: the server does not start (surface.8)`, PATIENCE, async () => {
    const { code, stderr } = await start({}, { [name]: "0123456789abcdef" });
    assert.equal(code, 78);
    assert.match(stderr, new RegExp(`^${name}: .*${reason}`, "m"));
  });
}

test("beyond loopback without keys and handlers, the server does not start (surface.8)", PATIENCE, async () => {
  const { code, stderr } = await start({}, { HOST: "0.0.0.0" });
  assert.equal(code, 78);
  assert.match(stderr, /HOST: .*HOLDPOINT_API_KEYS.*auth\.path.*HOLDPOINT_ALLOW_UNAUTHENTICATED/);
});

/** Starts a server that must fail to start. */
async function start(
  sections: object,
  env: Record<string, string> = {},
): Promise<{ readonly code: number; readonly stderr: string }> {
  const dataDir = join(folder, "data");
  try {
    await serve(sections, { HOLDPOINT_DATA_DIR: dataDir, ...env });
  } catch (error) {
    if (error instanceof NotStarted) return { code: error.code, stderr: error.message };
    throw error;
  }
  throw new Error("the server started");
}

test("a misspelled or former setting is named at the start, and no other variable is (surface.9)", async () => {
  const env = { HOLDPOINT_KEEP_RUN: "1d", HOLDPOINT_MAX_CRONS: "5", HOLDPOINT_KEEP_AUDIT: "1d", UNRELATED: "x" };
  const server = await serve({}, { ...env, A2A_A2UI_ENABLED: "true" });
  const warned = server.logs.filter(({ event }) => event === "setting_unknown").map(({ name }) => name);
  assert.deepEqual(warned, ["HOLDPOINT_KEEP_RUN", "HOLDPOINT_MAX_CRONS", "A2A_A2UI_ENABLED"]);
});
