// Canaries: every secret of a setting, a header or a URL contains a word that must appear nowhere else: not in the
// output, the replies and the files of the processes (only the spool's log holds the keys of requests).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startBackend } from "../fakes/backend.ts";
import { createAuthority } from "../fakes/certificate.ts";
import { startConnectProxy } from "../fakes/connect-proxy.ts";
import { jsonRequest, buildSpan } from "../fakes/otlp.ts";
import { IS_LONG } from "../harness/long.ts";
import { call, ROOT, startServer } from "../harness/server.ts";

const CANARY = "canary7c1e";
/** Characters that JSON escapes, and spaces in a row: forms in which a mask could miss it. */
const awkward = (name: string): string => `${CANARY}-${name} "a\\b"  c`;

function assertSilent(shown: Readonly<Record<string, string>>): void {
  for (const [where, text] of Object.entries(shown)) {
    const at = text.indexOf(CANARY);
    assert.equal(at, -1, `${where}: …${text.slice(Math.max(0, at - 200), at + 100)}…`);
  }
}

interface Ran {
  readonly code: number;
  readonly output: string;
}

interface Running {
  readonly output: () => string;
  /** Resolves with the first match in its output. */
  readonly until: (pattern: RegExp) => Promise<string>;
  readonly stop: (signal: NodeJS.Signals) => void;
  readonly ended: Promise<Ran>;
}

function holdpoint(args: readonly string[], env: Readonly<Record<string, string>>): Running {
  const child = spawn(process.execPath, [join(ROOT, "packages/holdpoint/src/main.ts"), ...args], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, "close").then(([code]: unknown[]) => ({ code: Number(code), output }));
  return {
    output: () => output,
    stop: (signal) => void child.kill(signal),
    ended,
    async until(pattern) {
      for (;;) {
        const found = pattern.exec(output);
        if (found !== null) return found[1] ?? found[0];
        await Promise.race([once(child.stderr, "data"), ended.then(() => assert.fail(`it ended:\n${output}`))]);
      }
    },
  };
}

/** Names and contents of all files below a folder, except the contents of those in `open`. */
async function filesBelow(dir: string, open: RegExp): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    found[`name of ${path}`] = path;
    if (entry.isFile() && !open.test(entry.name)) found[path] = await readFile(path, "latin1");
  }
  return found;
}

describe("the collector", () => {
  test("shows no key, token or password while backend and senders do all they can to make it", async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-canary-`);
    const authority = createAuthority();
    await writeFile(`${dir}/ca.pem`, authority.cert);
    const backend = await startBackend({ tls: authority.certify(["127.0.0.1"]) });
    const proxy = await startConnectProxy();
    const echoed = (text: string): string => `{"error":${JSON.stringify(text)},"raw":"${text}"}`;
    backend.script = ({ index, headers, runs }) => {
      const all = echoed(JSON.stringify(headers) + String(headers["x-api-key"]));
      if (index < 5)
        return (
          [
            { status: 401, body: all },
            { status: 500, body: all },
            "reset" as const,
            { status: 429, body: all },
            { status: 302, body: all, headers: { location: `/?key=${CANARY}` } },
          ][index] ?? "reset"
        );
      return { status: runs.some((run) => run.main["name"] === "span 1.0") ? 422 : 202, body: all };
    };
    const collector = holdpoint(["collector"], {
      HTTP_PORT: "0",
      LOG_LEVEL: "debug",
      LOG_JSON: "true",
      FLUSH_INTERVAL_MS: "20",
      RETRY_BACKOFF_MS: "1",
      TRACING_ENDPOINT: backend.url,
      NODE_EXTRA_CA_CERTS: `${dir}/ca.pem`,
      TRACING_API_KEY: awkward("env"),
      INGEST_TOKEN: `${CANARY}-token`,
      HTTPS_PROXY: proxy.url.replace("://", `://${CANARY}-user:${CANARY}-word@`),
      SPOOL_DIR: `${dir}/spool`,
    });
    const url = (await collector.until(/"address":"([^"]+)"/)).replace("/v1/traces", "");
    const shown: Record<string, string> = {};
    const ask = async (
      name: string,
      path: string,
      body: string | null,
      headers: Record<string, string>,
    ): Promise<number> => {
      const response = await fetch(url + path, { method: body === null ? "GET" : "POST", body, headers });
      shown[`reply to ${name}`] = JSON.stringify([...response.headers]) + (await response.text());
      return response.status;
    };
    const json = { "content-type": "application/json", authorization: `Bearer ${CANARY}-token` };
    const own = { ...json, "x-api-key": awkward("own"), "x-tenant-id": "workspace", cookie: CANARY };
    assert.equal(
      await ask("an export with a key of its own", `/v1/traces?api_key=${CANARY}`, jsonRequest([buildSpan(1, 0)]), own),
      200,
    );
    assert.equal(
      await ask("an export with the environment's key", "/v1/traces", jsonRequest([buildSpan(2, 0)]), json),
      200,
    );
    assert.equal(
      await ask("a wrong token", "/v1/traces", "{}", { ...own, authorization: `Bearer wrong-${CANARY}` }),
      401,
    );
    assert.equal(await ask("a bad key", "/v1/traces", "{}", { ...json, "x-api-key": `${CANARY}\u00e9` }), 401);
    assert.equal(await ask("a bad project", "/v1/traces", "{}", { ...own, "tracing-project": `${CANARY}\u0085` }), 400);
    assert.equal(await ask("a bad type", "/v1/traces", "{}", { ...own, "content-type": `text/${CANARY}` }), 415);
    assert.equal(await ask("a bad encoding", "/v1/traces", "{}", { ...own, "content-encoding": CANARY }), 415);
    assert.equal(await ask("malformed JSON", "/v1/traces", `{"${CANARY}":`, own), 400);
    assert.equal(await ask("an unknown path", `/nowhere/${CANARY}?key=${CANARY}`, null, own), 404);
    await backend.when(() => backend.runs.length > 0); // the environment's
    await ask("metrics", "/metrics", null, own);
    await collector.until(/runs_dead_lettered/); // the other one
    collector.stop("SIGTERM");
    const { code, output } = await collector.ended;
    assert.equal(code, 0);
    for (const event of ["uploads_paused", "collector_stopped"]) assert.match(output, new RegExp(event));
    await Promise.all([backend.close(), proxy.close()]);
    // The spool's log holds keys, as documented.
    const files = await filesBelow(dir, /^\d{10}\.log$/);
    assertSilent({ output, ...shown, ...files });
    assert.ok(Object.keys(files).some((path) => path.endsWith(".dead")));
    assert.ok(proxy.asked.length > 0);
    await rm(dir, { recursive: true });
  });

  const secrets = {
    TRACING_API_KEY: awkward("env"),
    INGEST_TOKEN: `${CANARY}-token`,
    HTTPS_PROXY: `http://user:${CANARY}@127.0.0.1:9`,
  };
  const endpoint = { TRACING_ENDPOINT: "http://127.0.0.1:9" };
  type Start = readonly [string, readonly string[], Readonly<Record<string, string>>, number];
  const starts: readonly Start[] = [
    ["--print-config", ["collector", "--print-config"], endpoint, 0],
    ["a password in the endpoint", ["collector"], { TRACING_ENDPOINT: `https://user:${CANARY}@x.example` }, 78],
    ["a key with a line break", ["collector"], { ...endpoint, TRACING_API_KEY: `${CANARY}\n` }, 78],
  ];
  const moreStarts: readonly Start[] = [
    ["check, as JSON", ["collector", "check", "--json"], { TRACING_ENDPOINT: "https://127.0.0.1:9" }, 1],
    [
      "a password in the endpoint, printed",
      ["collector", "--print-config"],
      { TRACING_ENDPOINT: `https://user:${CANARY}@x.example` },
      78,
    ],
    [
      "a proxy that is none",
      ["collector"],
      { TRACING_ENDPOINT: "https://x.example", HTTPS_PROXY: `http://user:${CANARY}@` },
      78,
    ],
    ["check, with nobody there", ["collector", "check"], endpoint, 1],
    ["replay of nothing", ["collector", "replay"], { ...endpoint, DEAD_LETTER_DIR: "/nowhere" }, 0],
    ["a key that no header may have", ["collector"], { ...endpoint, TRACING_API_KEY: `${CANARY}\u00e9` }, 78],
    ["a spool that cannot be", ["collector"], { ...endpoint, SPOOL_DIR: "/dev/null/spool" }, 78],
  ];
  for (const [name, args, env, code] of IS_LONG ? [...starts, ...moreStarts] : starts)
    test(`${name}: nothing of a secret is shown`, async () => {
      const ran = await holdpoint(args, { HTTP_PORT: "0", LOG_LEVEL: "debug", ...secrets, ...env }).ended;
      assert.equal(ran.code, code, ran.output);
      assertSilent({ [name]: ran.output });
    });

  test("a port in use: the output contains no secret", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const ran = await holdpoint(["collector"], { ...endpoint, ...secrets, HTTP_PORT: String(port) }).ended;
    server.close();
    assert.equal(ran.code, 1);
    assert.match(ran.output, /in use/);
    assertSilent({ output: ran.output });
  });
});

test("the agent server shows no key, token or cookie that a request brings", async () => {
  const server = await startServer();
  const headers = { "x-api-key": CANARY, authorization: `Bearer ${CANARY}`, cookie: `session=${CANARY}` };
  const shown: Record<string, string> = {};
  const ask = async (method: string, path: string, body?: unknown): Promise<void> => {
    const answer = await call(server, method, path, body, headers);
    shown[`reply to ${method} ${path}`] = JSON.stringify([...answer.headers]) + answer.text;
  };
  await ask("POST", `/threads?api_key=${CANARY}`, {});
  await ask("POST", "/threads", "{");
  await ask("POST", "/runs/wait", { assistant_id: "nobody", input: {} });
  await ask("GET", "/threads/0199c3f5-5a4e-7000-8000-000000000000");
  await ask("GET", `/nowhere?api_key=${CANARY}`);
  await ask("DELETE", "/threads");
  for (const path of ["/ok", "/ready", "/metrics", "/openapi.json", "/info"]) await ask("GET", path);
  assert.equal(await server.stop(), 0);
  assertSilent({ ...shown, output: server.output() });
  assertSilent(await filesBelow(server.dataDir, /^$/));
  await rm(server.dataDir, { recursive: true });
});
