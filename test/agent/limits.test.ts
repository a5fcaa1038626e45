// Tests of the limits of keys and tenants: every limit over every channel, on both storages.
// Rules:
//   limits.1. Every channel that makes a run, a question or a row is refused with 429, Retry-After and the limit.
//   limits.2. What ends a question is never refused, and a key at its limit does not slow another one.
//   limits.3. Two servers on one PostgreSQL let in as many as one.
//   limits.4. A tenant is what the configuration names: the metadata that a stored key is limited to.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { WebSocket } from "ws";
import { newDatabase } from "../harness/postgres/databases.ts";
import { type ServerHere, startServerHere } from "../harness/server-here.ts";
import { call, removeFolder, ROOT } from "../harness/server.ts";

const LIMITS = {
  calls_per_second: { calls_per_second: 0.001, burst: 1 },
  runs_max: { runs_max: 1 },
  questions_max: { questions_max: 1 },
  bytes_max: { bytes_max: 1 },
} as const;
type Limit = keyof typeof LIMITS;
const NAMES = Object.keys(LIMITS) as readonly Limit[];

interface Refusal {
  readonly code: unknown;
  readonly limit?: unknown;
  readonly retryAfter: unknown;
}

/** A call of one key. @param threadId an idle thread of the key */
type Channel = (server: ServerHere, key: string, threadId: string) => Promise<Refusal>;

const run = { assistant_id: "echo", input: { payload: "?" } };
const json = { "content-type": "application/json" };

async function send(server: ServerHere, key: string, path: string, body: unknown, method = "POST"): Promise<Refusal> {
  const headers = { ...json, "x-api-key": key };
  const sent = { method, headers, body: JSON.stringify(body) };
  const response = await fetch(`${server.url}${path}`, sent);
  const text = await response.text();
  const parsed = text === "" ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
  assert.equal(response.status, 429, `${method} ${path}: ${response.status} ${text}`);
  return { code: parsed["code"], limit: parsed["limit"], retryAfter: response.headers.get("retry-after") };
}

const post =
  (path: (threadId: string) => string, body: unknown = run, method?: string): Channel =>
  (server, key, threadId) =>
    send(server, key, path(threadId), body, method);

/** JSON-RPC has no status: the refusal is in its text. */
async function sendRpc(server: ServerHere, key: string, path: string, method: string, params: object) {
  const headers = { ...json, accept: "application/json, text/event-stream", "x-api-key": key };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const text = await (await fetch(`${server.url}${path}`, { method: "POST", headers, body })).text();
  assert.match(text, /limit_reached|has reached its limit/, text);
  return { code: "limit_reached", limit: NAMES.find((name) => text.includes(name)), retryAfter: "1" };
}

const socketRun: Channel = async (server, key, threadId) => {
  const url = `${server.url.replace("http", "ws")}/threads/${threadId}/stream/events`;
  const socket = new WebSocket(url, { headers: { "x-api-key": key } });
  await once(socket, "open");
  socket.send(JSON.stringify({ id: 1, method: "run.start", params: run }));
  const [data] = (await once(socket, "message")) as [Buffer];
  socket.close();
  const frame = JSON.parse(data.toString()) as Readonly<Record<string, unknown>>;
  return { code: frame["code"], limit: frame["limit"], retryAfter: Number(frame["retry_after_ms"]) / 1000 };
};

/** A tick is passed over; its line in the log has the reason. */
const tick: Channel = async (server, key) => {
  const made = await call(
    server,
    "GET",
    `/runs/crons/${crons.get(`${server.url} ${key}`) ?? ""}`,
    undefined,
    keyOf("root"),
  );
  assert.equal(made.status, 200, made.text);
  const line = await server.whenLogged("the refused tick", (lines) =>
    lines.find((one) => one["event"] === "cron_tick_passed_over" && one["cron_id"] === made.body["cron_id"]),
  );
  const limit = NAMES.find((name) => String(line["reason"]).includes(name));
  return { code: line["code"], limit, retryAfter: "1" };
};

const RUNS: Readonly<Record<string, Channel>> = {
  "a run": post((id) => `/threads/${id}/runs`),
  "a run that waits": post((id) => `/threads/${id}/runs/wait`),
  "a run that streams": post((id) => `/threads/${id}/runs/stream`),
  "a delayed run": post((id) => `/threads/${id}/runs`, { ...run, after_seconds: 3600 }),
  "a stateless run": post(() => "/runs"),
  "a stateless run that waits": post(() => "/runs/wait"),
  "a stateless run that streams": post(() => "/runs/stream"),
  "a batch": post(() => "/runs/batch", [run, run]),
  "a request": post(() => "/requests", { payload: { question: "Sure?" } }),
  "a command": post((id) => `/threads/${id}/commands`, { id: 1, method: "run.start", params: run }),
  "a socket": socketRun,
  "a tool of MCP": (server, key) =>
    sendRpc(server, key, "/mcp", "tools/call", { name: "echo", arguments: { payload: "?" } }),
  "a message of A2A": (server, key) =>
    sendRpc(server, key, "/a2a/echo", "message/send", {
      message: {
        kind: "message",
        role: "user",
        messageId: randomUUID(),
        parts: [{ kind: "data", data: { payload: "?" } }],
      },
    }),
  "a tick of a cron": tick,
};

const ROWS: Readonly<Record<string, Channel>> = {
  "a thread": post(() => "/threads", {}),
  "a copy": post((id) => `/threads/${id}/copy`, {}),
  "an item of the store": post(() => "/store/items", { namespace: ["a"], key: "k", value: {} }, "PUT"),
};

const keyOf = (name: string) => ({ "x-api-key": name.padEnd(24, "-") });
const folder = mkdtempSync(join(tmpdir(), "holdpoint-limits-"));
const config = join(folder, "langgraph.json");
const graphs = { echo: `${join(ROOT, "test/graphs/questions.ts")}:echo` };
const keys = NAMES.map((name) => ({ name, ...LIMITS[name] }));
writeFileSync(
  config,
  JSON.stringify({ graphs, limits: { keys: [...keys, { name: "five", runs_max: 5, questions_max: 5 }] } }),
);
const names = ["root", "five", ...NAMES];
const env = { HOLDPOINT_API_KEYS: names.map((name) => `${name}:${keyOf(name)["x-api-key"]}`).join(",") };
const tenantConfig = join(folder, "tenants.json");
const acme = { name: "acme", runs_max: 2 };
writeFileSync(
  tenantConfig,
  JSON.stringify({ graphs, limits: { tenant: "org", default: { runs_max: 1 }, keys: [acme] } }),
);

const DATABASE_URI = await newDatabase();
const SERVERS = {
  sqlite: await startServerHere({ config, env }),
  postgres: await startServerHere({ config, env: { ...env, DATABASE_URI } }),
};
const other = await startServerHere({ config, env: { ...env, DATABASE_URI } });
const tenants = await startServerHere({ config: tenantConfig, env });
after(async () => {
  for (const one of [...Object.values(SERVERS), other, tenants]) {
    await one.stop();
    removeFolder(one.dataDir);
  }
  removeFolder(folder);
});

/** By server and key. */
const crons = new Map<string, string>();

async function done(server: ServerHere, name: string, path: string, body: unknown, method = "POST") {
  const reply = await call(server, method, path, body, keyOf(name));
  assert.ok(reply.status < 300, `${path}: ${reply.status} ${reply.text}`);
  return reply.body as Readonly<Record<string, unknown>>;
}

/** Two threads of a key at its limit: an idle one, and one with a question. */
async function reachLimit(
  server: ServerHere,
  limit: Limit,
): Promise<{ readonly idle: string; readonly asked: string }> {
  const cron = { ...run, schedule: "* * * * * *" };
  if (limit === "calls_per_second") {
    const { thread_id: id } = await done(server, "root", "/threads", {});
    const made = await done(server, limit, "/runs/crons", cron); // its only call
    crons.set(`${server.url} ${keyOf(limit)["x-api-key"]}`, String(made["cron_id"]));
    return { idle: String(id), asked: "" };
  }
  const [idle, asked] = [randomUUID(), randomUUID()];
  const owner = limit === "bytes_max" ? "root" : limit;
  await done(server, owner, "/threads", { thread_id: idle });
  await done(server, limit, `/threads/${asked}/runs/wait`, { ...run, if_not_exists: "create" });
  if (limit === "runs_max") await done(server, limit, `/threads/${idle}/runs`, { ...run, after_seconds: 3600 });
  const made = await done(server, limit, "/runs/crons", cron);
  crons.set(`${server.url} ${keyOf(limit)["x-api-key"]}`, String(made["cron_id"]));
  return { idle, asked };
}

for (const [storage, server] of Object.entries(SERVERS)) {
  for (const limit of NAMES) {
    describe(`a key at its limit ${limit} on ${storage}`, () => {
      const key = keyOf(limit)["x-api-key"];
      const reached = reachLimit(server, limit);
      const channels = { ...RUNS, ...(limit === "bytes_max" || limit === "calls_per_second" ? ROWS : {}) };
      for (const [channel, refused] of Object.entries(channels)) {
        test(`is refused ${channel} (limits.1)`, async () => {
          const { idle } = await reached;
          const { retryAfter, ...refusal } = await refused(server, key, idle);
          assert.deepEqual(refusal, { code: "limit_reached", limit });
          assert.ok(Number(retryAfter) >= 1, String(retryAfter));
        });
      }
      test("answers, cancels and deletes, and others go on (limits.2)", async () => {
        const { idle, asked } = await reached;
        await done(server, "root", "/runs/wait", run);
        const cron = crons.get(`${server.url} ${key}`) ?? "";
        await done(server, limit, `/runs/crons/${cron}`, undefined, "DELETE");
        if (limit === "calls_per_second") return;
        await done(server, limit, `/threads/${asked}/runs/wait`, { assistant_id: "echo", command: { resume: "yes" } });
        await done(server, limit, `/threads/${idle}`, undefined, "DELETE").catch(() => undefined);
        const metrics = await fetch(`${server.url}/metrics`, { headers: keyOf("root") });
        assert.match(await metrics.text(), new RegExp(`agent_limit_refusals_total\\{limit="${limit}"\\} [1-9]`));
      });
    });
  }
}

for (const [name, held] of [
  ["runs", { ...run, after_seconds: 3600 }],
  ["questions", run],
] as const)
  test(`two servers on one database let in five ${name} of forty (limits.3)`, async () => {
    const pair = [SERVERS.postgres, other];
    const path = name === "runs" ? "/runs" : "/runs/wait";
    const calls = Array.from({ length: 40 }, (_, at) =>
      call(pair[at % 2] ?? other, "POST", path, { ...held, on_completion: "keep" }, keyOf("five")),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    assert.deepEqual(
      [statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 429).length],
      [5, 35],
    );
    const found = await call(other, "POST", "/threads/search", { limit: 1000 }, keyOf("root"));
    assert.ok(Array.isArray(found.body));
    await done(other, "five", "/runs/cancel", { status: "pending" }).catch(() => undefined);
  });

test("keys of one tenant share its limit, and a key without one has its own (limits.4)", async () => {
  const made = async (name: string, metadata: object) =>
    String((await done(tenants, "root", "/keys", { name, role: "operator", metadata }))["key"]);
  const [one, two] = [await made("one", { org: "acme" }), await made("two", { org: "acme" })];
  const delayed = { ...run, after_seconds: 3600, on_completion: "keep" };
  const start = async (key: string) => (await call(tenants, "POST", "/runs", delayed, { "x-api-key": key })).status;
  assert.deepEqual([await start(one), await start(two), await start(one)], [200, 200, 429]);
  const [alone, beside] = [await made("acme", {}), await made("three", { org: "other" })];
  assert.deepEqual([await start(alone), await start(alone), await start(beside)], [200, 429, 200]);
});
