// OTLP over gRPC, frame by frame: the statuses, backpressure with RetryInfo, malformed calls, and the life of the server.
// exporters.test.ts has the official exporters.
import assert from "node:assert/strict";
import { once } from "node:events";
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionOptions,
  type IncomingHttpHeaders,
} from "node:http2";
import { after, before, describe, test } from "node:test";
import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { startBackend, type FakeBackend } from "../fakes/backend.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { startCollector, type TestCollector } from "../fakes/collector.ts";
import { field, protobufRequest, protobufSpan, buildSpan } from "../fakes/otlp.ts";
import { protobufLogs, buildRecord } from "../fakes/otlp-logs.ts";

const TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
const METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

let backend: FakeBackend;
let collector: TestCollector;
let session: ClientHttp2Session;
before(async () => {
  backend = await startBackend();
  collector = await startCollector(backend.url, {
    GRPC_PORT: "0",
    MAX_BODY_BYTES: "1048576",
    MAX_QUEUE_BYTES: "2097152",
  });
  session = open(collector);
});
after(async () => {
  session.close();
  await collector.stop();
  await backend.close();
  assert.deepEqual(backend.violations, []);
});

function open({ collector: opened }: TestCollector, options: ClientSessionOptions = {}): ClientHttp2Session {
  return connect(`http://127.0.0.1:${opened.grpcAddress()?.port ?? assert.fail()}`, options);
}

function framed(message: Buffer, flag = 0): Buffer {
  const prefix = Buffer.from([flag, 0, 0, 0, 0]);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

interface Reply {
  readonly status: string | undefined;
  readonly message: string;
  readonly details: Buffer;
  readonly body: Buffer;
  readonly http: number | undefined;
}

async function call(
  path: string,
  body: Buffer,
  metadata: Readonly<Record<string, string>> = {},
  on = session,
): Promise<Reply> {
  const stream = on.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    "x-api-key": "key-1",
    ...metadata,
  });
  let head: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  const chunks: Buffer[] = [];
  stream.on("response", (headers) => (head = headers));
  stream.on("trailers", (headers) => (trailers = headers));
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("error", () => undefined);
  stream.end(body);
  await once(stream, "close");
  const all = { ...head, ...trailers };
  const of = (name: string): string => (typeof all[name] === "string" ? all[name] : "");
  const http = (head as { readonly ":status"?: number })[":status"];
  const details = Buffer.from(of("grpc-status-details-bin"), "base64");
  return { status: of("grpc-status"), message: of("grpc-message"), details, body: Buffer.concat(chunks), http };
}

const spans = (trace: number): Buffer => protobufRequest([buildSpan(trace, 0)]);

test("spans, log records and metrics are taken; the reply is one empty message with status 0", async () => {
  const records = protobufLogs([
    buildRecord(buildSpan(1, 0), "gen_ai.choice", { body: { message: { content: "Yes" } } }),
  ]);
  for (const [path, message] of [
    [LOGS, records],
    [TRACES, spans(1)],
    [METRICS, Buffer.from([0x0a, 0])],
  ] as const) {
    const replied = await call(path, framed(message));
    assert.deepEqual([replied.http, replied.status, replied.body], [200, "0", framed(Buffer.alloc(0))]);
  }
  await backend.when(() => backend.runs.some(({ text }) => text.includes('"content":"Yes"')));
});

test("a call for a foreign name on loopback is refused, as over HTTP (grpc-receiver.5)", async () => {
  const refused = await call(TRACES, framed(spans(2)), { ":authority": "rebound.example" });
  assert.deepEqual([refused.status, refused.message.includes("ALLOWED_HOSTS")], ["7", true]);
  assert.equal((await call(TRACES, framed(spans(2)), { ":authority": "localhost:4317" })).status, "0");
});

for (const [encoding, compress] of [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["zstd", zstdCompressSync],
] as const)
  test(`grpc-encoding ${encoding}: compressed messages, and plain ones of the same call`, async () => {
    const metadata = { "grpc-encoding": encoding, "x-api-key": `key-${encoding}` };
    assert.equal((await call(TRACES, framed(compress(spans(2)), 1), metadata)).status, "0");
    assert.equal((await call(TRACES, framed(spans(3)), metadata)).status, "0");
    await backend.when(() => backend.runs.filter(({ key }) => key === `key-${encoding}`).length === 2);
  });

for (const [name, method, body] of [
  ["scopes of spans", TRACES, field(1, Buffer.from([16, 1]))],
  ["scopes of log records", LOGS, field(1, Buffer.from([16, 1]))],
  [
    "attributes of a resource",
    TRACES,
    field(1, Buffer.concat([field(1, Buffer.from([8, 1])), field(2, field(2, protobufSpan(buildSpan(9, 0))))])),
  ],
] as const)
  test(`malformed ${name} are reported as rejected`, async () => {
    const { body: reply, status } = await call(method, framed(body));
    assert.equal(status, "0");
    assert.match(reply.subarray(5).toString(), /1 (?:spans|log records) rejected: malformed/);
  });

test("a span without ids is reported as rejected", async () => {
  const bad = { ...buildSpan(4, 1), spanId: "0000000000000000" };
  const { body, status } = await call(TRACES, framed(protobufRequest([buildSpan(4, 0), bad])));
  assert.equal(status, "0");
  assert.deepEqual([body.length - 5, body[5], body[7], body[8]], [body.readUInt32BE(1), 0x0a, 0x08, 1]);
  assert.match(body.toString(), /1 spans rejected/);
});

describe("refusals", () => {
  const cases: readonly (readonly [string, string, Buffer, Record<string, string>, string])[] = [
    ["no key", TRACES, framed(spans(5)), { "x-api-key": "" }, "16"],
    ["an unknown method", "/grpc.health.v1.Health/Check", framed(Buffer.alloc(0)), {}, "12"],
    ["an unknown compression", TRACES, framed(spans(5), 1), { "grpc-encoding": "snappy" }, "12"],
    ["a compressed message without a name of its encoding", TRACES, framed(gzipSync(spans(5)), 1), {}, "3"],
    ["a message that is not what its encoding says", TRACES, framed(spans(5), 1), { "grpc-encoding": "gzip" }, "3"],
    ["no message", TRACES, Buffer.alloc(0), {}, "3"],
    ["half of a prefix", TRACES, framed(spans(5)).subarray(0, 3), {}, "3"],
    ["a message shorter than its length", TRACES, framed(spans(5)).subarray(0, 40), {}, "3"],
    ["two messages", TRACES, Buffer.concat([framed(spans(5)), framed(spans(6))]), {}, "3"],
    ["an unknown flag", TRACES, framed(spans(5), 7), {}, "3"],
    ["a truncated request", TRACES, framed(spans(5).subarray(0, 40)), {}, "3"],
    ["a message over the limit", TRACES, framed(Buffer.alloc(1_048_600)), {}, "8"],
    ["a decompression bomb", TRACES, framed(gzipSync(Buffer.alloc(50_000_000)), 1), { "grpc-encoding": "gzip" }, "8"],
  ];
  for (const [name, path, body, metadata, status] of cases)
    test(`${name}: ${status}, final`, async () => {
      const replied = await call(path, body, metadata);
      assert.deepEqual([replied.status, replied.details.length], [status, 0]);
      assert.notEqual(replied.message, "");
    });

  test("a request that is no gRPC is 415; a stream that breaks off harms no other", async () => {
    assert.equal((await call(TRACES, spans(7), { "content-type": "application/x-protobuf" })).http, 415);
    const broken = session.request({
      ":method": "POST",
      ":path": TRACES,
      "content-type": "application/grpc",
      "x-api-key": "k",
    });
    broken.on("error", () => undefined);
    broken.write(framed(spans(8)).subarray(0, 20));
    broken.destroy();
    assert.equal((await call(TRACES, framed(spans(9)))).status, "0");
  });
});

describe("calls that do not end by themselves (grpc-receiver.4)", () => {
  /** The code with which the call ended, after seconds of the collector's clock. @throws when it goes on */
  async function findStreamEnd(
    seconds: number,
    options: ClientSessionOptions,
    body: (stream: ClientHttp2Stream) => void,
  ) {
    const clock = createFakeClock();
    const own = await startCollector(backend.url, { GRPC_PORT: "0" }, { clock });
    const client = open(own, options);
    const stream = client.request({
      ":method": "POST",
      ":path": TRACES,
      "content-type": "application/grpc",
      "x-api-key": "key-1",
    });
    stream.on("error", () => undefined);
    const responded = once(stream, "response");
    body(stream);
    while (clock.timers() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    for (let second = 0; second < seconds && !stream.destroyed; second++) {
      if (!stream.writableEnded) stream.write(Buffer.alloc(1));
      await clock.advance(1000);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const [headers] = (await responded) as [IncomingHttpHeaders];
    // The collector's clock has passed the limit: only the network is awaited.
    if (!stream.closed) await once(stream, "close", { signal: AbortSignal.timeout(30_000) });
    const code = stream.rstCode;
    client.destroy();
    const stopped = own.stop();
    await clock.advance(60_000);
    await stopped;
    return { status: headers["grpc-status"], code };
  }

  test("a dripping message ends with DEADLINE_EXCEEDED, and its stream soon after", async () => {
    const ended = await findStreamEnd(40, {}, (stream) => stream.write(framed(spans(40)).subarray(0, 20)));
    assert.deepEqual(ended, { status: "4", code: constants.NGHTTP2_NO_ERROR });
  });

  test("a reply that nobody reads ends", async () => {
    const unread = { settings: { initialWindowSize: 0 } };
    const ended = await findStreamEnd(20, unread, (stream) => stream.end(framed(spans(41))));
    assert.deepEqual(ended, { status: undefined, code: constants.NGHTTP2_CANCEL });
  });
});

/** google.rpc.RetryInfo in the details. */
function assertRetried({ details, status }: Reply, code: string): void {
  assert.equal(status, code);
  assert.equal(details[0], 0x08);
  assert.equal(details[1], Number(code));
  assert.match(details.toString("latin1"), /type\.googleapis\.com\/google\.rpc\.RetryInfo\x12\x04\x0a\x02\x08\x01$/);
}

test("without room the call is RESOURCE_EXHAUSTED with RetryInfo, and nothing is taken", async () => {
  const stuck = await startBackend();
  stuck.script = () => "hang";
  const full = await startCollector(stuck.url, {
    GRPC_PORT: "0",
    MAX_QUEUE_BYTES: "1048576",
    SHUTDOWN_TIMEOUT_MS: "2100",
  });
  const client = open(full);
  const noise = (): string => Array.from({ length: 4000 }, () => Math.random().toString(36)).join("");
  let refused: Reply | null = null;
  for (let trace = 0; trace < 200 && refused === null; trace++) {
    const attributes = { "gen_ai.prompt": noise() };
    const replied = await call(
      TRACES,
      framed(protobufRequest([buildSpan(trace, 0, undefined, { attributes })])),
      {},
      client,
    );
    if (replied.status !== "0") refused = replied;
  }
  assertRetried(refused ?? assert.fail("it is never full"), "8");
  client.close();
  await full.stop();
  await stuck.close();
});

test("stop() ends open sessions after their calls; without GRPC_PORT there is no server", async () => {
  const own = await startCollector(backend.url, { GRPC_PORT: "0" });
  const client = open(own);
  assert.equal((await call(TRACES, framed(spans(20)), {}, client)).status, "0");
  const closed = once(client, "close");
  await own.stop();
  await closed;
  assert.equal(own.collector.accounting.delivered, 1);
  const off = await startCollector(backend.url);
  assert.equal(off.collector.grpcAddress(), null);
  await off.stop();
});

test("the metrics count calls by status", async () => {
  const text = await (await fetch(`${collector.url}/metrics`)).text();
  assert.match(text, /rpc_server_requests_total\{status="0"\} \d+/);
  assert.match(text, /rpc_server_requests_total\{status="16"\} 1/);
});
