// Destinations with rules of their own: what each gets of the same requests, over HTTP and gRPC.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { Decoded, Signal } from "@holdpoint/collector/otlp/decoded.ts";
import type { Span } from "@holdpoint/collector/otlp/span.ts";
import { decode } from "@holdpoint/collector/receive/decode-body.ts";
import { drawTrace } from "@holdpoint/collector/sample/trace-sampler.ts";
import { startBackend } from "../fakes/backend.ts";
import { startCollector, type TestCollector } from "../fakes/collector.ts";
import { jsonLogs, protobufLogs, buildRecord } from "../fakes/otlp-logs.ts";
import { field, jsonRequest, protobufRequest, buildSpan, type TestSpan, varint } from "../fakes/otlp.ts";
import { PATIENCE } from "../harness/patience.ts";

interface Taken {
  readonly signal: string;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, unknown>>;
}

interface Receiver {
  readonly url: string;
  readonly arrived: readonly Taken[];
  readonly items: (signal: Signal) => Promise<Decoded["spans"] & Decoded["records"]>;
  readonly close: () => Promise<void>;
}

function createReceiver(url: string, arrived: readonly Taken[], close: () => Promise<void>): Receiver {
  return {
    url,
    arrived,
    async items(signal) {
      const bodies = arrived.filter((one) => one.signal === signal);
      const decoded = await Array.fromAsync(bodies, ({ body, headers }) => decode(body, formatIn(headers), signal));
      return decoded.flatMap(({ records, spans }) => [...spans, ...records]) as never;
    },
    close,
  };
}

function formatIn(headers: Taken["headers"]): "json" | "protobuf" {
  return String(headers["content-type"]).includes("json") ? "json" : "protobuf";
}

async function startHttp(): Promise<Receiver> {
  const arrived: Taken[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const whole = Buffer.concat(chunks);
      const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(whole) : whole;
      arrived.push({ signal: (request.url ?? "").split("/").at(-1) ?? "", headers: request.headers, body });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return createReceiver(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrived, close);
}

/** Answers each call with the next status; 0 when none is left. */
async function startGrpc(statuses: (Readonly<Record<string, string>> | "cut")[] = []): Promise<Receiver> {
  const arrived: Taken[] = [];
  const server = createHttp2Server();
  const streams = new Set<ServerHttp2Stream>();
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    streams.add(stream);
    const chunks: Buffer[] = [];
    stream.on("error", () => undefined);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      const answer = statuses.shift() ?? { "grpc-status": "0" };
      if (answer === "cut") return stream.session?.destroy();
      const frame = Buffer.concat(chunks);
      assert.deepEqual([frame[0], frame.readUInt32BE(1)], [1, frame.length - 5]);
      assert.equal(headers["grpc-encoding"], "gzip");
      const [, signal = ""] =
        /^\/opentelemetry\.proto\.collector\.(\w+)\.v1\.\w+\/Export$/.exec(headers[":path"] ?? "") ?? [];
      if (answer["grpc-status"] === "0")
        arrived.push({ signal: signal === "trace" ? "traces" : signal, headers, body: gunzipSync(frame.subarray(5)) });
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers(answer));
      stream.end(Buffer.alloc(5));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      for (const { session } of streams) session?.destroy();
      server.close(() => resolve());
    });
  return createReceiver(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrived, close);
}

const metricsText = async ({ url }: TestCollector): Promise<string> => (await fetch(`${url}/metrics`)).text();

/** Every destination has passed every request. */
async function untilPassed(collector: TestCollector): Promise<string> {
  for (;;) {
    const text = await metricsText(collector);
    const queues = [...text.matchAll(/forward_queue_requests\{destination="[^"]+"\} (\d+)/g)];
    if (queues.length > 0 && queues.every(([, count]) => count === "0")) return text;
  }
}

interface Sent {
  readonly path?: string;
  readonly body: Buffer | string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Rules = Readonly<Record<string, unknown>>;

/** Sends the requests to a collector with one destination for each entry of `rules`. */
async function forward(
  rules: readonly Rules[],
  requests: readonly Sent[],
  more: Rules = {},
): Promise<{ readonly receivers: readonly Receiver[]; readonly text: string; readonly uploads: number }> {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-destinations-`);
  const backend = await startBackend();
  const receivers = await Promise.all(rules.map(({ protocol }) => (protocol === "grpc" ? startGrpc() : startHttp())));
  const entries = rules.map((one, at) => ({ name: `d${at}`, endpoint: receivers[at]?.url, ...one }));
  await writeFile(`${dir}/rules.json`, JSON.stringify({ ...more, forward: entries }));
  const collector = await startCollector(backend.url, { SPOOL_DIR: `${dir}/spool`, RULES_FILE: `${dir}/rules.json` });
  for (const { path = "traces", body, headers = {} } of requests) {
    const type = typeof body === "string" ? "application/json" : "application/x-protobuf";
    const response = await fetch(`${collector.url}/v1/${path}`, {
      method: "POST",
      body: body as Uint8Array<ArrayBuffer> | string,
      headers: { "x-api-key": "key-1", "content-type": type, ...headers },
    });
    assert.equal(response.status, 200);
  }
  const text = await untilPassed(collector);
  await collector.stop();
  await Promise.all([backend.close(), ...receivers.map((one) => one.close()), rm(dir, { recursive: true })]);
  return { receivers, text, uploads: new Set(backend.runs.map(({ id }) => id)).size };
}

const chat = (trace: number, span: number, parent?: number, extra: Partial<TestSpan> = {}): TestSpan =>
  buildSpan(trace, span, parent, { ...extra, attributes: { "gen_ai.operation.name": "chat", ...extra.attributes } });
const web = (trace: number, span: number, parent?: number): TestSpan =>
  buildSpan(trace, span, parent, { name: "GET /health", attributes: { "http.request.method": "GET" } });

const names = (items: readonly { readonly name: string }[]): readonly string[] => items.map(({ name }) => name);

for (const [format, traces, logs] of [
  ["protobuf", protobufRequest, protobufLogs],
  ["JSON", (spans: readonly TestSpan[]) => jsonRequest(spans), jsonLogs],
] as const)
  describe(`destinations of requests in ${format}`, PATIENCE, () => {
    test("only, drop, sample and projects select items; the backend and the others get all", async () => {
      const spans = [web(1, 0), chat(1, 1, 0), web(1, 2, 1), chat(1, 3, 2)];
      const records = [
        buildRecord(spans[1] ?? web(1, 0), "gen_ai.choice", { body: "yes" }),
        buildRecord(web(1, 0), "app.log"),
      ];
      const many = Array.from({ length: 40 }, (_, at) => chat(100 + at, 0));
      const { receivers, text, uploads } = await forward(
        [
          {},
          { only: "gen_ai" },
          { drop: [{ span: "GET *" }] },
          { sample: { rate: 0.5 } },
          { projects: ["shop"] },
          { only: "gen_ai", protocol: "grpc" },
        ],
        [
          { body: traces(spans) },
          { body: traces(many) },
          { path: "logs", body: logs(records) },
          { body: traces([chat(3, 0)]), headers: { "tracing-project": "shop" } },
          { body: traces([chat(4, 0, undefined, { attributes: { "langsmith.trace.session_name": "shop" } })]) },
        ],
      );
      const [all, genAi, dropped, sampled, shop, overGrpc] = await Promise.all(
        receivers.map(async (one) => [...(await one.items("traces")), ...(await one.items("logs"))]),
      );
      assert.equal(all?.length, 4 + 40 + 2 + 2);
      assert.equal(uploads, 46);
      for (const some of [genAi, overGrpc])
        assert.deepEqual(
          names(some ?? []).filter((name) => /^(?:GET|app|span 1\.|gen_ai)/.test(name)),
          ["span 1.1", "span 1.3", "gen_ai.choice"],
        );
      const [first, second] = (genAi ?? []) as readonly Span[];
      assert.deepEqual([first?.parentSpanId, second?.parentSpanId], ["", first?.spanId]);
      assert.ok(!names(dropped ?? []).includes("GET /health") && names(dropped ?? []).includes("app.log"));
      const drawn = many.filter(({ traceId }) => drawTrace(traceId) < 0.5).map(({ name }) => name);
      assert.deepEqual(
        names(sampled ?? []).filter((name) => / 1\d\d\./.test(name)),
        drawn,
      );
      assert.deepEqual(names(shop ?? []), ["span 3.0", "span 4.0"]);
      const sent = (name: string) =>
        new RegExp(`sent_requests_total\\{destination="${name}"\\} (\\d+)`).exec(text)?.[1];
      assert.deepEqual([sent("d0"), sent("d4")], ["5", "2"]); // without those of which nothing is left
    });

    test("a stricter redact and normalize hold for their destination alone, for both names of a content", async () => {
      const mail = "alice@example.com";
      const span = chat(1, 0, undefined, {
        attributes: {
          "openinference.span.kind": "LLM",
          "llm.model_name": "m",
          "llm.input_messages.0.message.role": "user",
          "llm.input_messages.0.message.content": `I am ${mail}, card 4111 1111 1111 1111, EMP-123456`,
        },
      });
      const record = buildRecord(span, "app.log", { body: mail });
      const redact = [{ name: "email", detect: ["email"] }];
      const paths = [{ name: "content", attributes: ["gen_ai.input.messages/*/parts/*/content"] }];
      const own = [{ name: "employee", attributes: ["llm.input_messages.*"], match: "EMP-[0-9]{6}" }];
      const { receivers } = await forward(
        [
          {},
          { redact, normalize: "gen_ai" },
          { normalize: "gen_ai", redact: paths },
          { normalize: "gen_ai", redact: own, protocol: "grpc" },
        ],
        [{ body: traces([span]) }, { path: "logs", body: logs([record]) }],
        { redact: [{ name: "card", detect: ["card"] }] },
      );
      const texts = receivers.map(({ arrived }) => arrived.map(({ body }) => body.toString()).join("\n"));
      assert.ok(texts.every((text) => text.includes("[card]") || text.includes("[content]")));
      assert.ok(texts.every((text) => !text.includes("4111")));
      assert.deepEqual(
        texts.map((text) => text.includes(mail)),
        [true, false, true, true],
      );
      assert.deepEqual(
        texts.map((text) => text.includes("I am")),
        [true, true, false, true],
      );
      assert.deepEqual(
        texts.map((text) => text.includes("EMP-123456")),
        [true, true, false, false],
      );
      assert.deepEqual(
        texts.map((text) => text.includes("gen_ai.input.messages")),
        [false, true, true, true],
      );
      assert.deepEqual(
        texts.map((text) => text.includes("llm.input_messages")),
        [true, false, false, false],
      );
    });
  });

test("metrics go through redact and projects, and over gRPC in protobuf only", PATIENCE, async () => {
  const metrics = field(1, field(2, field(2, Buffer.concat([field(1, "m"), field(2, "of alice@example.com")]))));
  const json = '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m"}]}]}]}';
  const redact = [{ name: "email", detect: ["email"], in: ["names"] }];
  const { receivers, text } = await forward(
    [{ redact, only: "gen_ai" }, { projects: ["other"] }, { protocol: "grpc" }],
    [
      { path: "metrics", body: metrics },
      { path: "metrics", body: json },
    ],
  );
  assert.deepEqual(
    receivers.map(({ arrived }) => arrived.length),
    [2, 0, 1],
  );
  assert.ok(receivers[0]?.arrived[0]?.body.includes("of [email]"));
  assert.match(text, /forward_refused_requests_total\{destination="d2"\} 1/);
});

test(
  "over gRPC, statuses and broken connections are retried, paused or refused, and nothing else is lost",
  PATIENCE,
  async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-destinations-`);
    const backend = await startBackend();
    const delay = field(1, Buffer.concat([Buffer.from([0x10]), varint(10_000_000)]));
    const any = Buffer.concat([field(1, "type.googleapis.com/google.rpc.RetryInfo"), field(2, delay)]);
    const retryInfo = field(3, any).toString("base64");
    const receiver = await startGrpc([
      "cut",
      { "grpc-status": "14" },
      { "grpc-status": "8", "grpc-status-details-bin": retryInfo },
      { "grpc-status": "16" },
      { "grpc-status": "0" },
      { "grpc-status": "3" },
    ]);
    const entry = {
      name: "d",
      endpoint: receiver.url,
      protocol: "grpc",
      signals: ["traces"],
      headers: { "X-Team": "a" },
    };
    await writeFile(`${dir}/rules.json`, JSON.stringify({ forward: [entry] }));
    const env = {
      RULES_FILE: `${dir}/rules.json`,
      retryCooldownMs: "10",
      FORWARD_HEADERS: "d.authorization=secret-1",
    };
    const collector = await startCollector(backend.url, env);
    for (const trace of [1, 2, 3]) {
      await collector.send(protobufRequest([chat(trace, 0)]));
      await untilPassed(collector);
    }
    assert.deepEqual(names(await receiver.items("traces")), ["span 1.0", "span 3.0"]);
    assert.match(await metricsText(collector), /forward_refused_requests_total\{destination="d"\} 1/);
    assert.deepEqual(
      receiver.arrived.map(({ headers }) => [headers["x-team"], headers["authorization"], headers["x-api-key"]]),
      [
        ["a", "secret-1", undefined],
        ["a", "secret-1", undefined],
      ],
    );
    assert.ok(!collector.log.join().includes("secret-1"));
    await collector.stop();
    await Promise.all([backend.close(), receiver.close(), rm(dir, { recursive: true })]);
  },
);

test("another collector takes them over gRPC, normalized, and uploads the same run", PATIENCE, async () => {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-destinations-`);
  const [near, far] = await Promise.all([startBackend(), startBackend()]);
  const second = await startCollector(far.url, { TRACING_API_KEY: "far-key", GRPC_PORT: "0" });
  const endpoint = `http://127.0.0.1:${second.collector.grpcAddress()?.port ?? assert.fail()}`;
  const entry = { name: "second", endpoint, protocol: "grpc", normalize: "gen_ai" };
  await writeFile(`${dir}/rules.json`, JSON.stringify({ forward: [entry] }));
  const first = await startCollector(near.url, { RULES_FILE: `${dir}/rules.json` });
  await first.send(
    protobufRequest([
      buildSpan(1, 0, undefined, {
        attributes: {
          "traceloop.span.kind": "workflow",
          "llm.request.type": "chat",
          "gen_ai.request.model": "m",
          "gen_ai.prompt.0.role": "user",
          "gen_ai.prompt.0.content": "Hi",
          "gen_ai.completion.0.role": "assistant",
          "gen_ai.completion.0.content": "Hello",
        },
      }),
    ]),
  );
  await Promise.all([near.whenRuns(1), far.whenRuns(1)]);
  await first.stop();
  await second.stop();
  const [one, other] = [near.runs[0], far.runs[0]].map((run) => [run?.id, run?.inputs, run?.outputs]);
  assert.deepEqual(other, one);
  assert.deepEqual([...near.violations, ...far.violations], []);
  await Promise.all([near.close(), far.close(), rm(dir, { recursive: true })]);
});
