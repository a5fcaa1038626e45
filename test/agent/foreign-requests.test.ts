// Tests of requests that web pages and strange clients send to the three ports. Checked:
//   foreign-requests.1. A request under a foreign host name reads and writes nothing: agent server, collector, trace
//        store.
//   foreign-requests.2. A page of another site changes nothing, with a body or without one; pages of allowed origins
//        can.
//   foreign-requests.3. A request has one Host header that holds a host, and handlers see the path that selected the
//        route.
//   foreign-requests.4. Every reply forbids browsers to guess its type.
//   foreign-requests.5. HEAD on a stream returns at once, holds nothing open and cancels nothing.
//   foreign-requests.6. Code of the deployment sees no secret of the server in its environment.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemClock } from "@holdpoint/base/clock.ts";
import { createLog } from "@holdpoint/base/log/log.ts";
import { createTraceServer } from "@holdpoint/collector/traces/server.ts";
import { startBackend } from "../fakes/backend.ts";
import { startCollector } from "../fakes/collector.ts";
import { jsonRequest, buildSpan } from "../fakes/otlp.ts";
import { PATIENCE } from "../harness/patience.ts";
import { raw, rawHead, type RawRequest } from "../harness/raw.ts";
import { startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT, startServer, temporaryFolder } from "../harness/server.ts";
import { newNotes, newThread } from "../harness/threads.ts";

const APP = "https://app.example.com";
const EVIL = "https://evil.example";
const folder = temporaryFolder();
const silent = createLog({ level: "error", json: true, secrets: [], now: Date.now, write: () => undefined });
const limits = { traceBytesMax: 10_000_000, traceAgeMax: 3_600_000, search: null };
const store = createTraceServer(
  { tracePort: 0, dataDir: folder, allowedHosts: ["host.docker.internal"], ...limits },
  { clock: systemClock, log: silent, ring: null, version: "0" },
);
await store.start();
const traces = { url: `http://127.0.0.1:${store.address().port}` };
const backend = await startBackend();
const collector = await startCollector(backend.url, {
  CORS_ALLOW_ORIGINS: APP,
  TRACING_API_KEY: "key-1",
  ALLOWED_HOSTS: "host.docker.internal",
});
const agent = await startServerHere({ env: { ALLOWED_HOSTS: "host.docker.internal" } });
const guarded = await startServerHere({
  config: join(ROOT, "test", "graphs", "strangers", "langgraph.json"),
  env: { HOST: "0.0.0.0" },
});
after(async () => {
  for (const one of [collector, store, agent, guarded]) await one.stop();
  await backend.close();
  for (const path of [folder, agent.dataDir, guarded.dataDir]) removeFolder(path);
});

const RUN_ID = "0f0e0d0c-0000-4000-8000-000000000001";
const RUN = JSON.stringify({
  id: RUN_ID,
  trace_id: RUN_ID,
  dotted_order: `20260101T000000000000Z${RUN_ID}`,
  name: "planted",
  run_type: "chain",
  start_time: "2026-01-01T00:00:00.000000Z",
});
const SPANS = jsonRequest([buildSpan(1, 0)]);
const MULTIPART = '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n{}\r\n--b--\r\n';
const form = { "content-type": "multipart/form-data; boundary=b" };

/** Requests that a page can make a browser send without a preflight, also under a domain of its own. */
const WRITES: readonly (readonly [server: { readonly url: string }, request: RawRequest])[] = [
  [traces, { path: "/runs", body: RUN, headers: { "content-type": "text/plain" } }],
  [traces, { path: "/runs/batch", body: `{"post":[${RUN}]}`, headers: { "content-type": "text/plain" } }],
  [traces, { path: "/runs/multipart", body: MULTIPART, headers: form }],
  [traces, { path: `/traces/${RUN_ID}`, method: "DELETE" }],
  [collector, { path: "/v1/traces", body: SPANS }],
  [agent, { path: "/threads", method: "POST" }],
  [agent, { path: "/threads", body: "{}" }],
];
const READS: readonly (readonly [server: { readonly url: string }, path: string])[] = [
  [traces, "/traces"],
  [traces, "/info"],
  [collector, "/metrics"],
  [collector, "/ready"],
  [agent, "/ok"],
  [agent, "/console/api/about"],
];
const READINGS = READS.map(([server, path]): (typeof WRITES)[number] => [server, { path }]);

const threads = async (): Promise<unknown> => (await call(agent, "POST", "/threads/count", {})).body;
const stored = async (): Promise<unknown> => (await call(traces, "GET", "/traces")).body;

test("under a foreign name nothing is read and nothing is written (foreign-requests.1)", PATIENCE, async () => {
  const before = [await threads(), await stored(), collector.collector.accounting.received];
  for (const [server, request] of [...WRITES, ...READINGS]) {
    const headers = { ...request.headers, host: "evil.example", "sec-fetch-site": "same-origin" };
    const { status, text } = await raw(server, { ...request, headers });
    assert.deepEqual([status, /ALLOWED_HOSTS/.test(text)], [403, true], `${request.path}: ${text}`);
  }
  assert.deepEqual([await threads(), await stored(), collector.collector.accounting.received], before);
  for (const [server, path] of READS) {
    const { status } = await raw(server, { path, headers: { host: "host.docker.internal:1" } });
    assert.equal(status, 200, `${path} under a name that is allowed`);
  }
});

const FROM_ELSEWHERE: readonly Record<string, string>[] = [
  { origin: EVIL, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
  { origin: EVIL }, // a browser does not send the other one over plain HTTP
  { origin: "null", "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
];

test("a page of another site changes nothing, with a body or without (foreign-requests.2)", PATIENCE, async () => {
  const before = [await threads(), await stored(), collector.collector.accounting.received];
  for (const [server, request] of WRITES)
    for (const page of FROM_ELSEWHERE) {
      const { status } = await raw(server, { ...request, headers: { ...request.headers, ...page } });
      assert.equal(status, 403, `${request.method ?? "POST"} ${request.path} with ${JSON.stringify(page)}`);
    }
  assert.deepEqual([await threads(), await stored(), collector.collector.accounting.received], before);
});

test("pages of allowed origins, and programs, can (foreign-requests.2)", PATIENCE, async () => {
  const page = { origin: APP, "sec-fetch-site": "cross-site" };
  const exporter = await raw(collector, { path: "/v1/traces", body: SPANS, headers: page });
  assert.deepEqual([exporter.status, exporter.headers["access-control-allow-origin"]], [200, APP]);
  const asked = { "access-control-request-method": "POST", "access-control-request-headers": "content-type" };
  const preflight = await raw(collector, { path: "/v1/traces", method: "OPTIONS", headers: { ...page, ...asked } });
  assert.deepEqual([preflight.status, preflight.headers["access-control-allow-origin"]], [204, APP]);
  const own = { origin: "http://localhost:3000", "sec-fetch-site": "same-site" };
  assert.equal((await raw(agent, { path: "/threads", body: "{}", headers: own })).status, 200);
  assert.equal((await raw(traces, { path: "/runs", body: RUN })).status, 202);
});

test("two Host headers, or an invalid one, are rejected at every port (foreign-requests.3)", PATIENCE, async () => {
  for (const [server, path] of READS)
    for (const hosts of [["localhost", "localhost"], ["localhost", "evil.example"], ["x/public?"], ["localhost#"]]) {
      const lines = hosts.map((host) => `Host: ${host}\r\n`).join("");
      const head = await rawHead(server, `GET ${path} HTTP/1.1\r\n${lines}\r\n`);
      assert.match(head, /^HTTP\/1\.1 400 /, `${path} with ${hosts.join()}`);
    }
});

test(
  "no header leads a request past its path: /public grants no access elsewhere (foreign-requests.3)",
  PATIENCE,
  async () => {
    const search = "POST /threads/search HTTP/1.1";
    const heads: readonly (readonly [line: string, host: string])[] = [
      [search, "x/public?"],
      [search, "x/public#"],
      [search, "x/public/"],
      [search, "u@x/public?"],
      [search, "x\\public?"],
      [search, "x"],
      ["GET http://x/public HTTP/1.1", "x"],
      ["POST /public/../threads/search HTTP/1.1", "x"],
      ["POST /public/%2e%2e/threads/search HTTP/1.1", "x"],
      ["POST /threads/search#/public HTTP/1.1", "x"],
      ["POST /threads/search?#/public HTTP/1.1", "x"],
      ["POST //public/threads/search HTTP/1.1", "x"],
    ];
    for (const [line, host] of heads) {
      const lines = `Host: ${host}\r\nContent-Type: application/json\r\nContent-Length: 2`;
      const head = await rawHead(guarded, `${line}\r\n${lines}\r\n\r\n{}`);
      assert.match(head, /^HTTP\/1\.1 40[0145] /, `${line} to ${host}: ${head}`);
    }
    const allowed = await call(guarded, "POST", "/threads/search", {}, { authorization: "Bearer token" });
    assert.equal(allowed.status, 200);
  },
);

test("replies without a request of HTTP have nosniff too: refused upgrades, broken requests (foreign-requests.4)", async () => {
  const { host } = new URL(agent.url);
  const upgrade = `GET /nowhere HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
  assert.match(await rawHead(agent, upgrade), /^HTTP\/1\.1 404 .*X-Content-Type-Options: nosniff/s);
  assert.match(await rawHead(agent, "no request\r\n\r\n"), /^HTTP\/1\.1 400 .*X-Content-Type-Options: nosniff/s);
});

test("every reply has nosniff: results, pages, refusals, streams (foreign-requests.4)", PATIENCE, async () => {
  const thread = await newThread(agent, "agent");
  const requests: readonly (readonly [server: { readonly url: string }, request: RawRequest])[] = [
    ...WRITES,
    ...READINGS,
    [agent, { path: "/nowhere" }],
    [agent, { path: "/threads", method: "OPTIONS" }],
    [agent, { path: `${thread.path}/stream`, method: "HEAD" }],
    [agent, { path: "/docs" }],
    [agent, { path: "/threads", body: "{", headers: { host: "evil.example" } }],
    [collector, { path: "/v1/traces", body: "{" }],
    [collector, { path: "/nowhere" }],
    [traces, { path: "/nowhere" }],
  ];
  for (const [server, request] of requests) {
    const { headers, status } = await raw(server, request);
    assert.equal(headers["x-content-type-options"], "nosniff", `${request.path}: ${status}`);
  }
});

test("HEAD on a stream ends at once and leaves the run alone (foreign-requests.5)", PATIENCE, async () => {
  const thread = await newThread(agent, "slow");
  const notes = newNotes(folder);
  const run = await thread.begin({ input: { notes: notes.notes, waitMs: 500 } });
  await notes.reached("waits");
  const at = `${thread.path}/runs/${run.run_id}`;
  const query = "?cancel_on_disconnect=true";
  for (const path of [
    `${thread.path}/stream`,
    `${at}/stream${query}`,
    `/runs/${run.run_id}/stream${query}`,
    "/inbox/events",
  ]) {
    const { status, headers, text } = await raw(agent, { path, method: "HEAD" });
    assert.deepEqual([status, text], [200, ""], path);
    assert.match(headers["content-type"] ?? "", /^text\/event-stream/);
  }
  const joined = await raw(agent, { path: `${at}/join${query}`, method: "HEAD" });
  assert.equal(joined.status, 200);
  assert.equal(
    (await raw(agent, { path: "/runs/00000000-0000-4000-8000-000000000000/stream", method: "HEAD" })).status,
    404,
  );
  assert.equal((await thread.join(run))["result"], "whole");
  const { status } = (await call(agent, "GET", at)).body as { readonly status: string };
  assert.equal(status, "success", "it was not cancelled");
});

test(
  "graphs, their child processes and their threads see no secret of the server (foreign-requests.6)",
  PATIENCE,
  async (t) => {
    const canary = "canary-7d1c44";
    const secrets = [
      "HOLDPOINT_API_KEY",
      "HOLDPOINT_WEBHOOK_SECRET",
      "INGEST_TOKEN",
      "TRACING_API_KEY",
      "LG_WEBHOOK_KEY",
      "LG_WEBHOOK_FROM_FILE",
    ];
    const files = join(ROOT, "test", "graphs", "strangers");
    const config = join(folder, "langgraph.json");
    writeFileSync(join(folder, ".env"), `LG_WEBHOOK_FROM_FILE=${canary}\nFROM_FILE=seen\n`);
    writeFileSync(
      config,
      JSON.stringify({
        graphs: { surroundings: `${join(files, "surroundings.ts")}:graph` },
        env: ".env",
        webhooks: { headers: { A: "${{ env.LG_WEBHOOK_KEY }}", B: "${{ env.LG_WEBHOOK_FROM_FILE }}" } },
      }),
    );
    const env = {
      ...Object.fromEntries(secrets.slice(0, -1).map((name) => [name, canary])),
      OTEL_EXPORTER_OTLP_HEADERS: `x=${canary}`,
      HOLDPOINT_API_KEYS: `ann:key-of-ann-${canary}`,
      HOLDPOINT_NOTIFY_URL: `https://hooks.example.com/${canary}`,
      OPENAI_API_KEY: "of the graph",
    };
    const server = await startServer({ config, env });
    t.after(async () => {
      await server.stop();
      removeFolder(server.dataDir);
    });
    const run = { assistant_id: "surroundings", input: {} };
    const headers = { "x-api-key": `key-of-ann-${canary}` };
    const answer = await call(server, "POST", "/runs/wait", run, headers);
    assert.equal(answer.status, 200, answer.text);
    for (const place of ["loaded", "here", "child", "thread"]) {
      const seen = (answer.body as Record<string, Record<string, string>>)[place] ?? {};
      assert.deepEqual([seen["OPENAI_API_KEY"], seen["FROM_FILE"]], ["of the graph", "seen"], place);
      assert.ok(seen["PATH"] !== undefined);
      const values = JSON.stringify(seen);
      const leaked = Object.entries(seen).filter(([, value]) => value.includes(canary));
      assert.deepEqual(leaked, [], place);
      if (server.databaseUri !== "") assert.ok(!values.includes(server.databaseUri), place);
    }
  },
);
