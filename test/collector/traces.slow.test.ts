// The local trace store, from outside: `holdpoint collector` with nothing set, a real exporter and the `langsmith` SDK.
//   traces.1. Without an endpoint, acknowledged spans appear as traces, and senders need no key.
//   traces.2. The `langsmith` SDK uploads to the store as it does to the backend, unmodified.
//   traces.3. A bad upload gets an error with the reason and changes nothing.
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { Client, RunTree } from "langsmith";
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { startCollectorWithStore } from "../fakes/traces/collector-with-store.ts";
import { call, removeFolder, temporaryFolder } from "../harness/server.ts";
import { until } from "../harness/threads.ts";

interface Item {
  readonly trace_id: string;
  readonly name: string;
  readonly status: string;
  readonly runs: number;
  readonly errors: number;
  readonly models: readonly string[];
  readonly project: string;
  readonly input_tokens: number;
}

const folder = temporaryFolder();

let started = await startCollectorWithStore(folder);
after(async () => {
  started.process.kill("SIGTERM");
  await started.exited;
  removeFolder(folder);
});

async function search(query: string): Promise<readonly Item[]> {
  const answer = await call(started.store, "GET", `/traces${query}`);
  assert.equal(answer.status, 200, answer.text);
  return (answer.body as { readonly items: readonly Item[] }).items;
}

function found(query: string, done: (items: readonly Item[]) => boolean): Promise<readonly Item[]> {
  return until(`traces ${query}`, async () => {
    const items = await search(query);
    return done(items) ? items : undefined;
  });
}

test("spans of an exporter without a key become a searchable trace, which survives a restart (traces.1)", async () => {
  const exporter = new OTLPTraceExporter({ url: started.collector });
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const tracer = provider.getTracer("tests");
  const parent = tracer.startSpan("plan a trip");
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "model-7",
    "gen_ai.prompt": '{"text":"where to?"}',
    "gen_ai.usage.input_tokens": 11,
  };
  const child = tracer.startSpan("chat", { attributes }, trace.setSpan(context.active(), parent));
  child.setStatus({ code: SpanStatusCode.ERROR, message: "no answer" });
  child.end();
  parent.end();
  await provider.shutdown();

  const [item] = await found("?name=trip", ([one]) => one?.runs === 2 && one.status !== "incomplete");
  assert.deepEqual([item?.errors, item?.models, item?.input_tokens], [1, ["model-7"], 11]);
  assert.deepEqual(await search("?name=trip&model=model-8"), []);
  const whole = (await call(started.store, "GET", `/traces/${item?.trace_id}`)).body as {
    readonly runs: readonly { readonly id: string; readonly name: string }[];
  };
  assert.deepEqual(
    whole.runs.map(({ name }) => name),
    ["plan a trip", "chat"],
  );
  const run = (await call(started.store, "GET", `/traces/runs/${whole.runs[1]?.id}`)).body as Record<string, unknown>;
  assert.deepEqual(run["inputs"], { text: "where to?" });

  started.process.kill("SIGTERM");
  assert.equal(await started.exited, 0);
  started = await startCollectorWithStore(folder);
  assert.equal((await search("?name=trip")).length, 1);
});

test("the langsmith SDK uploads runs, and patches them when they end (traces.2)", async () => {
  const client = new Client({ apiUrl: started.store.url, apiKey: "any" });
  const root = new RunTree({ name: "sdk root", client, project_name: "from the sdk", inputs: { n: 1 } });
  await root.postRun();
  const child = root.createChild({ name: "sdk child", run_type: "llm", inputs: { prompt: "hi" } });
  await child.postRun();
  await child.end({ text: "ho" });
  await child.patchRun();
  await root.end({ done: true });
  await root.patchRun();
  await client.awaitPendingTraceBatches();
  const [item] = await found("?project=from%20the%20sdk", ([one]) => one?.status === "success" && one.runs === 2);
  assert.equal(item?.name, "sdk root");
  const run = (await call(started.store, "GET", `/traces/runs/${child.id}`)).body as Record<string, unknown>;
  assert.deepEqual([run["inputs"], run["outputs"]], [{ prompt: "hi" }, { text: "ho" }]);
});

const ID = "00000000-0000-4000-8000-000000000001";
const BODY = JSON.stringify({
  post: [
    {
      id: ID,
      trace_id: ID,
      dotted_order: `20260101T000000000000Z${ID}`,
      name: "batch",
      run_type: "chain",
      start_time: "2026-01-01T00:00:00Z",
      end_time: "2026-01-01T00:00:01Z",
      session_name: "batches",
    },
  ],
});

test("accepts batches plain, with gzip and with zstd", async () => {
  const forms: readonly [encoding: string, body: Buffer][] = [
    ["identity", Buffer.from(BODY)],
    ["gzip", gzipSync(BODY)],
    ["zstd", zstdCompressSync(BODY)],
  ];
  for (const [encoding, body] of forms) {
    const headers = { "content-type": "application/json", "content-encoding": encoding };
    const response = await fetch(`${started.store.url}/runs/batch`, { method: "POST", headers, body });
    assert.equal(response.status, 202, encoding);
  }
  assert.equal((await search("?project=batches")).length, 1);
});

const REFUSED: readonly [name: string, path: string, headers: Record<string, string>, body: string, status: number][] =
  [
    ["no JSON", "/runs/batch", {}, "{", 422],
    ["an order that is none", "/runs/batch", {}, BODY.replace('"dotted_order":"', '"dotted_order":"x.'), 422],
    ["no boundary", "/runs/multipart", { "content-type": "multipart/form-data" }, BODY, 422],
    ["an unknown encoding", "/runs/batch", { "content-encoding": "br" }, BODY, 415],
    ["what is not gzip", "/runs/batch", { "content-encoding": "gzip" }, BODY, 400],
    ["an unknown address", "/runs/other", {}, BODY, 404],
  ];
for (const [name, path, headers, body, status] of REFUSED) {
  test(`refused: ${name} (traces.3)`, async () => {
    const before = await call(started.store, "GET", "/traces/projects");
    const response = await fetch(`${started.store.url}${path}`, { method: "POST", headers, body });
    assert.equal(response.status, status, await response.text());
    assert.deepEqual((await call(started.store, "GET", "/traces/projects")).body, before.body);
  });
}

test("a bomb is refused before it is unpacked (traces.3)", async () => {
  const body = zstdCompressSync(Buffer.alloc(200 * 1024 * 1024));
  const headers = { "content-encoding": "zstd", "content-type": "application/json" };
  const response = await fetch(`${started.store.url}/runs/batch`, { method: "POST", headers, body });
  assert.equal(response.status, 413);
});

test("an invalid search gets the reason, and an unknown trace is 404", async () => {
  for (const query of ["?limit=0", "?from=yesterday", "?cursor=zzz", "?metadata=nocolon", "?status=odd"]) {
    const answer = await call(started.store, "GET", `/traces${query}`);
    assert.deepEqual([answer.status, (answer.body as { readonly code: string }).code], [422, "invalid_request"], query);
  }
  for (const path of [`/traces/${ID.replace("1", "9")}`, "/traces/runs/x", `/traces/runs/${ID}/attachments/a`]) {
    const answer = await call(started.store, "GET", path);
    assert.deepEqual([answer.status, (answer.body as { readonly code: string }).code], [404, "trace_not_found"], path);
  }
  assert.equal((await call(started.store, "DELETE", `/traces/${ID}`)).status, 204);
  assert.equal((await call(started.store, "GET", `/traces/${ID}`)).status, 404);
});
