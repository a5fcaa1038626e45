// `holdpoint collector` as a reader starts it: the rules of the trace collector proxy, one by one, on default settings.
// A test sets only the port, the address of the backend, and the variables that its rule names.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { type AcceptedRun, type FakeBackend, startBackend } from "../fakes/backend.ts";
import { jsonRequest, protobufRequest, buildSpan, type TestSpan } from "../fakes/otlp.ts";
import { holdpoint } from "../harness/cli.ts";
import { freePort } from "../harness/postgres/free-port.ts";
import { removeFolder, ROOT, temporaryFolder } from "../harness/server.ts";

interface Started {
  readonly backend: FakeBackend;
  readonly url: string;
  /** Resolves when its log has that event. */
  readonly logged: (event: string) => Promise<void>;
  /** Everything that it has written so far. */
  readonly output: () => string;
  readonly send: (
    body: Buffer | string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<{ readonly status: number; readonly text: string }>;
  /** SIGTERM; resolves with the exit code. */
  readonly stop: () => Promise<number | null>;
}

const WHOLE = ["packages/holdpoint/src/main.ts", "collector"] as const;
const ALONE = ["packages/collector/src/main.ts"] as const;

async function start(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
  [main, ...args]: typeof WHOLE | typeof ALONE = WHOLE,
): Promise<Started> {
  const backend = await startBackend();
  const folder = temporaryFolder();
  const port = await freePort();
  const child = spawn(process.execPath, [join(ROOT, main), ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HTTP_PORT: String(port), TRACING_ENDPOINT: backend.url, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit") as Promise<[number | null]>;
  let log = "";
  const grown = new EventEmitter();
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      log += chunk.toString();
      grown.emit("log");
    });
  const logged = async (event: string): Promise<void> => {
    while (!log.includes(event)) {
      if (child.exitCode !== null) throw new Error(`it ended:\n${log}`);
      await Promise.race([once(grown, "log"), exited]);
    }
  };
  const stop = async (): Promise<number | null> => {
    child.kill("SIGTERM");
    return (await exited)[0];
  };
  t.after(async () => {
    await stop();
    await backend.close();
    removeFolder(folder);
    assert.deepEqual(backend.violations, []);
  });
  await logged("collector_started");
  const url = `http://127.0.0.1:${port}`;
  return {
    backend,
    url,
    logged,
    output: () => log,
    stop,
    async send(body, headers = { "x-api-key": "key-1" }) {
      const type = typeof body === "string" ? "application/json" : "application/x-protobuf";
      const response = await fetch(`${url}/v1/traces`, {
        method: "POST",
        body: body as Uint8Array<ArrayBuffer> | string,
        headers: { "content-type": type, ...headers },
      });
      return { status: response.status, text: await response.text() };
    },
  };
}

/** One span each, every one of a trace of its own. */
const traces = (count: number, from = 1): TestSpan[] =>
  Array.from({ length: count }, (_, at) => buildSpan(from + at, 0));

const sizes = ({ backend }: Started, key = "key-1"): number[] =>
  backend.uploads.filter((upload) => upload.key === key).map(({ runs }) => runs.length);

function onlyRun({ backend }: Started, key: string): AcceptedRun {
  const runs = backend.runs.filter((run) => run.key === key);
  assert.equal(runs.length, 1);
  return runs[0] ?? assert.fail();
}

/** The example of the rules: ids in base64, kinds by name, times as bare numbers, counts as texts. */
const EXAMPLE = `{"resourceSpans":[{
  "resource":{"attributes":[{"key":"service.name","value":{"stringValue":"svc"}}]},
  "scopeSpans":[{"scope":{"name":"my.scope","version":"1.0.0"},"spans":[{
    "traceId":"T6nh/mMkIONaoHewS9UWIw==","spanId":"0tEqJwCpvU0=","name":"my_span","kind":"SPAN_KIND_INTERNAL",
    "startTimeUnixNano":1732170000123456789,"endTimeUnixNano":1732170001123456789,
    "attributes":[
      {"key":"gen_ai.prompt","value":{"stringValue":"{\\"text\\":\\"Hello, world!\\"}"}},
      {"key":"gen_ai.completion","value":{"stringValue":"{\\"text\\":\\"Hi there!\\"}"}},
      {"key":"gen_ai.usage.input_tokens","value":{"intValue":"5"}},
      {"key":"gen_ai.usage.output_tokens","value":{"intValue":"7"}},
      {"key":"langsmith.metadata.big","value":{"intValue":"9007199254740993"}}],
    "droppedAttributesCount":0,"events":[],"links":[],"status":{}}]}]}]}`;

const SAME: TestSpan = {
  traceId: "4fa9e1fe632420e35aa077b04bd51623",
  spanId: "d2d12a2700a9bd4d",
  name: "my_span",
  kind: 1,
  start: 1_732_170_000_123_456_789n,
  end: 1_732_170_001_123_456_789n,
  attributes: {
    "gen_ai.prompt": '{"text":"Hello, world!"}',
    "gen_ai.completion": '{"text":"Hi there!"}',
    "gen_ai.usage.input_tokens": 5n,
    "gen_ai.usage.output_tokens": 7n,
    "langsmith.metadata.big": 9_007_199_254_740_993n,
  },
};
const ENVELOPE = { resource: { "service.name": "svc" }, scope: { name: "my.scope", version: "1.0.0" } };

for (const program of [WHOLE, ALONE])
  test(`${program[0]} names a misspelled setting at the start, and no other variable`, async (t) => {
    const env = { HOLDPOINT_DATA_DIRECTORY: "x", HOLDPOINT_DATA_DIR: "data", UNRELATED: "x", LOG_JSON: "true" };
    const { output } = await start(t, env, program);
    assert.deepEqual(
      output()
        .match(/"setting_unknown".*?HOLDPOINT_\w+/g)
        ?.map((one) => one.split('"').at(-1)),
      ["HOLDPOINT_DATA_DIRECTORY"],
    );
  });

test("the ten variables have the defaults of the rules", async () => {
  const { out } = await holdpoint(["collector", "--print-config"]);
  const values = new Map(out.split("\n").map((line) => line.split("=", 2) as [string, string]));
  assert.deepEqual(
    [
      "HTTP_PORT",
      "TRACING_API_KEY",
      "TRACING_PROJECT",
      "BATCH_SIZE",
      "FLUSH_INTERVAL_MS",
      "MAX_BUFFER_BYTES",
      "MAX_BODY_BYTES",
      "MAX_RETRIES",
      "RETRY_BACKOFF_MS",
    ].map((name) => values.get(name)),
    ["4318", "", "", "100", "1000", "10485760", "209715200", "3", "100"],
  );
});

test("without another variable: liveness, every form of a request, keys, projects and batches of 100", async (t) => {
  const collector = await start(t);
  const { backend, send, url } = collector;
  for (const path of ["/live", "/ready"]) assert.equal((await fetch(url + path)).status, 200);

  const forms = {
    seed: EXAMPLE,
    spec: jsonRequest([SAME], "spec", ENVELOPE),
    protobuf: protobufRequest([SAME], ENVELOPE),
  };
  for (const [form, body] of Object.entries(forms))
    assert.equal((await send(body, { "x-api-key": form })).status, 200, form);
  await backend.when(() => backend.runs.length === 3); // at FLUSH_INTERVAL_MS: no batch is full
  const [run, ...others] = Object.keys(forms).map((form) => onlyRun(collector, form));
  assert.ok(run !== undefined);
  for (const other of others) assert.equal(other.text, run.text);
  assert.equal(run.id, "4fa9e1fe-6324-20e3-5aa0-77b04bd51623");
  assert.equal(run.main["name"], "my_span");
  assert.equal(run.main["start_time"], "2024-11-21T06:20:00.123456789Z");
  assert.equal(run.main["end_time"], "2024-11-21T06:20:01.123456789Z");
  assert.deepEqual([run.inputs, run.outputs?.["text"]], [{ text: "Hello, world!" }, "Hi there!"]);
  assert.match(run.text, /"input_tokens":5,"output_tokens":7/);
  assert.match(run.text, /"big":9007199254740993/);

  const bare = await send(protobufRequest(traces(1)), {});
  assert.equal(bare.status, 401);
  const unknown = await send("text", { "x-api-key": "key-1", "content-type": "text/plain" });
  assert.equal(unknown.status, 415);

  assert.equal(run.main["session_name"], "default");
  await send(protobufRequest(traces(1)), { "x-api-key": "project", "tracing-project": "of the header" });
  await backend.when(() => backend.runs.some(({ key }) => key === "project"));
  assert.equal(onlyRun(collector, "project").main["session_name"], "of the header");

  assert.equal((await send(protobufRequest(traces(250)))).status, 200);
  await backend.when(() => sizes(collector).length === 3);
  assert.deepEqual(
    sizes(collector).toSorted((a, b) => a - b),
    [50, 100, 100],
  );
  assert.ok(backend.uploads.every(({ headers }) => headers["content-encoding"] === "zstd"));

  await send(protobufRequest([buildSpan(900, 1, 0)]), { "x-api-key": "tree" });
  await send(protobufRequest([buildSpan(900, 0)]), { "x-api-key": "tree" });
  await backend.when(() => backend.runs.filter(({ key }) => key === "tree").length === 2);
  const tree = backend.runs.filter(({ key }) => key === "tree");
  assert.equal(new Set(tree.map(({ main }) => main["trace_id"])).size, 1);
  assert.equal(await collector.stop(), 0);
});

describe("BATCH_SIZE=10 and FLUSH_INTERVAL_MS=60000", () => {
  const env = { BATCH_SIZE: "10", FLUSH_INTERVAL_MS: "60000" };
  const inOne = (spans: readonly TestSpan[]): Buffer[] => [protobufRequest(spans)];
  const alone = (spans: readonly TestSpan[]): Buffer[] => spans.map((span) => protobufRequest([span]));
  const asJson = (spans: readonly TestSpan[]): string[] => [jsonRequest(spans, "seed")];
  const tree = (count: number): TestSpan[] =>
    Array.from({ length: count }, (_, at) => buildSpan(1, at, at === 0 ? undefined : 0));
  const ways: readonly (readonly [string, readonly (Buffer | string)[]])[] = [
    ["ten traces in one request", inOne(traces(10))],
    ["ten traces in ten requests", alone(traces(10))],
    ["one trace in one request", inOne(tree(10))],
    ["one trace in ten requests", alone(tree(10))],
    ["ten traces in the JSON of the rules", asJson(traces(10))],
  ];

  for (const mode of ["memory", "durable"] as const)
    test(`ten spans arrive at once, as one batch of 10, in ${mode} mode; nine wait`, async (t) => {
      const spool = temporaryFolder();
      t.after(() => removeFolder(spool));
      const collector = await start(t, { ...env, ...(mode === "durable" ? { SPOOL_DIR: spool } : {}) });
      const { backend, send } = collector;
      assert.equal((await send(protobufRequest(traces(9)), { "x-api-key": "nine" })).status, 200);
      for (const [name, requests] of ways) {
        for (const request of requests) assert.equal((await send(request, { "x-api-key": name })).status, 200);
        await backend.when(() => sizes(collector, name).length > 0);
        assert.deepEqual(sizes(collector, name), [10], name);
      }
      assert.deepEqual(sizes(collector, "nine"), []);
      assert.equal((await send(protobufRequest(traces(1, 10)), { "x-api-key": "nine" })).status, 200);
      await backend.when(() => sizes(collector, "nine").length > 0);
      assert.deepEqual(sizes(collector, "nine"), [10]);
      await send(protobufRequest(traces(3)), { "x-api-key": "rest" });
      assert.equal(await collector.stop(), 0);
      assert.deepEqual(sizes(collector, "rest"), [3]);
    });
});

test("TRACING_API_KEY and TRACING_PROJECT stand in for the headers, which come first", async (t) => {
  const collector = await start(t, { TRACING_API_KEY: "of the machine", TRACING_PROJECT: "of the machine" });
  const { backend, send } = collector;
  const headers = { "x-api-key": "of the sender", "tracing-project": "of the sender" };
  assert.equal((await send(protobufRequest(traces(1)), {})).status, 200);
  assert.equal((await send(protobufRequest(traces(1)), headers)).status, 200);
  await backend.when(() => backend.runs.length === 2);
  for (const key of ["of the machine", "of the sender"])
    assert.equal(onlyRun(collector, key).main["session_name"], key);
});

test("MAX_RETRIES and RETRY_BACKOFF_MS: so many retries, the first after at least that time, each next after twice it", async (t) => {
  const collector = await start(t, { MAX_RETRIES: "2", RETRY_BACKOFF_MS: "150" });
  const { backend, send } = collector;
  const times: number[] = [];
  backend.script = () => {
    times.push(performance.now());
    return { status: 503, headers: { "retry-after": "0" } };
  };
  assert.equal((await send(protobufRequest(traces(1)))).status, 200);
  await collector.logged("uploads_paused");
  assert.equal(times.length, 3);
  const [first = 0, second = 0, third = 0] = times;
  assert.ok(second - first >= 150, `${second - first} ms before the first retry`);
  assert.ok(third - second >= 300, `${third - second} ms before the second retry`);
  backend.script = () => ({ status: 202 });
  assert.equal(await collector.stop(), 0);
  assert.equal(backend.runs.length, 1);
});

test("MAX_BODY_BYTES bounds a request, MAX_BUFFER_BYTES the uncompressed bytes that wait", async (t) => {
  const collector = await start(t, {
    MAX_BODY_BYTES: "40000",
    MAX_BUFFER_BYTES: "50000",
    FLUSH_INTERVAL_MS: "60000",
  });
  const { backend, send } = collector;
  const long = (at: number, chars: number): Buffer =>
    protobufRequest([buildSpan(at, 0, undefined, { attributes: { "gen_ai.prompt": "x".repeat(chars) } })]);
  assert.equal((await send(long(1, 40_000))).status, 413);
  assert.equal((await send(long(2, 30_000))).status, 200);
  assert.deepEqual(sizes(collector), []);
  assert.equal((await send(long(3, 30_000))).status, 200);
  await backend.when(() => sizes(collector).length > 0);
  assert.ok(backend.uploads.every(({ rawBytes }) => rawBytes <= 65_000));
  assert.equal(await collector.stop(), 0);
  assert.deepEqual(backend.runs.map(({ main }) => String(main["name"])).toSorted(), ["span 2.0", "span 3.0"]);
});
