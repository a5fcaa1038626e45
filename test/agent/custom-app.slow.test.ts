// Tests of a custom app that lives inside the server. Checked:
//   agent/custom-app.1. Middleware runs around the server's routes; the routes still get a body that it has read;
//        unknown paths are the server's.
//   agent/custom-app.2. `new Client()` inside reaches the server without a port, under the same rules for callers.
//   agent/custom-app.3. A run's webhook may name a route of the app, and nothing else of the server.
//   agent/custom-app.4. `getLogger()` writes into the server's log, with node and run.
//   agent/custom-app.5. `middleware_order` decides whether callers authenticate before middleware sees them.
//   agent/custom-app.6. A page of another site reaches neither a route nor middleware of the app, unless `http.cors`
//        allows its origin.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { PATIENCE } from "../harness/patience.ts";
import { startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";
import { followLog } from "../harness/threads.ts";

const INSIDE = join(ROOT, "test/graphs/surface/inside.ts");
const KEY = { "x-api-key": "the-key-of-ann-5511" };
const folder = temporaryFolder();
const started: ServerHere[] = [];
after(async () => {
  for (const server of started) await server.stop();
  for (const path of [folder, ...started.map(({ dataDir }) => dataDir)]) removeFolder(path);
});

async function serve(http: object, env: Record<string, string> = {}, more: object = {}): Promise<ServerHere> {
  const config = join(folder, `langgraph-${started.length}.json`);
  const graphs = { logs: `${INSIDE}:logs` };
  writeFileSync(config, JSON.stringify({ graphs, http: { app: `${INSIDE}:app`, ...http }, ...more }));
  const server = await startServerHere({ config, env });
  started.push(server);
  return server;
}

const keys = { HOLDPOINT_API_KEYS: "ann:the-key-of-ann-5511", MOUNT_PREFIX: "/agents" };
const guarded = await serve({}, keys);
const first = await serve({ middleware_order: "auth_first" }, keys);

test("callers without a key: middleware sees them, unless auth_first (agent/custom-app.5)", async () => {
  for (const [path, server, status] of [
    ["/agents/threads/search?stop", guarded, 200],
    ["/agents/threads/search?stop", first, 401],
    ["/agents/custom/received?stop", guarded, 200],
    ["/agents/custom/received?stop", first, 401],
  ] as const)
    assert.equal((await call(server, "POST", path, {})).status, status, path);
  for (const server of [guarded, first]) {
    assert.equal((await call(server, "POST", "/agents/threads/search", {})).status, 401, "the route stays guarded");
    assert.equal((await call(server, "GET", "/agents/custom/received")).status, 401, "routes of the app too");
    assert.equal((await call(server, "GET", "/agents/custom/received", undefined, KEY)).status, 200);
    assert.equal((await call(server, "POST", "/agents/threads/search", {}, KEY)).status, 200);
  }
});

test("a client inside is a caller like any other, below the prefix too (agent/custom-app.2)", PATIENCE, async () => {
  const refused = await call(guarded, "GET", "/agents/custom/stream", undefined, KEY);
  assert.match(refused.text, /401/, "its client has no key");
  const { body } = await call(first, "GET", "/agents/custom/runs", undefined, KEY);
  assert.deepEqual(body, { result: { text: "said" } });
});

const server = await serve({}, {}); // the last one: `globalThis` is its own

test("middleware runs around routes of the server (agent/custom-app.1)", async () => {
  const made = await call(server, "POST", "/threads", {});
  assert.equal(made.status, 200);
  assert.equal(made.headers.get("x-seen"), "POST 200");
  assert.equal((await call(server, "GET", "/ok")).headers.get("x-threads"), null);
  const { thread_id: id } = made.body as { readonly thread_id: string };
  const state = await call(server, "GET", `/threads/${id}/state`);
  assert.deepEqual([state.headers.get("x-seen"), state.headers.get("x-threads")], ["GET 200", "yes"]);
  assert.deepEqual((await call(server, "GET", "/ok?stop")).body, { stopped: "/ok" });
  const refused = await call(server, "POST", "/threads", { thread_id: "no id" });
  assert.deepEqual([refused.status, refused.headers.get("x-seen")], [422, "POST 422"]);
  assert.match(refused.headers.get("content-type") ?? "", /problem\+json/);
});

test("a body that middleware has read reaches the route (agent/custom-app.1)", async () => {
  const headers = { "x-read": "yes", "content-type": "application/json" };
  const made = await call(server, "POST", "/threads", { metadata: { from: "body" } }, headers);
  assert.deepEqual((made.body as { readonly metadata: object }).metadata, { from: "body" });
  assert.equal((await call(server, "POST", "/threads", "{", headers)).status, 400);
});

test("a body that middleware has changed reaches the route with the change (agent/custom-app.1)", async () => {
  const headers = { "x-label": "new", "content-type": "application/json" };
  const made = await call(server, "POST", "/threads", { metadata: { from: "body" } }, headers);
  assert.deepEqual((made.body as { readonly metadata: object }).metadata, { from: "body", label: "new" });
});

test("an unknown path gets the server's 404, an error of the app its own handler (agent/custom-app.1)", async () => {
  const { status, body } = await call(server, "GET", "/custom/nowhere");
  assert.deepEqual([status, (body as { readonly code: string }).code], [404, "not_found"]);
  assert.equal((await call(server, "PUT", "/threads/search")).status, 405);
  assert.deepEqual((await call(server, "GET", "/custom/fails")).body, { failed: "of the app" });
});

test("a client inside waits and streams without a port (agent/custom-app.2)", PATIENCE, async () => {
  assert.deepEqual((await call(server, "GET", "/custom/runs")).body, { result: { text: "said" } });
  const { body } = await call(server, "GET", "/custom/stream?fresh");
  assert.deepEqual(body, { modes: ["metadata", "updates"] });
});

test("a webhook may name a route of the app (agent/custom-app.3)", PATIENCE, async () => {
  const run = { assistant_id: "logs", input: {} };
  const waited = await call(server, "POST", "/runs/wait", { ...run, webhook: "/custom/webhook?of=run" });
  assert.equal(waited.status, 200, waited.text);
  const [event] = await followLog(server, "the route has the event", async () => {
    const { body } = await call(server, "GET", "/custom/received");
    const events = body as readonly { readonly status: string; readonly values: object }[];
    return events.length > 0 ? events : undefined;
  });
  assert.deepEqual([event?.status, event?.values], ["success", { text: "said" }]);
  for (const webhook of ["/threads", "/custom/received", "/custom/nowhere", "//example.com/x", "/custom/../threads"]) {
    const refused = await call(server, "POST", "/runs/wait", { ...run, webhook });
    assert.equal((refused.body as { readonly code: string }).code, "webhook_refused", webhook);
  }
  const closed = await serve({}, {}, { webhooks: { url: { disable_loopback: true } } });
  const refused = await call(closed, "POST", "/runs/wait", { ...run, webhook: "/custom/webhook" });
  assert.equal((refused.body as { readonly code: string }).code, "webhook_refused");
});

const PAGE = "https://app.example";
const FOREIGN: readonly Record<string, string>[] = [
  { origin: PAGE, "sec-fetch-site": "cross-site" },
  { origin: PAGE },
  { "sec-fetch-site": "same-site" },
];

test("a foreign page changes nothing through the app (agent/custom-app.6)", async () => {
  const received = async (at: ServerHere): Promise<unknown> => (await call(at, "GET", "/custom/received")).body;
  const plain = await serve({ app: `${INSIDE}:plain` });
  const before = await received(server);
  for (const [at, path] of [
    [server, "/custom/webhook"],
    [server, "/custom/webhook?stop"],
    [server, "/ok?stop"],
    [plain, "/plain"],
  ] as const)
    for (const headers of FOREIGN) {
      const refused = await call(at, "POST", path, {}, headers);
      assert.deepEqual(
        [refused.status, (refused.body as { readonly code: string }).code],
        [403, "forbidden_origin"],
        path,
      );
      assert.equal(refused.headers.get("x-seen"), null, "middleware has not run");
    }
  assert.deepEqual(await received(server), before);
  assert.equal(
    (await call(server, "GET", "/custom/received", undefined, FOREIGN[0])).status,
    200,
    "a read is no change",
  );
  assert.equal((await call(plain, "POST", "/plain", {})).status, 200, "a program has no origin");
  const allowing = await serve({ app: `${INSIDE}:plain`, cors: { allow_origins: [PAGE] } });
  const allowed = await call(allowing, "POST", "/plain", {}, FOREIGN[0]);
  assert.deepEqual([allowed.status, allowed.headers.get("access-control-allow-origin")], [200, PAGE]);
});

test("the SDK's logger writes into the server's log (agent/custom-app.4)", PATIENCE, async () => {
  const { thread_id: id } = (await call(server, "POST", "/threads", {})).body as { readonly thread_id: string };
  await call(server, "POST", `/threads/${id}/runs/wait`, { assistant_id: "logs", input: {} });
  const entries = started.flatMap(({ logs }) => logs).filter((entry) => entry["thread_id"] === id);
  const said = entries.filter(({ event }) => event === "graph_log");
  assert.deepEqual(
    said.map(({ level, langgraph_node: node }) => [level, node]),
    [
      ["warning", "speak"],
      ["info", "speak"],
      ["error", "speak"],
    ],
  );
  assert.deepEqual([said[0]?.["message"], said[0]?.["amount"], said[1]?.["message"]], ["in a node", 7, "as an object"]);
  assert.match(String(said[2]?.["message"]), /Error: of a node\n/);
  assert.match(String(said[0]?.["run_id"]), /^[0-9a-f-]{36}$/);
});
