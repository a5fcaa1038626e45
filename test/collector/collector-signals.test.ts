// Signals: metrics and profiles are accepted and counted, errors come in the encoding of the request on every path, and
// hostile log records cost one request.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { startBackend, type FakeBackend } from "../fakes/backend.ts";
import { startCollector, type TestCollector } from "../fakes/collector.ts";
import { field, jsonRequest, protobufRequest, buildSpan } from "../fakes/otlp.ts";
import { jsonLogs, overlongRecord, protobufLogs, protobufRecord, buildRecord } from "../fakes/otlp-logs.ts";

let backend: FakeBackend;
let collector: TestCollector;
before(async () => {
  backend = await startBackend();
  collector = await startCollector(backend.url, { MAX_BODY_BYTES: "1048576", MAX_QUEUE_BYTES: "4194304" });
});
after(async () => {
  await collector.stop();
  await backend.close();
  assert.deepEqual(backend.violations, []);
});

const JSON_TYPE = "application/json";
const PROTOBUF = "application/x-protobuf";

async function post(
  path: string,
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly type: string | null; readonly body: Buffer }> {
  const response = await fetch(`${collector.url}${path}`, {
    method: "POST",
    body: body as Uint8Array<ArrayBuffer> | string,
    headers: { "x-api-key": "key-1", "content-type": typeof body === "string" ? JSON_TYPE : PROTOBUF, ...headers },
  });
  const { status } = response;
  return { status, type: response.headers.get("content-type"), body: Buffer.from(await response.arrayBuffer()) };
}

describe("signals that are not stored", () => {
  for (const path of ["/v1/metrics", "/v1/metrics/v1/metrics", "/otel/v1/metrics", "/v1development/profiles"])
    test(`${path}: an empty success in the encoding of the request`, async () => {
      const json = await post(path, '{"resourceMetrics":[]}');
      assert.deepEqual([json.status, json.type, json.body.toString()], [200, JSON_TYPE, "{}"]);
      const protobuf = await post(path, gzipSync(Buffer.from([0x0a, 0])), { "content-encoding": "gzip" });
      assert.deepEqual([protobuf.status, protobuf.type, protobuf.body.length], [200, PROTOBUF, 0]);
    });

  test("they are counted, and need a key", async () => {
    assert.equal((await post("/v1/metrics", "{}", { "x-api-key": "" })).status, 401);
    const text = await (await fetch(`${collector.url}/metrics`)).text();
    assert.match(text, /otelcol_receiver_not_stored_requests_total\{signal="metrics"\} 6/);
    assert.match(text, /otelcol_receiver_not_stored_requests_total\{signal="profiles"\} 2/);
  });

  test("one that is forwarded is a whole message: no neighbour in the queue loses bytes to it", async () => {
    const dir = await mkdtemp(`${tmpdir()}/holdpoint-signals-`);
    await writeFile(`${dir}/rules.json`, '{"forward":[{"name":"down","endpoint":"http://127.0.0.1:9"}]}');
    const own = await startCollector(backend.url, { RULES_FILE: `${dir}/rules.json`, SHUTDOWN_TIMEOUT_MS: "200" });
    const status = async (body: Buffer, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
      const init = { method: "POST", headers: { "x-api-key": "k", "content-type": PROTOBUF, ...headers } };
      return (await fetch(`${own.url}/v1/metrics`, { ...init, body: body as Uint8Array<ArrayBuffer> })).status;
    };
    const cutOff = field(1, "metrics").subarray(0, 5);
    assert.equal(await status(field(1, "metrics")), 200);
    assert.equal(await status(cutOff), 400);
    assert.equal(await status(gzipSync(cutOff), { "content-encoding": "gzip" }), 400);
    await own.stop();
    await rm(dir, { recursive: true });
  });

  test("their bodies keep the limits", async () => {
    assert.equal((await post("/v1/metrics", Buffer.alloc(1_048_577))).status, 413);
  });
});

describe("errors come in the encoding of the request", () => {
  const cases: readonly (readonly [string, string, Uint8Array | string, Record<string, string>, number])[] = [
    ["a foreign origin", "/v1/logs", Buffer.alloc(0), { origin: "https://evil.example" }, 403],
    ["an unknown path", "/v1/nothing", Buffer.alloc(0), {}, 404],
    ["no key", "/v1/metrics", Buffer.alloc(0), { "x-api-key": "" }, 401],
    ["truncated log records", "/v1/logs", protobufLogs([{ name: "gen_ai.choice" }]).subarray(0, 12), {}, 400],
    ["truncated JSON", "/v1/logs", jsonLogs([{ name: "gen_ai.choice" }]).slice(0, -3), {}, 400],
    ["spans on the path of log records", "/v1/logs", protobufRequest([buildSpan(1, 0)]), {}, 400],
    ["the same in JSON", "/v1/logs", jsonRequest([buildSpan(1, 0)]), {}, 400],
    [
      "log records on the path of spans",
      "/v1/traces",
      protobufLogs([buildRecord(buildSpan(1, 0), "gen_ai.choice")]),
      {},
      400,
    ],
    ["the same in JSON", "/v1/traces", jsonLogs([buildRecord(buildSpan(1, 0), "gen_ai.choice")]), {}, 400],
    ["a record longer than its body", "/v1/logs", field(1, field(2, field(2, overlongRecord()))), {}, 400],
    ["a body over the limit", "/v1/logs", Buffer.alloc(1_048_577), {}, 413],
    ["a decompression bomb", "/v1/logs", gzipSync(Buffer.alloc(50_000_000)), { "content-encoding": "gzip" }, 413],
    // two bytes each: a list that costs a hundred times its body
    ["a giant number of records", "/v1/logs", field(1, field(2, Buffer.alloc(1_000_000, "1200", "hex"))), {}, 400],
    ["values nested too deep", "/v1/logs", jsonLogs([{ body: nested(200) }]), {}, 400],
  ];
  for (const [name, path, body, headers, status] of cases)
    test(`${name}: ${status}`, async () => {
      const replied = await post(path, body, headers);
      const isJson = typeof body === "string";
      assert.deepEqual([replied.status, replied.type], [status, isJson ? JSON_TYPE : PROTOBUF]);
      if (isJson) assert.equal(typeof (JSON.parse(replied.body.toString()) as { code: unknown }).code, "number");
      else assert.equal(replied.body[0], 0x08, "google.rpc.Status begins with its code");
    });
});

function nested(levels: number): readonly [] {
  let value: unknown = [];
  for (let level = 0; level < levels; level++) value = [value];
  return value as readonly [];
}

test("every truncation and every flipped byte of a request of log records is a reply, never a crash", async () => {
  const record = protobufRecord({
    ...buildRecord(buildSpan(9, 0), "gen_ai.user.message", {
      body: { content: "x", list: [1n, true, 0.5] },
      severity: 17,
    }),
    attributes: { "session.id": "s" },
  });
  const whole = field(1, field(2, field(2, record)));
  for (let at = 0; at < whole.length; at += 3) {
    assert.ok([200, 400].includes((await post("/v1/logs", whole.subarray(0, at))).status));
    const flipped = Buffer.from(whole);
    flipped[at] = (flipped[at] ?? 0) ^ 0xff;
    assert.ok([200, 400].includes((await post("/v1/logs", flipped)).status));
  }
  assert.equal((await fetch(`${collector.url}/ready`)).status, 200);
});

test("records that wait are bounded: at the limit the oldest become runs", async () => {
  const content = "x".repeat(20_000);
  for (let at = 0; at < 60; at++) {
    const record = buildRecord(buildSpan(1000 + at, 0), "gen_ai.user.message", { body: { content } });
    assert.equal((await post("/v1/logs", protobufLogs([record]))).status, 200);
  }
  const text = await (await fetch(`${collector.url}/metrics`)).text();
  const waiting = Number(/otelcol_processor_waiting_log_records (\d+)/.exec(text)?.[1]);
  assert.ok(waiting > 5 && waiting < 40, `${waiting} of 60 wait`);
  await backend.when(() => backend.runs.length >= 20);
});
