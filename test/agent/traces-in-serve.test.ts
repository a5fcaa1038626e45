// Traces in `holdpoint serve`: in its process, and of another process.
//   traces-in-serve.1. With TRACES=on, one process runs the graphs and shows their traces, to callers of the server only:
//        the store's own port answers no queries.
//   traces-in-serve.2. A caller who is limited to some threads sees the traces of these, and no others.
//   traces-in-serve.3. With an address in TRACES, the server asks that address alone, with its own key; failures say what to check,
//        and never show the key.
//   traces-in-serve.4. COLLECTOR_URL shows the metrics of another process.
//   traces-in-serve.6. Servers on one PostgreSQL database show the same traces.
//   traces-in-serve.5. Contradictory settings prevent the start.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { newDatabase } from "../harness/postgres/databases.ts";
import { NotStarted, startServerHere, type ServerHere } from "../harness/server-here.ts";
import { call, removeFolder } from "../harness/server.ts";
import { until } from "../harness/threads.ts";

const ADMIN = "key-of-the-admin-77ae";
const ALL = { "x-api-key": ADMIN };
const OWN = { HOLDPOINT_API_KEYS: `root:${ADMIN}`, DATABASE_URI: "" };

interface Item {
  readonly trace_id: string;
  readonly thread_id: string | null;
  readonly name: string;
}

let server: ServerHere;
/** The usual port of gRPC is in use, whoever uses it: an empty variable sets no port, so the collector takes another. */
const neighbour = createServer().on("error", () => undefined);
before(async () => {
  neighbour.listen(4317, "127.0.0.1");
  server = await startServerHere({
    env: { ...OWN, TRACES: "on", HTTP_PORT: "0", TRACES_PORT: "0", GRPC_PORT: "" },
  });
});
after(async () => {
  neighbour.close();
  await server.stop();
  removeFolder(server.dataDir);
});

const get = (path: string, headers: Readonly<Record<string, string>> = ALL, on = server) =>
  call(on, "GET", `/console/api${path}`, undefined, headers);
const list = async (query = "", headers = ALL, on = server): Promise<readonly Item[]> => {
  const reply = await get(`/traces${query}`, headers, on);
  assert.equal(reply.status, 200, reply.text);
  return (reply.body as { readonly items: readonly Item[] }).items;
};

/** A paused run in a thread with this metadata, and its trace. */
async function traced(metadata: object): Promise<{ readonly threadId: string; readonly traceId: string }> {
  const made = await call(server, "POST", "/threads", { metadata }, ALL);
  const { thread_id: threadId } = made.body as { readonly thread_id: string };
  const run = { assistant_id: "agent", input: { some_text: "x" } };
  assert.equal((await call(server, "POST", `/threads/${threadId}/runs/wait`, run, ALL)).status, 200);
  const item = await until("the trace of the run", async () => (await list(`?thread_id=${threadId}`))[0]);
  return { threadId, traceId: item.trace_id };
}

test("one process runs a graph and shows its trace to those with a key (traces-in-serve.1)", async () => {
  const { traceId } = await traced({});
  assert.equal((await get(`/traces/${traceId}`)).status, 200);
  assert.equal((await get(`/traces/${traceId}`, {})).status, 401);
  const { text } = await get("/collector");
  assert.match(text, /receiver_accepted_spans/);
  const store = String(server.logs.find(({ event }) => event === "local_trace_store")?.["url"]);
  assert.equal((await call({ url: store }, "GET", "/ready")).status, 200);
  assert.equal((await call({ url: store }, "GET", `/traces/${traceId}`)).status, 404);
});

test("a limited caller sees the traces of its threads only (traces-in-serve.2)", async () => {
  const mine = await traced({ tenant: "a" });
  const others = await traced({ tenant: "b" });
  for (let n = 0; n < 3; n++) await traced({ tenant: "b" });
  const made = await call(server, "POST", "/keys", { name: "a", role: "viewer", metadata: { tenant: "a" } }, ALL);
  const key = { "x-api-key": (made.body as { readonly key: string }).key };
  for (const query of ["", "?limit=1", `?thread_id=${mine.threadId}`])
    assert.deepEqual(
      (await list(query, key)).map(({ trace_id: id }) => id),
      [mine.traceId],
      query,
    );
  assert.deepEqual(await list(`?thread_id=${others.threadId}`, key), []);
  const tree = await get(`/traces/${others.traceId}`);
  const { runs } = tree.body as { readonly runs: readonly { readonly id: string }[] };
  assert.equal((await get(`/traces/${mine.traceId}`, key)).status, 200);
  for (const path of [others.traceId, `runs/${runs[0]?.id}`, `runs/${runs[0]?.id}/attachments/x`]) {
    const reply = await get(`/traces/${path}`, key);
    assert.deepEqual([reply.status, (reply.body as { readonly code: string }).code], [404, "trace_not_found"], path);
  }
  assert.deepEqual((await get("/traces/projects", key)).body, []);
  assert.equal((await get("/collector", key)).status, 403);
});

async function second(env: Readonly<Record<string, string>>, work: (on: ServerHere) => Promise<void>): Promise<void> {
  const on = await startServerHere({ env: { ...OWN, ...env } });
  try {
    await work(on);
  } finally {
    await on.stop();
    removeFolder(on.dataDir);
  }
}

test("a server shows the traces and the collector of another one (traces-in-serve.3, traces-in-serve.4)", async () => {
  const { traceId } = await traced({});
  const { collector } = (await get("/about")).body as { readonly collector: { readonly url: string } };
  const env = { TRACES: `${server.url}/console/api`, TRACES_KEY: ADMIN, COLLECTOR_URL: collector.url };
  await second(env, async (on) => {
    assert.ok((await list("?limit=5", ALL, on)).some(({ trace_id: id }) => id === traceId));
    const [tree, run] = [await get(`/traces/${traceId}`, ALL, on), await get(`/traces/runs/${traceId}`, ALL, on)];
    assert.deepEqual([tree.status, run.status], [200, 200]);
    assert.equal((await get("/traces/00000000-0000-4000-8000-000000000000", ALL, on)).status, 404);
    assert.equal((await get("/traces?limit=x", ALL, on)).status, 422);
    const shown = await get("/collector", ALL, on);
    assert.match(shown.text, /receiver_accepted_spans/);
    assert.equal((shown.body as { readonly problems: unknown }).problems, null);
    const about = await get("/about", ALL, on);
    assert.doesNotMatch(about.text, new RegExp(`"TRACES_KEY","value":"${ADMIN}`));
  });
});

test("a store that is down, rejects the key or redirects is an error with the remedy (traces-in-serve.3)", async () => {
  let followed = 0;
  const odd = createServer((request, response) => {
    if (request.url === "/secret") followed++;
    if (request.url?.startsWith("/refusing") === true) response.writeHead(401).end();
    else response.writeHead(302, { location: "/secret" }).end();
  });
  await new Promise<void>((resolve) => odd.listen(0, "127.0.0.1", resolve));
  const at = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
  const cases: readonly (readonly [url: string, says: RegExp])[] = [
    ["http://127.0.0.1:1", /127\.0\.0\.1:1 \(TRACES\) does not respond .*check that it runs/],
    [`${at}/refusing`, /check TRACES_KEY/],
    [at, /answered 302/],
  ];
  try {
    for (const [url, says] of cases)
      await second({ TRACES: url, TRACES_KEY: "canary-secret-of-the-store" }, async (on) => {
        const { status, text } = await get("/traces", ALL, on);
        assert.equal(status, 502);
        assert.match(text, says);
        assert.doesNotMatch(text + on.output(), /canary-secret/);
      });
    assert.equal(followed, 0);
  } finally {
    odd.close();
  }
});

test("servers on one database show the same traces, also of a thread that continues elsewhere (traces-in-serve.6)", async () => {
  const env = { DATABASE_URI: await newDatabase(), TRACES: "on", HTTP_PORT: "0", TRACES_PORT: "0", GRPC_PORT: "0" };
  await second(env, async (one) =>
    second(env, async (two) => {
      const made = await call(one, "POST", "/threads", {}, ALL);
      const { thread_id: threadId } = made.body as { readonly thread_id: string };
      const run = { assistant_id: "agent", input: { some_text: "x" } };
      await call(one, "POST", `/threads/${threadId}/runs/wait`, run, ALL);
      const shown = (status: string) => async () =>
        (await list(`?thread_id=${threadId}&status=${status}`, ALL, two))[0]?.trace_id;
      const traceId = await until("the waiting trace", shown("waiting"));
      const answer = { assistant_id: "agent", command: { resume: "yes" } };
      await call(two, "POST", `/threads/${threadId}/runs/wait`, answer, ALL);
      assert.equal(await until("its end", shown("success")), traceId);
      assert.equal((await get(`/traces/${traceId}`, ALL, one)).status, 200);
    }),
  );
});

const REFUSED: readonly (readonly [env: Readonly<Record<string, string>>, says: RegExp])[] = [
  [{ TRACING_ENDPOINT: "http://127.0.0.1:9" }, /TRACING_ENDPOINT: is set, and so is TRACES=on/],
];
for (const [env, says] of REFUSED) {
  test(`TRACES=on and ${Object.keys(env).join()} prevent the start (traces-in-serve.5)`, async () => {
    const started = startServerHere({ env: { ...OWN, TRACES: "on", ...env } });
    await assert.rejects(started, (error) => error instanceof NotStarted && says.test(error.message));
  });
}
