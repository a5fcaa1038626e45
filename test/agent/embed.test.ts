// Tests of the embedded server (`import { createHoldpoint } from "holdpoint"`), on the storage of the tests. Checked:
//   embed.1. A pause outlives close(): the next createHoldpoint on the same data resumes it, and takes its answer once.
//   embed.2. fetch passes status, headers, streams and aborts; no header of the in-process connection leaves.
//   embed.3. After close() calls get 503 `shutting_down`; streams in progress end.
//   embed.4. The environment stays as it is, and no setting comes from it.
//   embed.5. Pages of other sites cannot change anything; the host's own pages can.
//   embed.6. An answer that only the graph's own schema refuses leaves the interrupt of `form` open.
//   embed.7. Wrong options, a graph that does not compile, and a folder in use reject with the reason, and leave
//        nothing open.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client } from "@langchain/langgraph-sdk";
import { interrupt, StateGraph } from "@langchain/langgraph";
import * as z from "zod";
import {
  createHoldpoint,
  type Holdpoint,
  type HoldpointOptions,
} from "../../packages/holdpoint/src/exports/create-holdpoint.ts";
import { form } from "../../packages/holdpoint/src/exports/interrupts.ts";
import { writeFiles } from "../harness/project.ts";
import { databaseFor, removeFolder, temporaryFolder } from "../harness/server.ts";

const folder = temporaryFolder();
after(() => removeFolder(folder));

const State = z.object({ answer: z.string().default("") });
const graph = new StateGraph(State)
  .addNode("ask", () => ({ answer: String(interrupt("Which?")) }))
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__");

const opened = new Set<Holdpoint>();
after(() => Promise.all([...opened].map(({ close }) => close())));
let folders = 0;

async function open(options: HoldpointOptions = {}): Promise<Holdpoint> {
  const dataDir = options.dataDir ?? join(folder, `data-${folders++}`);
  const databaseUri = await databaseFor(dataDir);
  const source = options.config === undefined ? { graphs: { ask: graph } } : {};
  const holdpoint = await createHoldpoint({
    ...source,
    dataDir,
    ...(databaseUri === "" ? {} : { databaseUri }),
    ...options,
  });
  opened.add(holdpoint);
  return holdpoint;
}

const openClient = ({ fetch }: Holdpoint, path = ""): Client =>
  new Client({ apiUrl: `http://localhost${path}`, callerOptions: { fetch, maxRetries: 0 } });

function post(holdpoint: Holdpoint, path: string, body: object, headers: Record<string, string> = {}) {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
  return holdpoint.fetch(`http://app.test${path}`, { ...init, body: JSON.stringify(body) });
}

test("a pause outlives close(), and the next start takes its answer once (embed.1)", async () => {
  const dataDir = join(folder, "durable");
  const first = await open({ dataDir });
  const { thread_id: thread } = await openClient(first).threads.create();
  await openClient(first).runs.wait(thread, "ask", { input: {} });
  await first.close();
  await first.close(); // twice is once

  const second = await open({ dataDir });
  const answers = ["a", "b"].map((resume) =>
    openClient(second)
      .runs.wait(thread, "ask", { command: { resume } })
      .then(
        (values) => String((values as { readonly answer?: string }).answer),
        (error: Error) => (/\b409\b/.test(error.message) ? "409" : error.message),
      ),
  );
  const outcomes = await Promise.all(answers);
  assert.equal(outcomes.filter((one) => one === "409").length, 1, outcomes.join());
  assert.equal(outcomes.filter((one) => one === "a" || one === "b").length, 1, outcomes.join());
  await second.close();
});

test("fetch passes streams and aborts, and no header of its connection (embed.2)", async () => {
  const holdpoint = await open({ basePath: "/agents" });
  const created = await post(holdpoint, "/agents/threads", {});
  assert.equal(created.status, 200);
  for (const name of ["connection", "keep-alive", "transfer-encoding"])
    assert.equal(created.headers.get(name), null, name);
  assert.equal(created.headers.get("x-content-type-options"), "nosniff");
  const { thread_id: thread } = (await created.json()) as { readonly thread_id: string };
  const run = await post(holdpoint, `/agents/threads/${thread}/runs`, { assistant_id: "ask", input: {} });
  assert.match(String(run.headers.get("content-location")), new RegExp(`^/agents/threads/${thread}/runs/`));
  const abort = new AbortController();
  const inbox = await holdpoint.fetch("http://app.test/agents/inbox/events", { signal: abort.signal });
  assert.equal(inbox.status, 200);
  const reader = inbox.body?.getReader() ?? assert.fail("no body");
  assert.ok((await reader.read()).value);
  abort.abort();
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  });
  assert.equal((await holdpoint.fetch("http://app.test/threads")).status, 404); // not below the path
  await assert.rejects(holdpoint.fetch("http://app.test/agents/ok", { signal: AbortSignal.abort() }), {
    name: "AbortError",
  });
  await holdpoint.close();
});

test("after close() calls are refused, and streams in progress end (embed.3)", async () => {
  const holdpoint = await open();
  const stream = await holdpoint.fetch("http://app.test/inbox/events");
  const ended = stream.text().catch(() => "cut");
  await holdpoint.close();
  await ended;
  const refused = await holdpoint.fetch("http://app.test/ok");
  assert.equal(refused.status, 503);
  assert.equal(((await refused.json()) as { readonly code: string }).code, "shutting_down");
});

test("the environment stays as it is, and no setting comes from it (embed.4)", async () => {
  const secrets = {
    DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
    HOLDPOINT_API_KEYS: "a:a-long-key-of-the-host",
    PORT: "none",
  };
  Object.assign(process.env, secrets);
  const project = join(folder, "project");
  writeFiles(project, {
    "package.json": "{}",
    "graph.cjs": "exports.graph = { compile: () => globalThis.embeddedGraph };",
    "langgraph.json": JSON.stringify({ graphs: { ask: "./graph.cjs:graph" }, env: { EMBED_TEST: "from the file" } }),
  });
  Object.assign(globalThis, { embeddedGraph: graph.compile() });
  try {
    const before = { ...process.env };
    const holdpoint = await open({ config: join(project, "langgraph.json") });
    assert.deepEqual(holdpoint.graphs, ["ask"]);
    assert.equal((await holdpoint.fetch("http://app.test/inbox")).status, 200); // without authentication
    assert.deepEqual({ ...process.env }, { ...before, EMBED_TEST: "from the file" });
    await holdpoint.close();
  } finally {
    for (const name of [...Object.keys(secrets), "EMBED_TEST"]) delete process.env[name];
  }
});

test("pages of other sites change nothing, in fetch and in listener; the host's own pages may (embed.5)", async () => {
  const holdpoint = await open();
  const server = createServer(holdpoint.listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const readStatuses = async (headers: Record<string, string>): Promise<readonly number[]> => {
    const here = await post(holdpoint, "/threads", {}, headers);
    const init = { method: "POST", body: "{}", headers: { "content-type": "application/json", ...headers } };
    return [here.status, (await fetch(`http://127.0.0.1:${port}/threads`, init)).status];
  };
  assert.deepEqual(await readStatuses({ origin: "https://evil.test" }), [403, 403]);
  assert.deepEqual(await readStatuses({ "sec-fetch-site": "cross-site", origin: "https://evil.test" }), [403, 403]);
  assert.deepEqual(await readStatuses({ "sec-fetch-site": "same-origin" }), [200, 200]);
  assert.equal((await post(holdpoint, "/threads", {}, { origin: "http://app.test" })).status, 200);
  server.close();
  await holdpoint.close();
});

test("an answer that only the code of a form's schema refuses leaves its interrupt open (embed.6)", async () => {
  const Even = z.object({ n: z.number().refine((n) => n % 2 === 0, "is odd") });
  const even = new StateGraph(z.object({ n: z.number().default(0) }))
    .addNode("ask", () => form({ question: "An even number?", schema: Even }).ask(interrupt))
    .addEdge("__start__", "ask");
  const holdpoint = await open({ graphs: { even } });
  const client = openClient(holdpoint);
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, "even", { input: {} });
  await client.runs.wait(thread, "even", { command: { resume: { n: 3 } } }).catch(() => undefined);
  assert.equal((await client.threads.get(thread)).status, "interrupted");
  assert.deepEqual(await client.runs.wait(thread, "even", { command: { resume: { n: 4 } } }), { n: 4 });
  await holdpoint.close();
});

test("wrong options reject with the reason and leave nothing open (embed.7)", async () => {
  const dataDir = join(folder, "refused");
  const both = { graphs: { ask: graph }, config: "langgraph.json" };
  await assert.rejects(createHoldpoint({ dataDir }), /takes either graphs/);
  await assert.rejects(createHoldpoint({ ...both, dataDir }), /takes either graphs/);
  await assert.rejects(createHoldpoint({ graphs: {}, dataDir }), /takes either graphs/);
  await assert.rejects(open({ graphs: { ask: {} }, dataDir }), /graph "ask" \(given as a value\) does not load/);
  await assert.rejects(open({ dataDir, settings: { N_JOBS_PER_WORKER: 0 } }), /^\w+: settings\.N_JOBS_PER_WORKER: /);
  await assert.rejects(open({ dataDir, basePath: "agents" }), /^\w+: basePath: /);
  await assert.rejects(open({ databaseUri: "mysql://a" }), /^\w+: databaseUri: /);
  const alone = open({ dataDir, databaseUri: "", settings: { HOLDPOINT_ROLE: "api" } });
  await assert.rejects(alone, /^\w+: settings\.HOLDPOINT_ROLE: .* databaseUri, which is not set/);
  const first = await open({ dataDir }); // the failures left the folder free
  if ((await databaseFor(dataDir)) === "") await assert.rejects(open({ dataDir }), /in use .* set dataDir to/);
  await first.close();
});
