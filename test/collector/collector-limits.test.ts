// Limits of keys end to end: rate and daily quota over HTTP in both encodings and over gRPC, for all signals; nothing of a
// refused request arrives.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { tmpdir } from "node:os";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, test } from "node:test";
import { systemClock } from "@holdpoint/base/clock.ts";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import { startBackend, type FakeBackend } from "../fakes/backend.ts";
import { startCollector, type TestCollector } from "../fakes/collector.ts";
import { jsonRequest, protobufRequest, buildSpan } from "../fakes/otlp.ts";
import { jsonLogs, buildRecord } from "../fakes/otlp-logs.ts";

/** No test lasts long enough for a token: one comes in 1000 seconds. */
const RULES = {
  limits: {
    default: { items_per_second: 0.001, burst: 2 },
    keys: [
      { name: "free", key_sha256: hashText("key-free"), items_per_second: null },
      { name: "daily", key_sha256: hashText("key-daily"), items_per_second: null, items_per_day: 2 },
      { name: "bytes", key_sha256: hashText("key-bytes"), items_per_second: null, bytes_per_day: 10 },
      { name: "kilobytes", key_sha256: hashText("key-kilobytes"), items_per_second: null, bytes_per_day: 10_000 },
      { name: "more", key_sha256: hashText("key-kilobytes-2"), items_per_second: null, bytes_per_day: 10_000 },
    ],
  },
};
const PROTOBUF = "application/x-protobuf";
const NOON = Date.UTC(2026, 0, 1, 12);

function hashText(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

async function withCollector(
  use: (collector: TestCollector, backend: FakeBackend) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const dir = await mkdtemp(`${tmpdir()}/holdpoint-limits-`);
  await writeFile(`${dir}/rules.json`, JSON.stringify(RULES));
  const backend = await startBackend();
  const clock = { ...systemClock, now: () => NOON };
  const collector = await startCollector(backend.url, { RULES_FILE: `${dir}/rules.json`, ...env }, { clock });
  try {
    await use(collector, backend);
  } finally {
    await collector.stop();
    await backend.close();
    await rm(dir, { recursive: true });
  }
}

const two = (trace: number): Buffer => protobufRequest([buildSpan(trace, 0), buildSpan(trace, 1)]);

async function post(
  { url }: TestCollector,
  path: string,
  body: Buffer | string,
  headers: Readonly<Record<string, string>>,
): Promise<{
  readonly status: number;
  readonly retryAfter: string | null;
  readonly type: string | null;
  readonly body: Buffer;
}> {
  const response = await fetch(`${url}${path}`, { method: "POST", body, headers });
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    type: response.headers.get("content-type"),
    body: Buffer.from(await response.arrayBuffer()),
  };
}

describe("limits of a key", () => {
  test("over HTTP: 429 in the encoding of the request, and nothing of it arrives", () =>
    withCollector(async (collector, backend) => {
      const key = { "x-api-key": "key-1", "content-type": PROTOBUF };
      assert.equal((await post(collector, "/v1/traces", two(1), key)).status, 200);
      const refused = await post(collector, "/v1/traces", two(2), key);
      assert.deepEqual([refused.status, refused.type], [429, PROTOBUF]);
      assert.ok(Number(refused.retryAfter) >= 1);
      assert.deepEqual([...refused.body.subarray(0, 3)], [0x08, 8, 0x12]);
      const json = await post(collector, "/v1/traces", jsonRequest([buildSpan(3, 0)]), {
        ...key,
        "content-type": "application/json",
      });
      assert.deepEqual([json.status, json.type], [429, "application/json"]);
      assert.deepEqual(JSON.parse(json.body.toString()), {
        code: 8,
        message: "the key of this request is over its limit items_per_second",
        details: [],
      });
      const other = { ...key, "x-api-key": "key-free" };
      assert.equal((await post(collector, "/v1/traces", two(4), other)).status, 200);
      assert.equal((await post(collector, "/v1/traces", two(5), other)).status, 200);
      await backend.whenRuns(6);
      const metrics = await (await fetch(`${collector.url}/metrics`)).text();
      assert.match(metrics, /over_limit_requests_total\{reason="items_per_second"\} 2/);
      assert.match(metrics, /received_spans_total 6\n/);
      const lines = collector.log.filter((line) => line.includes("key_over_limit"));
      assert.ok(lines.length > 0);
      assert.doesNotMatch(lines.join(""), /key-1/);
    }));

  test("hold for all signals together, and for every X-Tenant-Id of the key", () =>
    withCollector(async (collector) => {
      const headers = { "x-api-key": "key-1", "content-type": "application/json" };
      const records = jsonLogs([buildRecord(buildSpan(1, 0), "gen_ai.choice", { body: "Yes" })]);
      assert.equal((await post(collector, "/v1/logs", records, headers)).status, 200);
      assert.equal((await post(collector, "/v1/metrics", "{}", { ...headers, "x-tenant-id": "a" })).status, 200);
      for (const path of ["/v1/traces", "/v1/logs", "/v1/metrics"])
        assert.equal((await post(collector, path, "{}", { ...headers, "x-tenant-id": "b" })).status, 429);
      // Refused before its body is read, which would be 400.
      assert.equal((await post(collector, "/v1/traces", "no JSON", headers)).status, 429);
    }));

  for (const [key, reason] of [
    ["key-daily", "items_per_day"],
    ["key-bytes", "bytes_per_day"],
  ] as const)
    test(`${reason}: 429 until midnight`, () =>
      withCollector(async (collector) => {
        const headers = { "x-api-key": key, "content-type": PROTOBUF };
        assert.equal((await post(collector, "/v1/traces", two(1), headers)).status, 200);
        const refused = await post(collector, "/v1/traces", two(2), headers);
        assert.deepEqual([refused.status, refused.retryAfter], [429, "43200"]);
        const metrics = await (await fetch(`${collector.url}/metrics`)).text();
        assert.match(metrics, new RegExp(`over_limit_requests_total\\{reason="${reason}"\\} 1`));
      }));

  for (const encoding of ["gzip", "zstd"] as const)
    test(`bytes of metrics that are not stored count decompressed, as those of spans (${encoding})`, () =>
      withCollector(async (collector) => {
        const pack = encoding === "gzip" ? gzipSync : zstdCompressSync;
        const body = (bytes: number): Buffer => pack(Buffer.alloc(bytes));
        const headers = { "x-api-key": "key-kilobytes", "content-type": PROTOBUF, "content-encoding": encoding };
        assert.equal((await post(collector, "/v1/metrics", body(4000), headers)).status, 200);
        assert.equal((await post(collector, "/v1development/profiles", body(7000), headers)).status, 200);
        assert.equal((await post(collector, "/v1/metrics", body(10), headers)).status, 429);
        const broken = { ...headers, "x-api-key": "key-kilobytes-2" };
        assert.equal((await post(collector, "/v1/metrics", Buffer.from("no archive"), broken)).status, 400);
      }));

  test("over gRPC: RESOURCE_EXHAUSTED with RetryInfo", () =>
    withCollector(
      async ({ collector }) => {
        const session = connect(`http://127.0.0.1:${collector.grpcAddress()?.port ?? assert.fail()}`);
        const call = async (message: Buffer): Promise<readonly [status: string, details: Buffer]> => {
          const stream = session.request({
            ":method": "POST",
            ":path": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
            "content-type": "application/grpc",
            "x-api-key": "key-daily",
          });
          const seen: IncomingHttpHeaders = {};
          const of = (name: string): string => String(seen[name] ?? "");
          stream.on("response", (headers) => Object.assign(seen, headers));
          stream.on("trailers", (headers) => Object.assign(seen, headers));
          stream.resume();
          const prefix = Buffer.alloc(5);
          prefix.writeUInt32BE(message.length, 1);
          stream.end(Buffer.concat([prefix, message]));
          await once(stream, "close");
          return [of("grpc-status"), Buffer.from(of("grpc-status-details-bin"), "base64")];
        };
        assert.deepEqual(await call(two(1)), ["0", Buffer.alloc(0)]);
        const [status, details] = await call(two(2));
        assert.equal(status, "8");
        assert.match(details.toString("latin1"), /google\.rpc\.RetryInfo/);
        // retry_delay: 43200 seconds as a varint
        assert.deepEqual([...details.subarray(-4)], [0x08, 0xc0, 0xd1, 0x02]);
        session.close();
      },
      { GRPC_PORT: "0" },
    ));

  const FAULTS: readonly (readonly [what: string, limits: unknown, reason: RegExp])[] = [
    ["an unknown limit", { default: { spans: 1 } }, /limits\.default: .*spans/],
    [
      "a key instead of its hash",
      { keys: [{ name: "a", key_sha256: "key-1" }] },
      /limits\.keys\.0\.key_sha256: .*SHA-256/,
    ],
    [
      "two entries of one key",
      { keys: ["a", "b"].map((name) => ({ name, key_sha256: hashText("key-1") })) },
      /limits\.keys: has two entries/,
    ],
  ];
  for (const [what, limits, reason] of FAULTS)
    test(`do not start with ${what}`, async () => {
      const dir = await mkdtemp(`${tmpdir()}/holdpoint-limits-`);
      await writeFile(`${dir}/rules.json`, JSON.stringify({ limits }));
      await assert.rejects(startCollector("http://127.0.0.1:9", { RULES_FILE: `${dir}/rules.json` }), (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, reason);
        return true;
      });
      await rm(dir, { recursive: true });
    });
});
